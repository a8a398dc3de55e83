import { invalidManagersWarning, recordOwnership } from "../ownership/field-ownership.ts";
import { dropRepeatedOwners, withWarnings } from "../input/metadata.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { StatusError } from "../../base/status-error.ts";
import { ignoreTimeOnlyChange, type ManagedFieldsText } from "../../fields/apply/new-fields-text.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Entry } from "../../storage/store.ts";
import { withHooks } from "../engine/storage-hooks.ts";
import { conflict, type Engine, type Target, type WriteResult } from "../engine/engine.ts";
import { sameButForVersion, type LiveObject } from "../objects/live-object.ts";
import {
  checkDecodedSize,
  checkSize,
  decodeLive,
  draftBody,
  encodeObject,
  sameContent,
} from "../objects/stored.ts";
import {
  countGeneration,
  isWhole,
  mergeWrite,
  prepareWhole,
  reapplyStrategy,
  shouldDeleteDuringUpdate,
  withStatusOf,
} from "./update-strategy.ts";
import { nextStep, type WriteContext } from "../input/input.ts";
import { changedMessage, storedEntry, writeObject } from "./write-loop.ts";
import {
  admissionOf,
  checkObject,
  commit,
  commitUnder,
  settleFailure,
  type WriteRequest,
  settleResult,
  warningsOf,
} from "./write.ts";

/** The result of a change: the new object, and its managed fields if the change defines them. */
export interface UpdatedObject {
  readonly object: ApiObject;
  readonly managed?: ManagedFieldsText | undefined;
}

/** Returns the new object for the live one, which it must not change; called again after a conflicting write. */
export type UpdateFunction = (live: LiveObject) => MaybePromise<UpdatedObject>;

/** How {@link guaranteedUpdate} treats a missing object and an update without resource version. */
export interface UpdateSettings {
  /** The stored entry, just read; read by the update if absent. */
  readonly stored?: { readonly entry: MaybePromise<Entry | undefined> };
  /** Creates the object if it is missing; by default it is not found. */
  readonly create?: () => Promise<WriteResult>;
  /** Whether the new object may omit the resource version; true by default. */
  readonly allowUnconditional?: boolean;
}

/**
 * Reads an object, calls `change` for the new one, validates and stores it. A resource version in the new object is a precondition;
 * without one the change is retried after a conflicting write.
 *
 * @throws {StatusError} NotFound, Conflict, Invalid, or the rejection of admission.
 */
export function guaranteedUpdate(
  context: WriteContext,
  change: UpdateFunction,
  { stored, create, allowUnconditional = true }: UpdateSettings = {},
): Promise<WriteResult> {
  const replace = (entry: Entry) => changeEntry(context, entry, change, allowUnconditional);
  return writeObject(context, stored === undefined ? storedEntry(context) : stored.entry, {
    replace,
    create,
  });
}

/** One attempt of an update; undefined after a conflicting write. */
async function changeEntry(
  context: WriteContext,
  entry: Entry,
  change: UpdateFunction,
  allowUnconditional: boolean,
): Promise<WriteResult | undefined> {
  const { engine, target, options } = context;
  const live = decodeLive(entry, engine.fieldSets);
  const stepToChange = nextStep(context);
  if (stepToChange !== undefined) await stepToChange;
  const changing = change(live);
  const changed = changing instanceof Promise ? await changing : changing;
  const { object } = changed;
  if (options.pace?.isLarge === true) checkDecodedSize(object);
  const { resourceVersion = "" } = object.metadata;
  if (resourceVersion === "" && !allowUnconditional) throw versionMissing(target, object);
  if (resourceVersion !== "" && resourceVersion !== String(entry.revision))
    throw conflict(target, changedMessage);
  return validateAndStore(context, entry, live, changed);
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

/** Validates and stores one attempt; undefined after a conflicting write. */
async function validateAndStore(
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
  const request = admissionOf(target, options, "UPDATE", object, live, requestTarget.resource);
  let result: WriteResult | undefined;
  try {
    result = await admitAndStore(context, request, entry, before, { object, managed: written });
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
  { object, managed: recorded }: { readonly object: ApiObject; readonly managed: ManagedFieldsText },
): Promise<WriteResult | undefined> {
  const { engine, target, options } = context;
  const { object: live } = before;
  const admission = nextStep(context);
  if (admission !== undefined) await admission;
  const { managedFields } = object.metadata;
  const mutated = engine.admit.mutate(request);
  if (mutated !== undefined) await mutated;
  if (request.effects.reinvocationRequested) reapplyStrategy(engine, target, object, live);
  const repeated = [
    ...dropRepeatedOwners(object.metadata, " after mutating admission happens"),
    ...invalidManagersWarning(managedFields, object),
  ];
  countGeneration(target, object, live);
  const isSame = sameButForVersion(object, live);
  // Admission may have reverted what the write changed, such as tolerations that it adds each time.
  const managed = isSame ? ignoreTimeOnlyChange(recorded, before.managed) : recorded;
  const nothing = isSame && managed === before.managed.stored && !isOutdated(engine, entry);
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

/** Whether an update without changes stores the object again. */
function isOutdated(engine: Engine, entry: Entry): boolean {
  return entry.outdated === true || engine.isOutdated?.(entry) === true;
}

async function store(
  { engine, target, options }: WriteContext,
  request: WriteRequest,
  entry: Entry,
  { live, object, managed }: { live: ApiObject; object: ApiObject; managed: ManagedFieldsText },
): Promise<WriteResult | undefined> {
  const draft = encodeObject(target.resource, object, managed);
  const warnings = warningsOf(engine, target, object, live);
  if (sameContent(entry, draft) && !isOutdated(engine, entry))
    return { body: entry.body, created: false, warnings };
  if (options.dryRun) {
    checkSize(draft);
    return { body: draftBody(draft, String(entry.revision)), created: false, warnings };
  }
  const { key, revision: expected } = entry;
  if (shouldDeleteDuringUpdate(target, object, live)) {
    const result = await commit(engine, { kind: "delete", key, expected }, options);
    return result.ok ? { body: draftBody(draft, String(expected)), created: false, warnings } : undefined;
  }
  const result = await commitUnder(
    engine,
    { kind: "update", key, expected, draft },
    options,
    request.effects.conditions,
  );
  return result.ok ? { body: result.entry.body, created: false, warnings } : undefined;
}
