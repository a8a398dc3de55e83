import { isObject } from "../../base/json/value.ts";
import { policy } from "../../kinds/groups.ts";
import { extensions, groupVersion } from "./group-versions.ts";
import { at, change, hasMembers, isSet, type Rule, type VersionChange } from "./notes.ts";

const v1beta1 = groupVersion(policy, "v1beta1");

/** An empty selector selected no pod, and selects every pod in the new version; a missing one selects none in both. */
const emptySelector: Rule = (part) => {
  const selector = part.value["selector"];
  if (!isObject(selector) || hasMembers(selector["matchLabels"])) return;
  const expressions = selector["matchExpressions"];
  if (isSet(expressions) && (!Array.isArray(expressions) || expressions.length > 0)) return;
  delete part.value["selector"];
  part.note(
    "selector",
    "removed: an empty selector selected no pod, but would select every pod of the namespace now",
  );
};

/** The kind that was removed without a replacement, with advice. */
export const podSecurityPolicy = {
  kind: "PodSecurityPolicy",
  advice: "label namespaces for pod security admission, or use an admission webhook",
} as const;

export const policyChanges: readonly VersionChange[] = [
  change(v1beta1, groupVersion(policy, "v1"), ["PodDisruptionBudget"], at("spec", emptySelector)),
  change(v1beta1, groupVersion(policy, "v1"), ["Eviction"]),
  // The kind was removed as beta, with its admission plugin.
  change(groupVersion(extensions, "v1beta1"), v1beta1, [podSecurityPolicy.kind]),
];
