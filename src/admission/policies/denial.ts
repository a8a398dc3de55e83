import { StatusError, type Reason } from "../../base/status-error.ts";
import { subjectOf, type AdmissionRequest } from "../../resources/engine/engine.ts";
import { forbidden } from "../forbidden.ts";
import type { Binding, Policy } from "./policy.ts";

/** Reasons that a policy may have; each has its code. All others count as Invalid. */
const reasons: ReadonlySet<string> = new Set<Reason>([
  "Unauthorized",
  "Forbidden",
  "Invalid",
  "RequestEntityTooLarge",
]);

/**
 * The error for a request that a policy denies.
 *
 * @param binding undefined if the policy itself is invalid.
 * @param reason Invalid if absent.
 */
export function denial(
  { target }: AdmissionRequest,
  policy: Policy,
  binding: Binding | undefined,
  why: string,
  reason = "Invalid",
): StatusError {
  const bound = binding === undefined ? "" : ` with binding '${binding.name}'`;
  const message = `ValidatingAdmissionPolicy '${policy.name}'${bound} denied request: ${why}`;
  const { message: whole, details } = forbidden(target, message);
  const cause = { reason: "", message, field: "" } as const;
  const validReason = reasons.has(reason) ? (reason as Reason) : "Invalid";
  return new StatusError(validReason, whole, { ...details, ...namesOf(target), causes: [cause] });
}

function namesOf(target: AdmissionRequest["target"]): { readonly name: string; readonly kind: string } {
  const { name, resource } = subjectOf(target);
  return { name, kind: resource };
}
