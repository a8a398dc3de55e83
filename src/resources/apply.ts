import type { JsonDocument } from "../base/json/exact.ts";
import { deepClone, type JsonValue } from "../base/json/value.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { StatusError, type Cause } from "../base/status-error.ts";
import type { FieldSet } from "../fields/apply/field-set.ts";
import {
  encodeManagedFields,
  managerId,
  noManagedFields,
  type ManagedFields,
  type Manager,
} from "../fields/apply/managed-fields.ts";
import {
  ApplyConflict,
  applyFields,
  updateFields,
  type Outcome,
  type Versions,
  type Write,
} from "../fields/apply/ownership.ts";
import { PartsFault } from "../fields/apply/parts.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Entry } from "../storage/store.ts";
import { createObject } from "./create.ts";
import {
  conflict,
  detailsOf,
  kindContext,
  notFound,
  type Engine,
  type Target,
  type WriteOptions,
  type WriteResult,
} from "./engine.ts";
import { ignoredFields, managerOf, versionsOf, type Standing } from "./field-ownership.ts";
import { fieldPath } from "./field-path.ts";
import { fieldsLastApplied, keepLastApplied } from "./last-applied.ts";
import { readObject, readPart, type FieldValidation } from "./input.ts";
import { matchNamespace } from "./metadata.ts";
import { keyOf } from "./registry.ts";
import { digestOf, type ApplyQuestion } from "./repeated-applies.ts";
import { changeEntry, type Changed } from "./update.ts";
import { fromStored, storedTarget } from "./versions.ts";

export interface ApplyOptions extends WriteOptions {
  readonly fieldValidation: FieldValidation;
  /** Fields that others own are taken over. */
  readonly force: boolean;
}

/** The body of an apply. */
export interface AppliedBody {
  /** As it was sent, where the same bytes need not be read again; undefined where somebody wants to see what they say. */
  readonly bytes: Uint8Array | undefined;
  /** @throws {StatusError} BadRequest when it can't be read. */
  document(): MaybePromise<JsonDocument>;
}

/** What somebody applies: as it was read, and as it was written. */
interface Wanted {
  readonly part: ApiObject;
  readonly given: JsonValue;
}

/** How often an apply is tried again after another one created or deleted the object. */
const applyAttempts = 10;

/**
 * Applies a part of an object: creates the object, or merges the part into it and records who owns what (spec: conventions
 * 4.10).
 *
 * @param mayCreate asked before a missing object is created; it throws where the caller may not.
 * @throws {StatusError} BadRequest for a part that can't be applied; Conflict when others own what would be changed; else
 *   as an update.
 */
export async function applyObject(
  engine: Engine,
  target: Target,
  body: AppliedBody,
  options: ApplyOptions,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  const stored = storedTarget(target);
  const first = await engine.store.get(keyOf(stored.resource, target.namespace, target.name));
  const question = first && repeatable(engine, target, stored, body, options);
  if (first === undefined || question === undefined) {
    return applyDocument(engine, target, first, await body.document(), options, mayCreate);
  }
  const known = engine.repeatedApplies.find(question, first);
  if (known !== undefined) return { body: first.body, created: false, warnings: known };
  const result = await applyDocument(engine, target, first, await body.document(), options, mayCreate);
  const isUnchanged = result.body === first.body;
  if (isUnchanged) engine.repeatedApplies.remember(question, first, result.warnings);
  return result;
}

/** What decides the outcome of an apply; undefined where others have a say in it, or want to see it. */
function repeatable(
  engine: Engine,
  target: Target,
  stored: Target,
  { bytes }: AppliedBody,
  { fieldManager, fieldValidation, force }: ApplyOptions,
): ApplyQuestion | undefined {
  if (bytes === undefined || engine.admit.concerns("UPDATE", stored)) return undefined;
  const { resource, namespace, name, subresource } = target;
  const key = JSON.stringify([
    keyOf(stored.resource, namespace, name),
    resource.version,
    subresource,
    fieldManager,
    fieldValidation,
    force,
  ]);
  return { key, resource, digest: digestOf(bytes) };
}

/** @param first the object as it was just found. */
async function applyDocument(
  engine: Engine,
  target: Target,
  first: Entry | undefined,
  { value, duplicates }: JsonDocument,
  options: ApplyOptions,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  const { part, warnings } = readPart(target, value, duplicates, options.fieldValidation);
  const wanted: Wanted = { part: checkPart(target, value, part), given: value };
  const stored = storedTarget(target);
  let entry = first;
  for (let attempt = 1; ; attempt++) {
    const exists = entry !== undefined;
    try {
      const result =
        entry === undefined
          ? await create(engine, target, wanted, options, mayCreate)
          : await change(engine, target, entry, wanted, options);
      return { ...result, warnings: [...warnings, ...result.warnings] };
    } catch (error) {
      const raced = error instanceof StatusError && error.reason === (exists ? "NotFound" : "AlreadyExists");
      if (!raced || attempt === applyAttempts) throw error;
      entry = await engine.store.get(keyOf(stored.resource, target.namespace, target.name));
    }
  }
}

async function create(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  options: ApplyOptions,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  if (target.subresource !== "") throw notFound(target);
  if (wanted.part.metadata.resourceVersion !== undefined) throw notFound(target);
  const { uid } = wanted.part.metadata;
  if (uid !== undefined) {
    throw conflict(target, `the applied object has the uid ${uid}, and there is no object to have it`);
  }
  await mayCreate();
  const { object, managed } = merged(engine, target, {}, noManagedFields, wanted, options);
  return createObject(engine, target, object, options, managed);
}

