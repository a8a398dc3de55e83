import { encodeJson } from "../../base/json/encode.ts";
import { deepClone, isObject, type JsonObject } from "../../base/json/value.ts";
import { apiextensions } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import {
  at,
  change,
  find,
  has,
  isSet,
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

/** The older version had `spec.version` beside `spec.versions`. */
const versionIntoVersions: Rule = (part) => {
  const { value: spec } = part;
  const version = take(spec, "version");
  if (!isSet(version)) return;
  const versions = spec["versions"];
  if (!Array.isArray(versions) || versions.length === 0) {
    spec["versions"] = [{ name: version, served: true, storage: true }];
  } else if (!versions.some((one) => isObject(one) && one["name"] === version)) {
    part.unresolved("version", `${encodeJson(version)} isn't among spec.versions`);
  }
};

/** Moves a member of the spec into each version that doesn't have its own. */
function intoEachVersion(from: string, to: string): Rule {
  return (part) => {
    const shared = take(part.value, from);
    if (shared === undefined) return;
    for (const version of versionsOf(part)) {
      if (!isSet(version[to])) version[to] = deepClone(shared);
    }
  };
}

function versionsOf(part: Part): JsonObject[] {
  const versions = part.value["versions"];
  return Array.isArray(versions) ? versions.filter((one): one is JsonObject => isObject(one)) : [];
}

/** The older version kept unknown fields by default; in the new one the schema must say so. */
const unknownFields: Rule = (part) => {
  const keep = take(part.value, "preserveUnknownFields") !== false;
  const marker = `${part.vocabulary.schemaExtensionPrefix}preserve-unknown-fields`;
  for (const [index, version] of versionsOf(part).entries()) {
    const schema = find(version, "schema.openAPIV3Schema");
    const path = `versions[${index}].schema.openAPIV3Schema`;
    if (!isObject(schema)) {
      put(version, "schema.openAPIV3Schema", { type: "object", [marker]: true });
      part.note(path, `written out: any object, as there is no schema and the new version requires one`);
      continue;
    }
    if (!isSet(schema["type"])) {
      schema["type"] = "object";
      part.note(`${path}.type`, 'written out: "object", which the new version requires');
    }
    if (!keep || schema[marker] === true) continue;
    schema[marker] = true;
    part.note(
      `${path}.${marker}`,
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
