import { encodeJson } from "../../base/json/encode.ts";
import { admissionregistration } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, isGiven, keepDefault, type Rule, type VersionChange } from "./notes.ts";

const harmless = ["None", "NoneOnDryRun"];

/** The new version takes only webhooks that say that they do nothing else, at least when nothing is to be done. */
const sideEffects: Rule = (part) => {
  const given = part.value["sideEffects"];
  if (typeof given === "string" && harmless.includes(given)) return;
  const was = isGiven(given)
    ? `the new version doesn't take ${encodeJson(given)}`
    : 'the older default was "Unknown"';
  delete part.value["sideEffects"];
  part.unresolved("sideEffects", `${was}; say ${harmless.join(" or ")}, whichever is true`);
};

/** Names identify webhooks now. */
const uniqueNames: Rule = (part) => {
  const webhooks = part.value["webhooks"];
  if (!Array.isArray(webhooks)) return;
  const seen = new Set<unknown>();
  for (const [index, webhook] of webhooks.entries()) {
    const name = (webhook as { name?: unknown } | null)?.name;
    if (typeof name === "string" && seen.has(name)) {
      part.unresolved(`webhooks[${index}].name`, `a webhook before it is named ${JSON.stringify(name)} too`);
    }
    seen.add(name);
  }
};

export const admissionregistrationChanges: readonly VersionChange[] = [
  change(
    groupVersion(admissionregistration, "v1beta1"),
    groupVersion(admissionregistration, "v1"),
    ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    uniqueNames,
    at(
      "webhooks[]",
      keepDefault("failurePolicy", "Ignore", "Fail"),
      keepDefault("matchPolicy", "Exact", "Equivalent"),
      keepDefault("timeoutSeconds", 30, 10),
      keepDefault("admissionReviewVersions", ["v1beta1"], undefined),
      sideEffects,
    ),
  ),
];
