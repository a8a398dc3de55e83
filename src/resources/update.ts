import { deepEqual, type JsonValue } from "../base/json/value.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { ManagedFieldsText } from "../fields/apply/managed-fields-text.ts";
import { FieldReport, invalidError } from "../schema/faults.ts";
import { dropDisabledFields } from "../schema/gates.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Entry } from "../storage/store.ts";
import { createObject } from "./create.ts";
import { withEffects } from "./effects.ts";
import {
  conflict,
  kindContext,
  notFound,
  uidConflict,
  type Engine,
  type Target,
  type WriteOptions,
  type WriteResult,
} from "./engine.ts";
import { ownershipOfApply, recordOwnership, sameButForVersion, type Standing } from "./field-ownership.ts";
import { keepServerMetadata, matchNamespace } from "./metadata.ts";
import { mergePart } from "./part.ts";
import { keyOf } from "./registry.ts";
import { decodeStanding, draftBody, encodeObject, sameContent } from "./stored.ts";
import { storedTarget } from "./versions.ts";
import { admissionOf, checkObject, checkSize, commit, warningsOf } from "./write.ts";

/** How often a change that doesn't insist on a version is tried again after another write came between. */
const updateAttempts = 10;

/** What a change makes of an object; where the change itself says who owns what of it then, with that. */
export interface Changed {
  readonly object: ApiObject;
  readonly managed?: ManagedFieldsText | undefined;
}

/** Makes a new object from the one that stands, which it must not change; called again when another write came between. */
export type Change = (live: Standing) => Changed;

/**
 * Replaces an object, PUT (spec: conventions 4.2).
 *
 * @param read gives the object that the client sent, as read by `input.ts`, each time free to be changed.
 * @param mayCreate asked before a missing object is created; it throws where the caller may not.
 * @throws {StatusError} NotFound, Conflict, Invalid, or what admission refuses with.
 */
export function updateObject(
  engine: Engine,
  requested: Target,
  read: () => ApiObject,
  options: WriteOptions,
  mayCreate: () => Promise<void> | void,
): MaybePromise<WriteResult> {
  const target = storedTarget(requested);
  let unused: ApiObject | undefined = read();
  checkNames(target, unused);
  const next = (live?: Standing): Changed => {
    const object = unused ?? read();
    unused = undefined;
    matchNamespace(target, object.metadata);
    checkUid(target, object, live?.object);
    return { object };
  };
  const write = (attempt: number): MaybePromise<WriteResult> =>
    andThen(storedEntry(engine, target), (entry) => {
      if (entry !== undefined) {
        return changeEntry(engine, target, entry, next, options, target.resource.kind.needsVersion);
      }
      const created = createByUpdate(engine, target, next().object, options, mayCreate);
      return created.catch((error: unknown) => {
        const raced = error instanceof StatusError && error.reason === "AlreadyExists";
        if (!raced || attempt === updateAttempts) throw error;
        return write(attempt + 1);
      });
    });
  return write(1);
}

function storedEntry(engine: Engine, target: Target): MaybePromise<Entry | undefined> {
  return engine.store.get(keyOf(target.resource, target.namespace, target.name));
}

/** The name in the body of a PUT is that of its path. */
function checkNames(target: Target, { metadata }: ApiObject): void {
  const { name } = metadata;
  if (name === undefined || name === "") {
    throw new StatusError("BadRequest", "the name of the object must be given in metadata.name");
  }
  if (name === target.name) return;
  throw new StatusError(
    "BadRequest",
    `the name of the object (${name}) does not match the name on the URL (${target.name})`,
  );
}

/** A uid in the body of a PUT is a precondition. */
export function checkUid(target: Target, { metadata }: ApiObject, live: ApiObject | undefined): void {
  const { uid = "" } = metadata;
  if (uid !== "" && uid !== live?.metadata.uid) throw uidConflict(target, uid, live?.metadata.uid);
}

/** A PUT on a missing object creates it, for the kinds that allow it (rulings: PUT on a missing object). */
async function createByUpdate(
  engine: Engine,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  if (!target.resource.kind.createOnUpdate || target.subresource !== "") throw notFound(target);
  if ((object.metadata.resourceVersion ?? "") !== "") {
    throw conflict(target, "the object doesn't exist, so it has no version to replace");
  }
  await mayCreate();
  return createObject(engine, target, object, options);
}

/**
 * Reads an object, lets `change` make the new one, checks it and stores it. A new object that names a resource version
 * insists on it; else the change is tried again when another write came between.
 */
export function changeObject(
  engine: Engine,
  requested: Target,
  change: Change,
  options: WriteOptions,
): MaybePromise<WriteResult> {
  const target = storedTarget(requested);
  return andThen(storedEntry(engine, target), (entry) => changeEntry(engine, target, entry, change, options));
}

/** As {@link changeObject}, of the stored version's target, beginning with an entry that was just read. */
export async function changeEntry(
  engine: Engine,
  target: Target,
  first: Entry | undefined,
  change: Change,
  options: WriteOptions,
  mustName = false,
): Promise<WriteResult> {
  let entry = first;
  for (let attempt = 1; ; attempt++) {
    if (entry === undefined) throw notFound(target);
    const live = decodeStanding(entry, engine.fieldSets);
    const changed = change(live);
    const { object } = changed;
    const wanted = object.metadata.resourceVersion ?? "";
    if (wanted === "" && mustName) throw versionMissing(target, object);
    if (wanted !== "" && wanted !== String(entry.revision)) throw conflict(target, changedMessage);
    const result = await replace(engine, target, entry, { live, changed }, options);
    if (result !== undefined) return result;
    if (attempt === updateAttempts) throw conflict(target, changedMessage);
    entry = await engine.store.get(entry.key);
  }
}

