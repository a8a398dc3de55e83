import { makeName } from "../../base/names.ts";
import { StatusError } from "../../base/status-error.ts";
import type { ApiObject, ObjectMetaValue } from "../../schema/kind.ts";
import { keyOf } from "../registry/registry.ts";
import { uidConflict, type Engine, type Target, type WriteResult } from "../engine/engine.ts";
import {
  foregroundFinalizer,
  isQualifiedFinalizer,
  notQualified,
  orphanFinalizer,
} from "../../kinds/checks/finalizers.ts";
import type { FieldReport } from "../../schema/faults.ts";
import {
  checkAnnotations,
  checkFinalizerName,
  checkGeneration,
  checkLabels,
  checkName,
  checkNamespace,
  checkOwners,
  type NameForm,
} from "../../schema/object-meta-rules.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { OwnerReferenceValue } from "../../schema/api-object.ts";

/** Members of metadata that a new object can't have. */
export const excludedFromCreate = [
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "resourceVersion",
] as const;

/** Sets the metadata of a new object: generated name, namespace, uid, creation time. Changes the object. */
export function prepareNewMetadata(engine: Engine, target: Target, object: ApiObject): void {
  const meta = object.metadata;
  matchNamespace(target, meta);
  if ((meta.name ?? "") === "" && meta.generateName !== undefined) {
    const purpose = keyOf(target.resource, target.namespace, meta.generateName);
    meta.name = makeName(meta.generateName, (below) => engine.randomInt(below, purpose));
  } else if ((meta.name ?? "") === "" && target.resource.kind.generatesName) {
    meta.name = engine.newUid(keyOf(target.resource, target.namespace, ""));
  }
  meta.uid = engine.newUid(keyOf(target.resource, target.namespace, meta.name ?? ""));
  meta.creationTimestamp = engine.timestamps.now();
  for (const name of excludedFromCreate) if (meta[name] !== undefined) delete meta[name];
  // Kinds without generations keep the value of the client, as in the reference; `checkMetadata` rejects a negative one.
  if (target.resource.kind.generationOf !== undefined) meta.generation = 1;
  else if (meta.generation === 0) delete meta.generation;
}

/**
 * Sets the namespace of an object to that of the path. Changes `meta`.
 *
 * @throws {StatusError} BadRequest if the object has another namespace.
 */
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

/**
 * Restores the members that only the server sets in an updated object. Changes `object`. A different uid or a new deletion timestamp stays,
 * and `checkMetadataUpdate` rejects it.
 */
export function keepServerMetadata(object: ApiObject, live: ApiObject): void {
  const meta = object.metadata;
  if ((meta.uid ?? "") === "") meta.uid = live.metadata.uid!;
  if (live.metadata.creationTimestamp !== undefined) meta.creationTimestamp = live.metadata.creationTimestamp;
  if (live.metadata.deletionTimestamp !== undefined) keepMember(meta, live.metadata, "deletionTimestamp");
  if (meta.deletionGracePeriodSeconds === undefined)
    keepMember(meta, live.metadata, "deletionGracePeriodSeconds");
  keepMember(meta, live.metadata, "generation");
  keepMember(meta, live.metadata, "generateName");
  delete meta.selfLink;
}

/** Restores one member of metadata from the live object; removes it if the live object lacks it. Changes `meta`. */
export function keepMember(meta: ObjectMetaValue, live: ObjectMetaValue, name: keyof ObjectMetaValue): void {
  if (live[name] !== undefined) Object.assign(meta, { [name]: live[name] });
  else if (meta[name] !== undefined) delete meta[name];
}

/**
 * Checks the uid of an object in a request, which is a precondition.
 *
 * @throws {StatusError} Conflict if the live object has another uid.
 */
export function checkUid(target: Target, { metadata }: ApiObject, live: ApiObject | undefined): void {
  const { uid = "" } = metadata;
  if (uid !== "" && uid !== live?.metadata.uid) throw uidConflict(target, uid, live?.metadata.uid);
}

