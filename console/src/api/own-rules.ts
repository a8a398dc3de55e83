import type { OwnRule } from "../model/own-rules.ts";
import { getJson } from "./client.ts";

/** The rights of the user in a namespace. */
export interface OwnRules {
  readonly resourceRules: readonly OwnRule[];
  readonly nonResourceRules: readonly {
    readonly verbs?: readonly string[];
    readonly nonResourceURLs?: readonly string[];
  }[];
  /** Whether an authorizer couldn't list all its rules. */
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

/** Returns what the user may do in a namespace. @throws as `send` */
export async function readOwnRules(
  groupSuffix: string,
  namespace: string,
  signal?: AbortSignal,
): Promise<OwnRules> {
  const path = `/apis/authorization.${groupSuffix}/v1/selfsubjectrulesreviews`;
  const { status } = await getJson<{ status: OwnRules }>(path, {
    method: "POST",
    body: { spec: { namespace } },
    signal,
  });
  return status;
}
