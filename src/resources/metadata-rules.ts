import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
} from "../base/names.ts";
import {
  foregroundFinalizer,
  isQualifiedFinalizer,
  notQualified,
  orphanFinalizer,
} from "../kinds/checks/finalizers.ts";
import type { FieldReport } from "../schema/faults.ts";
import type { ObjectMetaValue } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { Target } from "./engine.ts";

/** The most bytes of a name, whatever its form: it must fit into a key of the store beside group, type and namespace. */
const maxNameBytes = 512;
/** The most bytes that the annotations of one object may have together. */
export const maxAnnotationBytes = 256 * 1024;

/** The most owners that one object may have; admission, the garbage collector and each update look at all of them. */
const maxOwnerReferences = 4096;

/** What is wrong with a name, by the form that the kind asks for. */
const nameFaults = {
  subdomain: dnsSubdomainFaults,
  label: dnsLabelFaults,
  label1035: dns1035LabelFaults,
  pathSegment: pathSegmentFaults,
};

/** Checks the metadata of an object that is about to be stored. */
export function checkMetadata(
  target: Target,
  meta: ObjectMetaValue,
  vocabulary: Vocabulary,
  report: FieldReport,
): void {
  const form = target.resource.kind.nameForm;
  if ((meta.name ?? "") === "") report.at("name").required("name or generateName is required");
  else for (const message of nameFaults[form](meta.name!)) report.at("name").invalid(meta.name, message);
  if (Buffer.byteLength(meta.name ?? "") > maxNameBytes) report.at("name").tooLong(maxNameBytes);
  if (target.resource.namespaced) {
    for (const message of dnsLabelFaults(meta.namespace ?? ""))
      report.at("namespace").invalid(meta.namespace, message);
  }
  const { labels } = meta;
  for (const key in labels) {
    const value = labels[key]!;
    for (const message of qualifiedNameFaults(key)) report.at("labels").invalid(key, message);
    for (const message of labelValueFaults(value)) report.at("labels").invalid(value, message);
  }
  checkAnnotations(meta.annotations, report.at("annotations"));
  if ((meta.generation ?? 0) < 0) {
    report.at("generation").invalid(meta.generation, "must be greater than or equal to 0");
  }
  checkFinalizers(target, meta.finalizers ?? [], vocabulary, report.at("finalizers"));
  checkOwners(meta, report.at("ownerReferences"));
}

/**
 * Checks the beginning of a generated name of a new object, also where the object has a name. It has the form of a name, but
 * that it may end with a dash.
 */
export function checkGenerateName(target: Target, meta: ObjectMetaValue, report: FieldReport): void {
  const { generateName = "" } = meta;
  if (generateName === "") return;
  const form = target.resource.kind.nameForm;
  const takesAnyEnd = form === "pathSegment";
  const name = takesAnyEnd ? `${generateName}x` : generateName.replace(/(?<=.)-$/s, "x");
  for (const message of nameFaults[form](name)) report.at("generateName").invalid(generateName, message);
  if (Buffer.byteLength(generateName) > maxNameBytes) report.at("generateName").tooLong(maxNameBytes);
}

function checkAnnotations(annotations: Record<string, string> | undefined, report: FieldReport): void {
  let size = 0;
  for (const key in annotations) {
    for (const message of qualifiedNameFaults(key.toLowerCase())) report.invalid(key, message);
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key]!);
  }
  if (size > maxAnnotationBytes) report.tooLong(maxAnnotationBytes);
}

function checkFinalizers(
  { resource: { kind } }: Target,
  finalizers: readonly string[],
  vocabulary: Vocabulary,
  report: FieldReport,
): void {
  for (const [index, name] of finalizers.entries()) {
    if (report.full) return;
    for (const message of qualifiedNameFaults(name)) report.invalid(name, message);
    if (!kind.anyFinalizer && !isQualifiedFinalizer(name, vocabulary))
      report.at(index).invalid(name, notQualified);
  }
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    report.invalid(finalizers, `${orphanFinalizer} and ${foregroundFinalizer} can't both be set`);
  }
}

function checkOwners(meta: ObjectMetaValue, report: FieldReport): void {
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

/** What an update can't change; a deletion begins with DELETE. */
const unchangeable = ["name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;

/** Checks what an update may not change in metadata. */
export function checkMetadataUpdate(meta: ObjectMetaValue, live: ObjectMetaValue, report: FieldReport): void {
  for (const name of unchangeable) {
    if (meta[name] === live[name]) continue;
    // Twice, as in the reference: for every update, and for this kind's.
    for (const place of [report.at(name), report.at(name)]) place.invalid(meta[name], "field is immutable");
  }
  if (live.deletionTimestamp === undefined) return;
  const before = new Set(live.finalizers ?? []);
  const added = (meta.finalizers ?? []).filter((one) => !before.has(one));
  if (added.length > 0) {
    report
      .at("finalizers")
      .forbidden(
        `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
      );
  }
}
