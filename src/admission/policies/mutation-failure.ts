import { RelayedStatusError } from "../../base/status-error.ts";
import { detailsOf, type AdmissionRequest } from "../../resources/engine/engine.ts";
import type { PolicyBase } from "./policy.ts";

/** Why a mutating policy denies a request. */
export interface MutationDenial {
  readonly policy: PolicyBase;
  /** Name of the binding; undefined if the policy itself is invalid. */
  readonly binding: string | undefined;
  readonly message: string;
  /** Whether the evaluation failed, rather than the configuration. */
  readonly evaluated: boolean;
}

/** A mutation can't be evaluated or applied. */
export class MutationFailure extends Error {
  override name = "MutationFailure";
  constructor(
    message: string,
    readonly errorType: MutationErrorType = "invalid_error",
  ) {
    super(message);
  }
}

/** Results of mutations in the terms of the metrics. */
export type MutationErrorType = "no_error" | "compile_error" | "invalid_error" | "out_of_budget";

/** The error for a request that mutating policies deny: that of the first, and causes for all. As in the reference, the code is 403. */
export function mutationDenial(
  { target }: AdmissionRequest,
  denials: readonly MutationDenial[],
): RelayedStatusError {
  const messages = denials.map(messageOf);
  const { name, kind, group } = detailsOf(target);
  return new RelayedStatusError(messages[0]!, {
    code: 403,
    reason: denials[0]!.evaluated ? "Invalid" : "Forbidden",
    details: { name, group, kind, causes: messages.map((message) => ({ message })) },
  });
}

function messageOf({ policy, binding, message }: MutationDenial): string {
  if (binding === undefined) return `policy ${JSON.stringify(policy.name)} denied request: ${message}`;
  return `policy '${policy.name}' with binding '${binding}' denied request: ${message}`;
}
