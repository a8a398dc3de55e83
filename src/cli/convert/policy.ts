import { isObject } from "../../base/json/value.ts";
import { policy } from "../../kinds/groups.ts";
import { extensions, groupVersion } from "./group-versions.ts";
import { at, change, hasMembers, isGiven, type Rule, type VersionChange } from "./notes.ts";

const v1beta1 = groupVersion(policy, "v1beta1");

/** An empty selector meant no pod and means every pod now; one that isn't given means none in both versions. */
const emptySelector: Rule = (part) => {
  const selector = part.value["selector"];
  if (!isObject(selector) || hasMembers(selector["matchLabels"])) return;
  const expressions = selector["matchExpressions"];
  if (isGiven(expressions) && (!Array.isArray(expressions) || expressions.length > 0)) return;
  delete part.value["selector"];
  part.note(
    "selector",
    "taken away: empty it selected no pod, but would select every pod of the namespace now",
  );
};

/** The kind that went without a successor, and what to do instead. */
export const podSecurityPolicy = {
  kind: "PodSecurityPolicy",
  advice: "label namespaces for pod security admission, or use an admission webhook",
} as const;

export const policyChanges: readonly VersionChange[] = [
  change(v1beta1, groupVersion(policy, "v1"), ["PodDisruptionBudget"], at("spec", emptySelector)),
  change(v1beta1, groupVersion(policy, "v1"), ["Eviction"]),
  // It never came further, and is gone with its admission plugin.
  change(groupVersion(extensions, "v1beta1"), v1beta1, [podSecurityPolicy.kind]),
];
