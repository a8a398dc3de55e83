import type { ResourceType } from "../model/resource-types.ts";
import { getJson } from "./client.ts";

/** A request, as access reviews describe it. */
export interface ResourceAction {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

interface Review {
  readonly status: { readonly allowed: boolean; readonly reason?: string };
}

/** Access reviews of the user. Parts of the page that ask the same at about the same time share an answer. */
export class AccessReviews {
  private readonly answers = new Map<string, { readonly atMs: number; readonly answer: Promise<Decision> }>();

  /** @param groupSuffix of the server's API groups. @param workspace by default the one that the page shows. */
  constructor(
    private readonly groupSuffix: string,
    private readonly workspace?: string,
    private readonly reuseMs = 1000,
  ) {}

  /** Returns whether the user may do something; a failed review counts as allowed, because the server decides anyway. */
  may(action: ResourceAction): Promise<Decision> {
    const key = JSON.stringify(action);
    const nowMs = performance.now();
    const cached = this.answers.get(key);
    if (cached !== undefined && nowMs - cached.atMs < this.reuseMs) return cached.answer;
    if (this.answers.size > 500) this.answers.clear();
    const answer = this.review(action);
    this.answers.set(key, { atMs: nowMs, answer });
    return answer;
  }

  private async review(action: ResourceAction): Promise<Decision> {
    const spec = { resourceAttributes: action };
    const path = `/apis/authorization.${this.groupSuffix}/v1/selfsubjectaccessreviews`;
    try {
      const { workspace } = this;
      const { status } = await getJson<Review>(path, { method: "POST", body: { spec }, workspace });
      return { allowed: status.allowed, reason: status.reason ?? "" };
    } catch {
      return { allowed: true, reason: "" };
    }
  }
}

/** Returns the action of a verb on a resource type. */
export function actionOn(
  { group, name }: ResourceType,
  verb: string,
  more: Pick<ResourceAction, "namespace" | "name" | "subresource"> = {},
): ResourceAction {
  return { verb, group, resource: name, ...more };
}