function change(
  engine: Engine,
  target: Target,
  entry: Entry,
  wanted: Wanted,
  options: ApplyOptions,
): Promise<WriteResult> {
  const apply = (live: Standing): Changed => {
    const shown = fromStored(target.resource, deepClone(live.object), kindContext(engine, target));
    const { object, managed } = merged(engine, target, shown, live.managed, wanted, options);
    const { resourceVersion } = wanted.part.metadata;
    if (resourceVersion === undefined) delete object.metadata.resourceVersion;
    else object.metadata.resourceVersion = resourceVersion;
    return { object, managed };
  };
  return changeEntry(engine, storedTarget(target), entry, apply, options);
}

/** What stands with what is applied, whole and in the stored version, and who owns what of it. */
function merged(
  engine: Engine,
  target: Target,
  live: Partial<ApiObject>,
  known: ManagedFields,
  { part, given }: Wanted,
  options: ApplyOptions,
): Required<Changed> {
  const stored = storedTarget(target);
  const manager = managerOf(stored, options, "Apply");
  const versions = versionsOf(engine, stored);
  const write = { version: manager.apiVersion, ignored: ignoredFields(target) };
  const now = engine.timestamps.now();
  const base = known.owners.size === 0 ? firstOwners(live, versions, manager, write, now) : known;
  const outcome = guarded(target, () => {
    const apply = (force: boolean): Outcome =>
      applyFields(live, part, base.owners, versions, { ...write, manager: managerId(manager), force });
    return allowing(() => fieldsLastApplied(engine, target, live, options), apply, options.force);
  });
  const { object } = readObject(engine, target, outcome.object, [], "Ignore");
  keepLastApplied(engine, object, given, options);
  const { owners, wrote } = outcome;
  return { object, managed: encodeManagedFields(owners, base, manager, now, wrote) };
}

/** Whose everything is that stood before the first apply to an object of which no owner is known. */
const beforeFirstApply = "before-first-apply";

/** The owners of an object that has none, at its first apply: what stands belongs to whoever wrote it. */
function firstOwners(
  live: Partial<ApiObject>,
  versions: Versions,
  applier: Manager,
  write: Omit<Write, "manager">,
  now: string,
): ManagedFields {
  const manager: Manager = { ...applier, name: beforeFirstApply, operation: "Update" };
  const id = managerId(manager);
  const { owners } = updateFields({}, live, new Map(), versions, { ...write, manager: id });
  return { owners, entries: new Map([[id, { manager, time: now }]]) };
}

/** Applies; where all that is contested may be taken, by force. Is refused only for what may not. */
function allowing(allowed: () => FieldSet, apply: (force: boolean) => Outcome, force: boolean): Outcome {
  try {
    return apply(force);
  } catch (error) {
    if (!(error instanceof ApplyConflict)) throw error;
    const fields = allowed();
    const refused = [...error.fields].flatMap(([manager, { version, set }]) => {
      const rest = set.difference(fields);
      return rest.isEmpty ? [] : [[manager, { version, set: rest }] as const];
    });
    if (refused.length > 0) throw new ApplyConflict(new Map(refused));
    return apply(true);
  }
}

/** What is applied must say what it is, and nothing of who owns what. */
export function checkPart(target: Target, value: unknown, part: Partial<ApiObject>): ApiObject {
  const { apiVersion, kind } = (value ?? {}) as { apiVersion?: unknown; kind?: unknown };
  if (typeof apiVersion !== "string" || apiVersion === "" || typeof kind !== "string" || kind === "") {
    throw new StatusError("BadRequest", "what is applied must have apiVersion and kind");
  }
  const { metadata } = part;
  if (metadata?.managedFields !== undefined) {
    throw new StatusError("BadRequest", "metadata.managedFields must be nil");
  }
  if (metadata?.name !== target.name) {
    const given = metadata?.name ?? "";
    const message =
      given === ""
        ? "what is applied must have metadata.name"
        : `the name of the object (${given}) does not match the name on the URL (${target.name})`;
    throw new StatusError("BadRequest", message);
  }
  matchNamespace(target, metadata);
  return part as ApiObject;
}

/** Runs an apply; what is wrong with it becomes what a client is told. */
export function guarded(target: Target, apply: () => Outcome): Outcome {
  try {
    return apply();
  } catch (error) {
    if (error instanceof ApplyConflict) throw conflictError(target, error);
    if (!(error instanceof PartsFault)) throw error;
    throw new StatusError("BadRequest", `${fieldPath(error.elements)}: ${error.problem}`);
  }
}

/** Every contested field is a cause, with whose it is (rulings: apply conflict). */
function conflictError(target: Target, { fields }: ApplyConflict): StatusError {
  const causes: Cause[] = [];
  for (const [id, { set, version }] of fields) {
    const [name = "", operation, , subresource] = JSON.parse(id) as string[];
    const through = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
    const how = operation === "Apply" ? "" : ` using ${version}`;
    const message = `conflict with ${JSON.stringify(name)}${through}${how}`;
    for (const path of set.paths()) {
      causes.push({ reason: "FieldManagerConflict", message, field: fieldPath(path) });
    }
  }
  const listed = causes.map(({ message, field }) => `${message}: ${field}`).join("\n");
  const count = `${causes.length} conflict${causes.length === 1 ? "" : "s"}`;
  return new StatusError("Conflict", `Apply failed with ${count}: ${listed}`, {
    ...detailsOf(target),
    causes,
  });
}
