import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  finalizerFaults,
  labelValueFaults,
  makeName,
  pathSegmentFaults,
  qualifiedNameFaults,
} from "../base/names.ts";
import { StatusError } from "../base/status-error.ts";
import type { FieldReport } from "../schema/faults.ts";
import type { ApiObject, ObjectMetaValue } from "../schema/kind.ts";
import { timestamp, type Engine, type Target } from "./engine.ts";

/** The most bytes of a name, whatever its form: it must fit into a key of the store beside group, type and namespace. */
const maxNameBytes = 512;
/** The most bytes that the annotations of one object may have together. */
export const maxAnnotationBytes = 256 * 1024;

/** What a new object can't bring along. */
const neverGiven = [
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "resourceVersion",
] as const;

/** Gives a new object what the server sets: name, namespace, uid, time of creation. Changes it. */
export function prepareNewMetadata(engine: Engine, target: Target, object: ApiObject): void {
  const meta = object.metadata;
  matchNamespace(target, meta);
  if ((meta.name ?? "") === "" && meta.generateName !== undefined) {
    meta.name = makeName(meta.generateName, engine.randomInt);
  }
  meta.uid = engine.newUid();
  meta.creationTimestamp = timestamp(engine.clock);
  for (const name of neverGiven) if (meta[name] !== undefined) delete meta[name];
  if (target.resource.kind.generationOf === undefined) delete meta.generation;
  else meta.generation = 1;
}

/** The namespace of a body, if it names one, is that of the path. */
export function matchNamespace(target: Target, meta: ObjectMetaValue): void {
  if (!target.resource.namespaced) {
    delete meta.namespace;
    return;
  }
  if ((meta.namespace ?? "") === "") meta.namespace = target.namespace;
  else if (meta.namespace !== target.namespace) {
    throw new StatusError(
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request: " +
        `${meta.namespace} is not ${target.namespace}`,
    );
  }
}

/** Brings back into an update what only the server sets. Changes `object`. */
export function keepServerMetadata(object: ApiObject, live: ApiObject): void {
  const meta = object.metadata;
  meta.uid ??= live.metadata.uid!;
  if (live.metadata.creationTimestamp !== undefined) meta.creationTimestamp = live.metadata.creationTimestamp;
  keepMember(meta, live.metadata, "deletionTimestamp");
  keepMember(meta, live.metadata, "deletionGracePeriodSeconds");
  keepMember(meta, live.metadata, "generation");
  keepMember(meta, live.metadata, "generateName");
  delete meta.selfLink;
}

/** Gives one member of metadata the value that it has in the live object, or none. Changes `meta`. */
export function keepMember(
  meta: ObjectMetaValue,
  live: ObjectMetaValue,
  name: keyof ObjectMetaValue,
): void {
  if (live[name] !== undefined) Object.assign(meta, { [name]: live[name] });
  else if (meta[name] !== undefined) delete meta[name];
}

/** What is wrong with a name, by the form that the kind asks for. */
const nameFaults = {
  subdomain: dnsSubdomainFaults,
  label: dnsLabelFaults,
  label1035: dns1035LabelFaults,
  pathSegment: pathSegmentFaults,
};

/** Checks the metadata of an object that is about to be stored. */
export function checkMetadata(target: Target, meta: ObjectMetaValue, report: FieldReport): void {
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
  (meta.finalizers ?? []).forEach((finalizer, index) => {
    for (const message of finalizerFaults(finalizer))
      report.at("finalizers", index).invalid(finalizer, message);
  });
  checkOwners(meta, report.at("ownerReferences"));
}

/** Checks the beginning of a generated name of a new object, also where the object has a name. */
export function checkGenerateName(target: Target, meta: ObjectMetaValue, report: FieldReport): void {
  const { generateName = "" } = meta;
  if (generateName === "") return;
  const example = makeName(generateName, () => 0);
  for (const message of nameFaults[target.resource.kind.nameForm](example)) {
    report.at("generateName").invalid(generateName, message);
  }
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

function checkOwners(meta: ObjectMetaValue, report: FieldReport): void {
  let controllers = 0;
  for (const [index, owner] of (meta.ownerReferences ?? []).entries()) {
    if (report.full) return;
    const place = report.at(index);
    if (owner.apiVersion === "") place.at("apiVersion").required();
    if (owner.kind === "") place.at("kind").required();
    if (owner.name === "") place.at("name").required();
    if (owner.uid === "") place.at("uid").required();
    if (owner.controller === true) controllers++;
  }
  if (controllers > 1)
    report.invalid(meta.ownerReferences, "only one reference can have controller set to true");
}

/** Checks what an update may not change in metadata. */
export function checkMetadataUpdate(meta: ObjectMetaValue, live: ObjectMetaValue, report: FieldReport): void {
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
