import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from "../base/names.ts";
import { applies, since } from "../base/release-rows.ts";
import type { Release } from "../base/releases.ts";
import type { ObjectMetaValue } from "./api-object.ts";
import type { FieldReport } from "./faults.ts";

/** Maximum length of a name in bytes, so that a store key with group, resource and namespace is short enough. */
const maxNameBytes = 512;
/** Maximum number of owner references; admission, the garbage collector and each update process all of them. */
const maxOwnerReferences = 4096;
/** Maximum total size of the annotations of an object, in bytes. */
export const maxAnnotationBytes = 256 * 1024;

/**
 * The format of an object name: a path segment (roles), a DNS subdomain (most kinds), a DNS label (namespaces), or a DNS label that
 * doesn't begin with a digit (services).
 */
export type NameForm = "label" | "label1035" | "pathSegment" | "subdomain";

/** Validation functions by name format; they return the faults of a name. */
const nameFaults: Readonly<Record<NameForm, (name: string) => readonly string[]>> = {
  subdomain: dnsSubdomainFaults,
  label: dnsLabelFaults,
  label1035: dns1035LabelFaults,
  pathSegment: pathSegmentFaults,
};

/** Validates the name of an object. */
export function checkName(name: string, form: NameForm, report: FieldReport): void {
  if (name === "") report.required("name or generateName is required");
  else for (const message of nameFaults[form](name)) report.invalid(name, message);
  if (Buffer.byteLength(name) > maxNameBytes) report.tooLong(maxNameBytes);
}

/**
 * Validates `generateName`. It has the format of a name, except that it may end with a dash.
 */
export function checkGenerateName(generateName: string, form: NameForm, report: FieldReport): void {
  if (generateName === "") return;
  const allowsAnyEnd = form === "pathSegment";
  const name = allowsAnyEnd ? `${generateName}x` : generateName.replace(/(?<=.)-$/s, "x");
  for (const message of nameFaults[form](name)) report.invalid(generateName, message);
  if (Buffer.byteLength(generateName) > maxNameBytes) report.tooLong(maxNameBytes);
}

/** Validates the namespace of a namespaced object. */
export function checkNamespace(namespace: string, report: FieldReport): void {
  for (const message of dnsLabelFaults(namespace)) report.invalid(namespace, message);
}

/** Validates keys and values of labels. */
export function checkLabels(labels: Record<string, string> | undefined, report: FieldReport): void {
  for (const key in labels) {
    const value = labels[key]!;
    for (const message of qualifiedNameFaults(key)) report.invalid(key, message);
    for (const message of labelValueFaults(value)) report.invalid(value, message);
  }
}

/** Validates the keys and the total size of annotations. */
export function checkAnnotations(annotations: Record<string, string> | undefined, report: FieldReport): void {
  let size = 0;
  for (const key in annotations) {
    for (const message of qualifiedNameFaults(key.toLowerCase())) report.invalid(key, message);
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!);
  }
  if (size > maxAnnotationBytes) report.tooLong(maxAnnotationBytes);
}

/** Validates `metadata.generation`. */
export function checkGeneration(generation: number | undefined, report: FieldReport): void {
  if ((generation ?? 0) < 0) report.invalid(generation, "must be greater than or equal to 0");
}

/** Validates the format of a finalizer. As in Kubernetes, faults have the path of the list. */
export function checkFinalizerName(name: string, report: FieldReport): void {
  for (const message of qualifiedNameFaults(name)) report.invalid(name, message);
}

/** Whether faults have the index of the reference, and missing members are reported as required. */
const reportsAtMembers = applies(since("1.37"));

/**
 * Validates owner references; at most one may have `controller: true`.
 *
 * @param release the release that the server follows: before 1.37, paths have no index and missing members are invalid.
 */
export function checkOwners(meta: ObjectMetaValue, report: FieldReport, release?: Release): void {
  const { ownerReferences = [] } = meta;
  if (ownerReferences.length > maxOwnerReferences) {
    report.tooMany(ownerReferences.length, maxOwnerReferences);
    return;
  }
  const later = reportsAtMembers({ release });
  let controllers = 0;
  for (const [index, owner] of ownerReferences.entries()) {
    if (report.full) return;
    const at = later ? report.at(index) : report;
    const { apiVersion } = owner;
    if (apiVersion.split("/").length > 2 || (later && apiVersion.endsWith("/")))
      at.at("apiVersion").invalid(apiVersion, "must be a version, or a group and a version");
    for (const name of ["apiVersion", "kind", "name", "uid"] as const) {
      if (owner[name] !== "") continue;
      if (later) at.at(name).required("must not be empty");
      else at.at(name).invalid("", `${name === "apiVersion" ? "version" : name} must not be empty`);
    }
    if (apiVersion === "v1" && owner.kind === "Event") at.invalid(owner, "an Event can't be an owner");
    if (owner.controller === true) controllers++;
  }
  if (controllers > 1) report.invalid(ownerReferences, "only one reference can have controller set to true");
}
