import { deepEqual, type JsonValue } from "../base/json/value.ts";
import { dropRepeatedOwners, withWarnings } from "./repeated-owners.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { ManagedFieldsText } from "../fields/apply/managed-fields-text.ts";
import { FieldReport, invalidError } from "../schema/faults.ts";
import { dropDisabledFields } from "../schema/gates.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Entry } from "../storage/store.ts";
import { createInContext } from "./create.ts";
import { withHooks } from "./storage-hooks.ts";
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
import { ownershipOfApply, recordOwnership } from "./field-ownership.ts";
import { sameButForVersion, type LiveObject } from "./live-object.ts";
import { keepServerMetadata, matchNamespace } from "./metadata.ts";
import { mergePart } from "./part.ts";
import { checkDecodedSize, checkSize } from "./object-size.ts";
import { keyOf } from "./registry.ts";
import { decodeLive, draftBody, encodeObject, sameContent } from "./stored.ts";
import { nextStep, writeContext, type WriteContext } from "./write-context.ts";
import {
  admissionOf,
  checkObject,
  commit,
  commitUnder,
  settleFailure,
  settleResult,
  warningsOf,
  type WriteRequest,
} from "./write.ts";

/** Attempts of an update without a resource version when other writes interfere. */
const updateAttempts = 10;

/** The result of a change: the new object, and its managed fields if the change defines them. */
export interface UpdatedObject {
  readonly object: ApiObject;
  readonly managed?: ManagedFieldsText | undefined;
}

/** Returns the new object for the live one, which it must not change; called again after a conflicting write. */
export type UpdateFunction = (live: LiveObject) => MaybePromise<UpdatedObject>;

/**
 * Replaces an object, PUT (spec: conventions 4.2).
 *
 * @param read returns a new copy of the decoded object (`input.ts`) at each call.
 * @param mayCreate is called before a missing object is created; throws if the caller may not create it.
 * @throws {StatusError} NotFound, Conflict, Invalid, or the rejection of admission.
 */
export function updateObject(
  engine: Engine,
  requestTarget: Target,
  read: () => ApiObject,
  options: WriteOptions,
  mayCreate: () => Promise<void> | void,
): MaybePromise<WriteResult> {
  const context = writeContext(engine, requestTarget, options);
  const { target } = context;
  let unused: ApiObject | undefined = read();
  checkNames(target, unused);
  let repeated: readonly string[] = [];
  const next = (live?: LiveObject): UpdatedObject => {
    const object = unused ?? read();
    unused = undefined;
    repeated = dropRepeatedOwners(object.metadata);
    matchNamespace(target, object.metadata);
    checkUid(target, object, live?.object);
    return { object };
  };
  const attemptWrite = (attempt: number): MaybePromise<WriteResult> =>
    andThen(storedEntry(context), (entry) => {
      if (entry !== undefined) {
        return guaranteedUpdateFrom(context, entry, next, target.resource.kind.allowUnconditionalUpdate);
      }
      const created = createByUpdate(context, next().object, mayCreate);
      return created.catch((error: unknown) => {
        const raced = error instanceof StatusError && error.reason === "AlreadyExists";
        if (!raced || attempt === updateAttempts) throw error;
        return attemptWrite(attempt + 1);
      });
    });
  return andThen(attemptWrite(1), (result) => withWarnings(result, repeated));
}

function storedEntry({ engine, target }: WriteContext): MaybePromise<Entry | undefined> {
  return engine.store.get(keyOf(target.resource, target.namespace, target.name));
}

/** Checks that the name in the body equals that of the path. */
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
  context: WriteContext,
  object: ApiObject,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  const { target } = context;
  if (!target.resource.kind.createOnUpdate || target.subresource !== "") throw notFound(target);
  if ((object.metadata.resourceVersion ?? "") !== "") {
    throw conflict(target, "the object doesn't exist, so it has no version to replace");
  }
  await mayCreate();
  return createInContext(context, object);
}

/**
 * Reads an object, calls `change` for the new one, validates and stores it. A resource version in the new object is a precondition;
 * without one the change is retried after a conflicting write.
 */
export function guaranteedUpdate(context: WriteContext, change: UpdateFunction): MaybePromise<WriteResult> {
  return andThen(storedEntry(context), (entry) => guaranteedUpdateFrom(context, entry, change));
}