/** Validates the metadata of an object before it is stored. */
export function checkMetadata(
  target: Target,
  meta: ObjectMetaValue,
  engine: Pick<Engine, "registry" | "vocabulary" | "featureEnabled">,
  report: FieldReport,
): void {
  const { vocabulary, registry } = engine;
  checkName(meta.name ?? "", nameFormOf(target, engine), report.at("name"));
  if (target.resource.namespaced) checkNamespace(meta.namespace ?? "", report.at("namespace"));
  checkLabels(meta.labels, report.at("labels"));
  checkAnnotations(meta.annotations, report.at("annotations"));
  checkGeneration(meta.generation, report.at("generation"));
  checkFinalizers(target, meta.finalizers ?? [], vocabulary, report.at("finalizers"));
  checkOwners(meta, report.at("ownerReferences"), registry.release);
}

/** Returns the format of the names of a resource type. */
export function nameFormOf(
  { resource: { kind } }: Target,
  { featureEnabled }: Pick<Engine, "featureEnabled">,
): NameForm {
  const { nameForm, gatedNameForm } = kind;
  return gatedNameForm !== undefined && featureEnabled(gatedNameForm.gate) ? gatedNameForm.form : nameForm;
}

function checkFinalizers(
  { resource: { kind } }: Target,
  finalizers: readonly string[],
  vocabulary: Vocabulary,
  report: FieldReport,
): void {
  for (const [index, name] of finalizers.entries()) {
    if (report.full) return;
    checkFinalizerName(name, report);
    if (!kind.anyFinalizer && !isQualifiedFinalizer(name, vocabulary))
      report.at(index).invalid(name, notQualified);
  }
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    report.invalid(finalizers, `${orphanFinalizer} and ${foregroundFinalizer} can't both be set`);
  }
}

/** Members of metadata that an update can't change. */
const immutable = ["name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"] as const;

/** Validates the changes of metadata in an update. */
export function checkMetadataUpdate(meta: ObjectMetaValue, live: ObjectMetaValue, report: FieldReport): void {
  for (const name of immutable) {
    if (meta[name] === live[name]) continue;
    // Reported twice, as in the reference.
    for (const field of [report.at(name), report.at(name)]) field.invalid(meta[name], "field is immutable");
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

/** Maximum number of uids in the warning, which is a header line. */
const listedUids = 20;

/**
 * Removes duplicate owner references of an object, as the reference does. Changes `meta`. Takes linear time.
 *
 * @param when names in the warning the phase that added the duplicates: the request (empty), or mutating admission.
 * @returns the warnings for the client.
 */
export function dropRepeatedOwners(
  meta: ObjectMetaValue,
  when: "" | " after mutating admission happens" = "",
): readonly string[] {
  const { ownerReferences } = meta;
  if (ownerReferences === undefined || ownerReferences.length < 2) return noWarnings;
  const distinct = new Map<string, OwnerReferenceValue>();
  const repeated: string[] = [];
  for (const owner of ownerReferences) {
    const identity = identityOf(owner);
    if (distinct.has(identity)) repeated.push(owner.uid);
    else distinct.set(identity, owner);
  }
  if (repeated.length === 0) return noWarnings;
  meta.ownerReferences = [...distinct.values()];
  const rest = repeated.length - listedUids;
  const uids = repeated.slice(0, listedUids).join(", ") + (rest > 0 ? `, and ${rest} more` : "");
  return [
    `.metadata.ownerReferences contains duplicate entries${when}; the server keeps one of each; duplicate UID(s) observed: ${uids}`,
  ];
}

const noWarnings: readonly string[] = [];

/** A text that is equal for references with equal members. */
function identityOf({
  apiVersion,
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion,
}: OwnerReferenceValue): string {
  return JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
}

/** The result of a write with further warnings before its own. */
export function withWarnings(result: WriteResult, warnings: readonly string[]): WriteResult {
  return warnings.length === 0 ? result : { ...result, warnings: [...warnings, ...result.warnings] };
}
