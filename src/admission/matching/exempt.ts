import { isExcludedReview } from "../../kinds/admissionregistration/excluded-reviews.ts";
import { admissionregistration } from "../../kinds/groups.ts";
import type { AdmittedType } from "../admission-chain.ts";

/**
 * Whether a resource type is never sent to webhooks and policies: their own configurations, which are all kinds of the group. So a
 * configuration that rejects everything can be removed.
 */
export function isExempt({ resource: { stored } }: AdmittedType): boolean {
  const { base, suffixed } = stored.kind.group;
  return base === admissionregistration.base && suffixed === admissionregistration.suffixed;
}

/** Whether a resource type is a review that webhooks and policies don't receive. */
export function isReview({ resource: { stored } }: AdmittedType): boolean {
  return isExcludedReview(stored.kind);
}
