import { encodeJson } from "../../base/json/encode.ts";
import { deepClone, isObject, type JsonObject } from "../../base/json/value.ts";
import { apiextensions } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import {
  at,
  change,
  find,
  has,
  isGiven,
  keepDefault,
  move,
  put,
  rename,
  take,
  when,
  type Part,
  type Rule,
  type VersionChange,
} from "./notes.ts";

/** A single version stood beside the list of all. */
const versionIntoVersions: Rule = (part) => {
  const { value: spec } = part;
  const version = take(spec, "version");
  if (!isGiven(version)) return;
  const versions = spec["versions"];
  if (!Array.isArray(versions) || versions.length === 0) {
    spec["versions"] = [{ name: version, served: true, storage: true }];
  } else if (!versions.some((one) => isObject(one) && one["name"] === version)) {
    part.unresolved("version", `${encodeJson(version)} isn't among spec.versions`);
  }
};

/** What stood once for all versions stands in each. A version that has its own keeps it. */
function intoEachVersion(from: string, to: string): Rule {
  return (part) => {
    const shared = take(part.value, from);
    if (shared === undefined) return;
    for (const version of versionsOf(part)) {
      if (!isGiven(version[to])) version[to] = deepClone(shared);
    }
  };
}

function versionsOf(part: Part): JsonObject[] {
  const versions = part.value["versions"];
  return Array.isArray(versions) ? versions.filter((one): one is JsonObject => isObject(one)) : [];
}

/** What no schema named was kept unless the definition said otherwise; now the schema says so. */
const unknownFields: Rule = (part) => {
  const keep = take(part.value, "preserveUnknownFields") !== false;
  const marker = `${part.vocabulary.schemaExtensionPrefix}preserve-unknown-fields`;
  for (const [index, version] of versionsOf(part).entries()) {
    const schema = find(version, "schema.openAPIV3Schema");
    const place = `versions[${index}].schema.openAPIV3Schema`;
    if (!isObject(schema)) {
      put(version, "schema.openAPIV3Schema", { type: "object", [marker]: true });
      part.note(place, `written out: any object, as there is no schema and the new version requires one`);
      continue;
    }
    if (!isGiven(schema["type"])) {
      schema["type"] = "object";
      part.note(`${place}.type`, 'written out: "object", which the new version requires');
    }
    if (!keep || schema[marker] === true) continue;
    schema[marker] = true;
    part.note(
      `${place}.${marker}`,
      "written out: true, as spec.preserveUnknownFields was, or was true by the older version's default",
    );
  }
};

const conversion: readonly Rule[] = [
  move("webhookClientConfig", "webhook.clientConfig"),
  move("conversionReviewVersions", "webhook.conversionReviewVersions"),
  when(has("strategy", "Webhook"), keepDefault("webhook.conversionReviewVersions", ["v1beta1"], undefined)),
];

export const apiextensionsChanges: readonly VersionChange[] = [
  change(
    groupVersion(apiextensions, "v1beta1"),
    groupVersion(apiextensions, "v1"),
    ["CustomResourceDefinition"],
    at(
      "spec",
      versionIntoVersions,
      intoEachVersion("validation", "schema"),
      intoEachVersion("subresources", "subresources"),
      intoEachVersion("additionalPrinterColumns", "additionalPrinterColumns"),
      unknownFields,
      keepDefault("scope", "Namespaced", undefined),
    ),
    at("spec.versions[].additionalPrinterColumns[]", rename("JSONPath", "jsonPath")),
    at("spec.conversion", ...conversion),
  ),
];