/** As {@link guaranteedUpdate}, for an entry that was just read. */
export async function guaranteedUpdateFrom(
  context: WriteContext,
  first: Entry | undefined,
  change: UpdateFunction,
  allowUnconditional = true,
): Promise<WriteResult> {
  const { engine, target, options } = context;
  let entry = first;
  for (let attempt = 1; ; attempt++) {
    if (entry === undefined) throw notFound(target);
    const wait = options.pace?.decodes(entry.body);
    if (wait !== undefined) {
      await wait;
      // A write during the wait would be a conflict.
      entry = await engine.store.get(entry.key);
      if (entry === undefined) throw notFound(target);
    }
    const live = decodeLive(entry, engine.fieldSets);
    const stepToChange = nextStep(context);
    if (stepToChange !== undefined) await stepToChange;
    const changing = change(live);
    const changed = changing instanceof Promise ? await changing : changing;
    const { object } = changed;
    if (options.pace?.isLarge === true) checkDecodedSize(object);
    const wanted = object.metadata.resourceVersion ?? "";
    if (wanted === "" && !allowUnconditional) throw versionMissing(target, object);
    if (wanted !== "" && wanted !== String(entry.revision)) throw conflict(target, changedMessage);
    const result = await replace(context, entry, live, changed);
    if (result !== undefined) return result;
    if (attempt === updateAttempts) throw conflict(target, changedMessage);
    entry = await engine.store.get(entry.key);
  }
}

/** The error of an update without the resource version that its kind requires. */
function versionMissing(target: Target, { metadata }: ApiObject): StatusError {
  const report = FieldReport.start();
  report
    .at("metadata", "resourceVersion")
    .invalid(metadata.resourceVersion ?? "", "must be specified for an update");
  // As in the reference, this error names the resource type in place of the kind.
  const { name: kind, group } = target.resource;
  return invalidError({ kind, group, name: target.name }, report.faults);
}

const changedMessage =
  "the object has been modified; please apply your changes to the latest version and try again";

/** Validates and stores one attempt; undefined after a conflicting write. */
async function replace(
  context: WriteContext,
  entry: Entry,
  before: LiveObject,
  changed: UpdatedObject,
): Promise<WriteResult | undefined> {
  const { engine, target, requestTarget, options } = context;
  const { object: live } = before;
  const ownership = nextStep(context);
  if (ownership !== undefined) await ownership;
  const object = mergeWrite(engine, target, changed.object, live);
  // Values from the kind, its gates and admission have no owner.
  const recorded = changed.managed ?? recordOwnership(context, withStatusOf(target, object, live), before);
  const written = recorded instanceof Promise ? await recorded : recorded;
  const preparation = nextStep(context);
  if (preparation !== undefined) await preparation;
  if (isWhole(target)) prepareWhole(engine, target, object, live);
  const managed = changed.managed === undefined ? written : ownershipOfApply(object, before, written);
  const request = admissionOf(target, options, "UPDATE", object, live, requestTarget.resource);
  let result: WriteResult | undefined;
  try {
    result = await admitAndStore(context, request, entry, before, { object, managed });
  } catch (error) {
    settleFailure(request, error);
    throw error;
  }
  settleResult(request, result);
  return result;
}

async function admitAndStore(
  context: WriteContext,
  request: WriteRequest,
  entry: Entry,
  before: LiveObject,
  { object, managed }: { readonly object: ApiObject; readonly managed: ManagedFieldsText },
): Promise<WriteResult | undefined> {
  const { engine, target, options } = context;
  const { object: live } = before;
  const admission = nextStep(context);
  if (admission !== undefined) await admission;
  const mutated = engine.admit.mutate(request);
  if (mutated !== undefined) await mutated;
  if (request.effects.reinvocationRequested) limitRewrite(engine, target, object, live);
  const repeated = dropRepeatedOwners(object.metadata, " after mutating admission happens");
  countGeneration(target, object, live);
  const nothing =
    managed === before.managed.stored &&
    sameButForVersion(object, live) &&
    engine.isOutdated?.(entry) !== true;
  const validation = nextStep(context);
  if (validation !== undefined) await validation;
  const checked = nothing ? undefined : checkObject(context, object, live);
  if (checked !== undefined) await checked;
  const validated = engine.admit.validate(request);
  if (validated !== undefined) await validated;
  if (nothing) {
    const result = { body: entry.body, created: false, warnings: warningsOf(engine, target, object, live) };
    return withWarnings(result, repeated);
  }
  const storage = nextStep(context);
  if (storage !== undefined) await storage;
  const hooks = engine.storageHooks.get(target.resource.storePrefix);
  const writing = { object, live, dryRun: options.dryRun };
  const written = { live, object, managed };
  const result = await withHooks(hooks, writing, () => store(context, request, entry, written));
  if (result !== undefined && !options.dryRun && shouldDeleteDuringUpdate(target, object, live))
    await hooks?.afterDelete(object);
  return result && withWarnings(result, repeated);
}

