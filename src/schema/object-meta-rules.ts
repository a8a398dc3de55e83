import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from "../base/names.ts";
import type { ObjectMetaValue } from "./api-object.ts";
import type { FieldReport } from "./faults.ts";

/** The most bytes of a name, whatever its form: it must fit into a key of the store beside group, type and namespace. */
const maxNameBytes = 512;
/** The most owners that one object may have; admission, the garbage collector and each update look at all of them. */
const maxOwnerReferences = 4096;
/** The most bytes that the annotations of one object may have together. */
export const maxAnnotationBytes = 256 * 1024;

/** The form of an object's name. */
export type NameForm = "label" | "label1035" | "pathSegment" | "subdomain";

/** What is wrong with a name, by the form that the kind asks for. */
const nameFaults: Readonly<Record<NameForm, (name: string) => readonly string[]>> = {
  subdomain: dnsSubdomainFaults,
  label: dnsLabelFaults,
  label1035: dns1035LabelFaults,
  pathSegment: pathSegmentFaults,
};

/** Checks the name of an object. */
export function checkName(name: string, form: NameForm, report: FieldReport): void {
  if (name === "") report.required("name or generateName is required");
  else for (const message of nameFaults[form](name)) report.invalid(name, message);
  if (Buffer.byteLength(name) > maxNameBytes) report.tooLong(maxNameBytes);
}

/**
 * Checks the beginning of a generated name. It has the form of a name, except that it may end with a dash.
 */
export function checkGenerateName(generateName: string, form: NameForm, report: FieldReport): void {
  if (generateName === "") return;
  const takesAnyEnd = form === "pathSegment";
  const name = takesAnyEnd ? `${generateName}x` : generateName.replace(/(?<=.)-$/s, "x");
  for (const message of nameFaults[form](name)) report.invalid(generateName, message);
  if (Buffer.byteLength(generateName) > maxNameBytes) report.tooLong(maxNameBytes);
}

/** Checks the namespace of an object that stands in one. */
export function checkNamespace(namespace: string, report: FieldReport): void {
  for (const message of dnsLabelFaults(namespace)) report.invalid(namespace, message);
}

/** Checks the keys and values of labels. */
export function checkLabels(labels: Record<string, string> | undefined, report: FieldReport): void {
  for (const key in labels) {
    const value = labels[key]!;
    for (const message of qualifiedNameFaults(key)) report.invalid(key, message);
    for (const message of labelValueFaults(value)) report.invalid(value, message);
  }
}

/** Checks the keys of annotations, and their size together. */
export function checkAnnotations(annotations: Record<string, string> | undefined, report: FieldReport): void {
  let size = 0;
  for (const key in annotations) {
    for (const message of qualifiedNameFaults(key.toLowerCase())) report.invalid(key, message);
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!);
  }
  if (size > maxAnnotationBytes) report.tooLong(maxAnnotationBytes);
}

/** Checks the number of the object's desired state. */
export function checkGeneration(generation: number | undefined, report: FieldReport): void {
  if ((generation ?? 0) < 0) report.invalid(generation, "must be greater than or equal to 0");
}

/** Checks the form of a finalizer; `report` is the place of the list, as in the reference. */
export function checkFinalizerForm(name: string, report: FieldReport): void {
  for (const message of qualifiedNameFaults(name)) report.invalid(name, message);
}

/** Checks the owners of an object; at most one of them is its controller. */
export function checkOwners(meta: ObjectMetaValue, report: FieldReport): void {
  const { ownerReferences = [] } = meta;
  if (ownerReferences.length > maxOwnerReferences) {
    report.tooMany(ownerReferences.length, maxOwnerReferences);
    return;
  }
  let controllers = 0;
  for (const owner of ownerReferences) {
    if (report.full) return;
    const { apiVersion } = owner;
    // All at the list, as in the reference.
    if (apiVersion === "") report.at("apiVersion").invalid(apiVersion, "version must not be empty");
    else if (apiVersion.split("/").length > 2)
      report.at("apiVersion").invalid(apiVersion, "must be a version, or a group and a version");
    for (const name of ["kind", "name", "uid"] as const) {
      if (owner[name] === "") report.at(name).invalid("", `${name} must not be empty`);
    }
    if (apiVersion === "v1" && owner.kind === "Event") report.invalid(owner, "an Event can't be an owner");
    if (owner.controller === true) controllers++;
  }
  if (controllers > 1) report.invalid(ownerReferences, "only one reference can have controller set to true");
}
