import { encodeJson } from "../../base/json/encode.ts";
import { admissionregistration } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, isSet, keepDefault, type Rule, type VersionChange } from "./notes.ts";

const harmless = ["None", "NoneOnDryRun"];

/** The new version requires `sideEffects`, and allows only None and NoneOnDryRun. */
const sideEffects: Rule = (part) => {
  const sideEffectClass = part.value["sideEffects"];
  if (typeof sideEffectClass === "string" && harmless.includes(sideEffectClass)) return;
  const was = isSet(sideEffectClass)
    ? `the new version doesn't take ${encodeJson(sideEffectClass)}`
    : 'the older default was "Unknown"';
  delete part.value["sideEffects"];
  part.unresolved("sideEffects", `${was}; set ${harmless.join(" or ")}, whichever is true`);
};

/** Webhook names must be unique in the new version. */
const uniqueNames: Rule = (part) => {
  const webhooks = part.value["webhooks"];
  if (!Array.isArray(webhooks)) return;
  const names = new Set<unknown>();
  for (const [index, webhook] of webhooks.entries()) {
    const name = (webhook as { name?: unknown } | null)?.name;
    if (typeof name === "string" && names.has(name)) {
      part.unresolved(`webhooks[${index}].name`, `a webhook before it is named ${JSON.stringify(name)} too`);
    }
    names.add(name);
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