/** The fault of an update that should name the version which it replaces. */
function versionMissing(target: Target, { metadata }: ApiObject): StatusError {
  const report = FieldReport.start();
  report
    .at("metadata", "resourceVersion")
    .invalid(metadata.resourceVersion ?? "", "must be specified for an update");
  const { kind, group } = target.resource;
  return invalidError({ kind: kind.name, group, name: target.name }, report.faults);
}

const changedMessage =
  "the object has been modified; please apply your changes to the latest version and try again";

/** Checks and stores one attempt; undefined when another write came between. */
async function replace(
  engine: Engine,
  target: Target,
  entry: Entry,
  { live: standing, changed }: { readonly live: Standing; readonly changed: Changed },
  options: WriteOptions,
): Promise<WriteResult | undefined> {
  const { object: live } = standing;
  const object = mergeWrite(engine, target, changed.object, live);
  const request = admissionOf(target, options, "UPDATE", object, live);
  const mutated = engine.admit.mutate(request);
  if (mutated !== undefined) await mutated;
  countGeneration(target, object, live);
  const managed =
    changed.managed === undefined
      ? recordOwnership(engine, target, object, standing, options)
      : ownershipOfApply(object, standing, changed.managed);
  const nothing = managed === standing.managed.stored && sameButForVersion(object, live);
  if (!nothing) checkObject(engine, target, object, live);
  const validated = engine.admit.validate(request);
  if (validated !== undefined) await validated;
  if (nothing)
    return { body: entry.body, created: false, warnings: warningsOf(engine, target, object, live) };
  const effects = engine.effects.get(target.resource.storePrefix);
  const writing = { object, live, dryRun: options.dryRun };
  const result = await withEffects(effects, writing, () =>
    store(engine, target, entry, { live, object, managed }, options),
  );
  if (result !== undefined && !options.dryRun && isFinished(target, object, live))
    await effects?.removed(object);
  return result;
}

/** What the write may change, by the kind's own rules, over what stands. */
function mergeWrite(engine: Engine, target: Target, written: ApiObject, live: ApiObject): ApiObject {
  const { kind } = target.resource;
  const subresource = target.subresource === "" ? undefined : kind.subresources[target.subresource];
  // What a view or an action wrote was already taken over into a copy of the live object.
  if (subresource?.shape === "view" || subresource?.shape === "action") return written;
  if (subresource !== undefined && subresource.shape === undefined) {
    return mergePart(subresource, written, live, kindContext(engine, target));
  }
  keepServerMetadata(written, live);
  kind.prepareUpdate?.(written, live, kindContext(engine, target));
  dropDisabledFields(kind.type, written, live, engine.featureEnabled);
  return written;
}

/** Counts a change of what is wanted of the object. A write to a part of it, such as `status`, is none. */
function countGeneration({ resource, subresource }: Target, object: ApiObject, live: ApiObject): void {
  const { generationOf, subresources } = resource.kind;
  const isPart = subresource !== "" && subresources[subresource]?.shape === undefined;
  if (generationOf === undefined || isPart) return;
  // Whatever the order of keys: defaults are filled in behind what was written.
  const same = deepEqual(generationOf(object) as JsonValue, generationOf(live) as JsonValue);
  object.metadata.generation = (live.metadata.generation ?? 1) + (same ? 0 : 1);
}

async function store(
  engine: Engine,
  target: Target,
  entry: Entry,
  { live, object, managed }: { live: ApiObject; object: ApiObject; managed: ManagedFieldsText },
  options: WriteOptions,
): Promise<WriteResult | undefined> {
  const draft = encodeObject(target.resource, object, managed);
  const warnings = warningsOf(engine, target, object, live);
  if (sameContent(entry, draft)) return { body: entry.body, created: false, warnings };
  if (options.dryRun) {
    checkSize(draft);
    return { body: draftBody(draft, String(entry.revision)), created: false, warnings };
  }
  const { key, revision: expected } = entry;
  if (isFinished(target, object, live)) {
    const result = await commit(engine, { kind: "delete", key, expected });
    return result.ok
      ? { body: draftBody(draft, String(result.revision)), created: false, warnings }
      : undefined;
  }
  const result = await commit(engine, { kind: "update", key, expected, draft });
  return result.ok ? { body: result.entry.body, created: false, warnings } : undefined;
}

/**
 * Whether an update removes the object: it was already terminating, its grace period is over or it never had one, and the
 * new object has no finalizers (spec: conventions 3.1). During a grace period only a DELETE that ends it removes the object.
 */
function isFinished(target: Target, object: ApiObject, { metadata: live }: ApiObject): boolean {
  if (live.deletionTimestamp === undefined || (live.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return mayVanish(target, object);
}

/** Whether nothing holds the object back from being removed. */
export function mayVanish(target: Target, object: ApiObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return false;
  return target.resource.kind.mayVanish?.(object) ?? true;
}
