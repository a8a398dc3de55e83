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

/** Checks what every embedded object has: apiVersion and kind, and metadata that follows the rules of any object's. */
export function checkEmbedded(object: JsonObject, place: FieldReport): void {
  checkText(object, "apiVersion", place.at("apiVersion"), (text, at) => {
    if (text.split("/").length > 2) at.invalid(text, "must be a version, or a group and a version");
  });
  checkText(object, "kind", place.at("kind"), (text, at) => {
    for (const message of dns1035LabelFaults(text.toLowerCase())) {
      at.invalid(text, `may have mixed case, but should otherwise match: ${message}`);
    }
  });
  const { metadata } = object;
  if (isObject(metadata)) checkEmbeddedMeta(metadata as ObjectMetaValue, place.at("metadata"));
}

function checkText(
  object: JsonObject,
  name: string,
  place: FieldReport,
  check: (text: string, place: FieldReport) => void,
): void {
  const value: JsonValue | undefined = object[name];
  if (value === undefined) place.required("must not be empty");
  else if (typeof value !== "string") place.invalid(value, "must be a string");
  else if (value === "") place.invalid(value, "must not be empty");
  else check(value, place);
}

/** An embedded object needs no name: it may be one that is still to be created. */
function checkEmbeddedMeta(meta: ObjectMetaValue, place: FieldReport): void {
  const { name = "", generateName = "", namespace = "" } = meta;
  checkGenerateName(generateName, "pathSegment", place.at("generateName"));
  if (name !== "") checkName(name, "pathSegment", place.at("name"));
  if (namespace !== "") checkNamespace(namespace, place.at("namespace"));
  checkGeneration(meta.generation, place.at("generation"));
  checkLabels(meta.labels, place.at("labels"));
  checkAnnotations(meta.annotations, place.at("annotations"));
  checkOwners(meta, place.at("ownerReferences"));
  for (const finalizer of meta.finalizers ?? []) checkFinalizerName(finalizer, place.at("finalizers"));
}
