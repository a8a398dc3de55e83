import { dns1035LabelFaults } from "../../base/names.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { ObjectMetaValue } from "../api-object.ts";
import type { FieldReport } from "../faults.ts";
import {
  checkAnnotations,
  checkFinalizerName,
  checkGenerateName,
  checkGeneration,
  checkLabels,
  checkName,
  checkNamespace,
  checkOwners,
} from "../object-meta-rules.ts";

/** Validates apiVersion, kind and metadata of an embedded object. */
export function checkEmbedded(object: JsonObject, report: FieldReport): void {
  checkRequiredString(object, "apiVersion", report.at("apiVersion"), (text, report) => {
    if (text.split("/").length > 2) report.invalid(text, "must be a version, or a group and a version");
  });
  checkRequiredString(object, "kind", report.at("kind"), (text, report) => {
    for (const message of dns1035LabelFaults(text.toLowerCase())) {
      report.invalid(text, `may have mixed case, but should otherwise match: ${message}`);
    }
  });
  const { metadata } = object;
  if (isObject(metadata)) checkEmbeddedMeta(metadata as ObjectMetaValue, report.at("metadata"));
}

function checkRequiredString(
  object: JsonObject,
  name: string,
  report: FieldReport,
  check: (text: string, report: FieldReport) => void,
): void {
  const value: JsonValue | undefined = object[name];
  if (value === undefined) report.required("must not be empty");
  else if (typeof value !== "string") report.invalid(value, "must be a string");
  else if (value === "") report.invalid(value, "must not be empty");
  else check(value, report);
}

/** Validates embedded metadata. The name is optional, because the object may be a template. */
function checkEmbeddedMeta(meta: ObjectMetaValue, report: FieldReport): void {
  const { name = "", generateName = "", namespace = "" } = meta;
  checkGenerateName(generateName, "pathSegment", report.at("generateName"));
  if (name !== "") checkName(name, "pathSegment", report.at("name"));
  if (namespace !== "") checkNamespace(namespace, report.at("namespace"));
  checkGeneration(meta.generation, report.at("generation"));
  checkLabels(meta.labels, report.at("labels"));
  checkAnnotations(meta.annotations, report.at("annotations"));
  checkOwners(meta, report.at("ownerReferences"));
  for (const finalizer of meta.finalizers ?? []) checkFinalizerName(finalizer, report.at("finalizers"));
}