/** Merges the parts that the write may change into the live object, by the rules of the kind or the subresource. */
function mergeWrite(engine: Engine, target: Target, written: ApiObject, live: ApiObject): ApiObject {
  const { kind } = target.resource;
  const subresource = target.subresource === "" ? undefined : kind.subresources[target.subresource];
  // Views and actions have changed a copy of the live object already.
  if (subresource?.shape === "view" || subresource?.shape === "action") return written;
  if (subresource !== undefined && subresource.shape === undefined) {
    return mergePart(subresource, written, live, kindContext(engine, target));
  }
  keepServerMetadata(written, live);
  return written;
}

/** Whether a write is of the whole object, not of a subresource. */
function isWhole({ resource, subresource }: Target): boolean {
  return resource.kind.subresources[subresource] === undefined;
}

/** The object with the live status, if status is a subresource and the write is of the whole object. */
function withStatusOf(target: Target, object: ApiObject, live: ApiObject): ApiObject {
  if (!isWhole(target) || !Object.hasOwn(target.resource.kind.subresources, "status")) return object;
  const { status: _, ...rest } = object as ApiObject & { status?: unknown };
  const { status } = live as ApiObject & { status?: unknown };
  return status === undefined ? rest : Object.assign(rest, { status });
}

/** Applies the update strategy and the gates of the kind to a whole object. Changes `object`. */
function prepareWhole(engine: Engine, target: Target, object: ApiObject, live: ApiObject): void {
  const { kind } = target.resource;
  dropDisabledFields(kind.type, object, live, engine.featureEnabled);
  kind.prepareUpdate?.(object, live, kindContext(engine, target));
}

/** Re-applies the update strategy after mutating admission. Changes `object`. */
function limitRewrite(engine: Engine, target: Target, object: ApiObject, live: ApiObject): void {
  const merged = mergeWrite(engine, target, object, live);
  if (isWhole(target)) prepareWhole(engine, target, merged, live);
  if (merged === object) return;
  for (const member of Object.keys(object)) delete object[member];
  Object.assign(object, merged);
}

/** Increments `metadata.generation` if the desired state changes; writes to subresources such as `status` don't. */
function countGeneration({ resource, subresource }: Target, object: ApiObject, live: ApiObject): void {
  const { generationOf, subresources } = resource.kind;
  const isPart = subresource !== "" && subresources[subresource]?.shape === undefined;
  if (generationOf === undefined || isPart) return;
  // Ignores the order of members, as defaults are appended.
  const same = deepEqual(generationOf(object) as JsonValue, generationOf(live) as JsonValue);
  object.metadata.generation = (live.metadata.generation ?? 1) + (same ? 0 : 1);
}

async function store(
  { engine, target, options }: WriteContext,
  request: WriteRequest,
  entry: Entry,
  { live, object, managed }: { live: ApiObject; object: ApiObject; managed: ManagedFieldsText },
): Promise<WriteResult | undefined> {
  const draft = encodeObject(target.resource, object, managed);
  const warnings = warningsOf(engine, target, object, live);
  if (sameContent(entry, draft) && engine.isOutdated?.(entry) !== true)
    return { body: entry.body, created: false, warnings };
  if (options.dryRun) {
    checkSize(draft);
    return { body: draftBody(draft, String(entry.revision)), created: false, warnings };
  }
  const { key, revision: expected } = entry;
  if (shouldDeleteDuringUpdate(target, object, live)) {
    const result = await commit(engine, { kind: "delete", key, expected });
    return result.ok ? { body: draftBody(draft, String(expected)), created: false, warnings } : undefined;
  }
  const result = await commitUnder(engine, { kind: "update", key, expected, draft }, request.effects.conditions);
  return result.ok ? { body: result.entry.body, created: false, warnings } : undefined;
}

/**
 * Whether an update removes the object: it is terminating, has no (further) grace period, and the new object has no finalizers (spec:
 * conventions 3.1). During a grace period only a DELETE with a shorter one removes it.
 */
function shouldDeleteDuringUpdate(target: Target, object: ApiObject, { metadata: live }: ApiObject): boolean {
  if (live.deletionTimestamp === undefined || (live.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return isFinalized(target, object);
}

/** Whether neither finalizers nor the kind prevent the removal. */
export function isFinalized(target: Target, object: ApiObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return false;
  return target.resource.kind.isFinalized?.(object) ?? true;
}
