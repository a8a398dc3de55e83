import type { JsonDocument } from "../../base/json/exact.ts";
import { deepClone, type JsonValue, type JsonObject } from "../../base/json/value.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { type Steps, runPaced } from "../../base/turns/work-pace.ts";
import { StatusError, type Cause } from "../../base/status-error.ts";
import type { FieldSet } from "../../fields/apply/field-set.ts";
import {
  encodeManagedFields,
  noManagedFields,
  type ManagedFields,
} from "../../fields/apply/new-fields-text.ts";
import { managerId, type Manager } from "../../fields/apply/manager.ts";
import {
  ApplyConflict,
  applySteps,
  updateFields,
  type Outcome,
  type Versions,
  type Write,
} from "../../fields/apply/ownership.ts";
import { PartsFault } from "../../fields/apply/parts.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Entry } from "../../storage/store.ts";
import {
  conflict,
  detailsOf,
  kindContext,
  notFound,
  type Engine,
  type Target,
  type WriteOptions,
  type WriteResult,
} from "../engine/engine.ts";
import { fromStored } from "../engine/conversion.ts";
import { createInContext } from "./create.ts";
import { ignoredFields, managerOf, versionsOf, zeroObject } from "../ownership/field-ownership.ts";
import { fieldsLastApplied, keepLastApplied } from "../ownership/last-applied.ts";
import {
  readPart,
  readSteps,
  addWarnings,
  type FieldValidation,
  nextStep,
  writeContext,
  type WriteContext,
} from "../input/input.ts";
import type { LiveObject } from "../objects/live-object.ts";
import { matchNamespace } from "../input/metadata.ts";
import { checkDecodedSize } from "../objects/stored.ts";
import { keyOf } from "../registry/registry.ts";
import { digestOf, type ApplyInput } from "../engine/repeated-applies.ts";
import { guaranteedUpdate, type UpdatedObject } from "./guaranteed-update.ts";
import { storedEntry } from "./write-loop.ts";
import { parseExactJson } from "../../base/json/embedded.ts";
import { encodeJson } from "../../base/json/encode.ts";

export interface ApplyOptions extends WriteOptions {
  readonly fieldValidation: FieldValidation;
  /** Takes over fields that other managers own. */
  readonly force: boolean;
}

/** The body of an apply. */
export interface AppliedBody {
  /** The raw bytes; undefined if audit needs the decoded body, so that repeated bodies are decoded too. */
  readonly bytes: Uint8Array | undefined;
  /** The encoding of the bytes, YAML by default: the same bytes can be different objects in two encodings. */
  readonly format?: "yaml" | "cbor";
  /** @throws {StatusError} BadRequest if it can't be decoded. */
  document(): MaybePromise<JsonDocument>;
}

/** The applied configuration, decoded by its kind and as sent. */
interface Configuration {
  readonly part: ApiObject;
  readonly sent: JsonValue;
}

type ApplyContext = WriteContext<ApplyOptions>;

/**
 * Applies a configuration: creates the object, or merges the configuration into it and records field ownership (spec: conventions
 * 4.10).
 *
 * @param mayCreate is called before a missing object is created; throws if the caller may not create it.
 * @throws {StatusError} BadRequest for an invalid configuration; Conflict if other managers own fields that would change; otherwise as
 *   an update.
 */
export async function applyObject(
  served: Engine,
  target: Target,
  body: AppliedBody,
  options: ApplyOptions,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  const context = writeContext(served, target, options);
  const { engine } = context;
  const first = await storedEntry(context);
  const input = first && repeatable(context, body);
  if (first === undefined || input === undefined) {
    return applyDocument(context, first, await body.document(), mayCreate);
  }
  const cachedWarnings = engine.repeatedApplies.find(input, first);
  if (cachedWarnings !== undefined) return { body: first.body, created: false, warnings: cachedWarnings };
  const result = await applyDocument(context, first, await body.document(), mayCreate);
  const isUnchanged = result.body === first.body;
  if (isUnchanged) engine.repeatedApplies.add(input, first, result.warnings);
  return result;
}

/** The input on which the result of an apply depends; undefined if admission or audit needs the body. */
function repeatable(
  { engine, target, requestTarget, options }: ApplyContext,
  { bytes, format = "yaml" }: AppliedBody,
): ApplyInput | undefined {
  if (bytes === undefined || engine.admit.concerns("UPDATE", target, requestTarget.resource))
    return undefined;
  const { resource, namespace, name, subresource } = requestTarget;
  const { fieldManager, fieldValidation, force } = options;
  const key = JSON.stringify([
    keyOf(resource, namespace, name),
    resource.version,
    subresource,
    fieldManager,
    fieldValidation,
    force,
    format,
  ]);
  return { key, resource, digest: digestOf(bytes) };
}

/** @param first the stored object, just read. */
async function applyDocument(
  context: ApplyContext,
  first: Entry | undefined,
  { value, duplicates }: JsonDocument,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  const { engine, requestTarget: target, options } = context;
  await nextStep(context);
  const { part, warnings } = readPart(target, value, duplicates, options.fieldValidation);
  addWarnings(options.report, warnings);
  const configuration: Configuration = { part: checkPart(target, value, part), sent: value };
  if (options.pace?.isLarge === true) {
    // Field ownership costs far more than this decode with defaults.
    const { object } = await runPaced(readSteps(engine, target, value, [], "Ignore"), options.pace);
    checkDecodedSize(object);
    await nextStep(context);
  }
  const result = await guaranteedUpdate(context, (live) => change(context, live, configuration), {
    stored: { entry: first },
    create: () => create(context, configuration, mayCreate),
  });
  return { ...result, warnings: [...warnings, ...result.warnings] };
}

async function create(
  context: ApplyContext,
  configuration: Configuration,
  mayCreate: () => Promise<void> | void,
): Promise<WriteResult> {
  const { requestTarget: target } = context;
  if (target.subresource !== "") throw notFound(target);
  if (!isNamed(configuration.sent)) {
    throw new StatusError(
      "BadRequest",
      "there is no such object yet: metadata.name must be provided to create it",
    );
  }
  const { uid } = configuration.part.metadata;
  if (uid !== undefined) {
    throw conflict(target, `the applied object has the uid ${uid}, and there is no object to have it`);
  }
  await mayCreate();
  const { object, managed } = await runPaced(
    merged(context, {}, noManagedFields, configuration),
    context.options.pace,
  );
  // It names a version of an object that there isn't: ignored, as in the reference.
  delete object.metadata.resourceVersion;
  return createInContext(context, object, managed);
}

function change(
  context: ApplyContext,
  live: LiveObject,
  configuration: Configuration,
): MaybePromise<UpdatedObject> {
  const { engine, requestTarget: target, options } = context;
  const shown = fromStored(target.resource, deepClone(live.object), kindContext(engine, target));
  const result = runPaced(merged(context, shown, live.managed, configuration), options.pace);
  return andThen(result, ({ object, managed }) => {
    const { resourceVersion } = configuration.part.metadata;
    if (resourceVersion === undefined) delete object.metadata.resourceVersion;
    else object.metadata.resourceVersion = resourceVersion;
    return { object, managed };
  });
}

/** Merges the applied configuration into the live object; returns the result in the stored version and its managed fields. */
function* merged(
  context: ApplyContext,
  live: Partial<ApiObject>,
  recorded: ManagedFields,
  { part, sent }: Configuration,
): Steps<Required<UpdatedObject>> {
  const { engine, requestTarget: target, options } = context;
  const manager = managerOf(target, options, "Apply");
  const versions = versionsOf(context);
  const write = { version: manager.apiVersion, ignored: ignoredFields(target) };
  const now = engine.timestamps.now();
  const base =
    recorded.owners.size === 0 ? firstOwners(target, live, versions, manager, write, now) : recorded;
  const apply = (force: boolean): Steps<Outcome> =>
    applySteps(live, part, base.owners, versions, { ...write, manager: managerId(manager), force });
  const lastApplied = () => fieldsLastApplied(engine, target, live, options);
  const outcome = yield* guarded(target, allowing(lastApplied, apply, options.force));
  yield;
  const { object } = yield* readSteps(engine, target, outcome.object, [], "Ignore");
  keepLastApplied(engine, object, sent, options);
  yield;
  const { owners, wrote } = outcome;
  return { object, managed: encodeManagedFields(owners, base, manager, now, wrote) };
}

/** Manager of the fields that an object without managed fields has before the first apply. */
const beforeFirstApply = "before-first-apply";

/** The owners of an object without managed fields: `before-first-apply` owns its present fields. */
function firstOwners(
  { resource }: Target,
  live: Partial<ApiObject>,
  versions: Versions,
  applier: Manager,
  write: Omit<Write, "manager">,
  now: string,
): ManagedFields {
  const manager: Manager = { ...applier, name: beforeFirstApply, operation: "Update" };
  const id = managerId(manager);
  const { owners } = updateFields(zeroObject(resource.kind.type), live, new Map(), versions, {
    ...write,
    manager: id,
  });
  return { owners, entries: new Map([[id, { manager, time: now }]]) };
}

/** Applies, with force if all conflicting fields are in `allowed`; otherwise the conflict names only the other fields. */
function* allowing(
  allowed: () => FieldSet,
  apply: (force: boolean) => Steps<Outcome>,
  force: boolean,
): Steps<Outcome> {
  try {
    return yield* apply(force);
  } catch (error) {
    if (!(error instanceof ApplyConflict)) throw error;
    const fields = allowed();
    const refused = [...error.fields].flatMap(([manager, { version, set }]) => {
      const rest = set.difference(fields);
      return rest.isEmpty ? [] : [[manager, { version, set: rest }] as const];
    });
    if (refused.length > 0) throw new ApplyConflict(new Map(refused));
    return yield* apply(true);
  }
}

/** Checks apiVersion, kind and managed fields. The name may be omitted except on create; if present, it must match the URL. */
export function checkPart(target: Target, value: unknown, part: Partial<ApiObject>): ApiObject {
  const { apiVersion, kind } = (value ?? {}) as { apiVersion?: unknown; kind?: unknown };
  if (typeof apiVersion !== "string" || apiVersion === "" || typeof kind !== "string" || kind === "") {
    throw new StatusError("BadRequest", "the applied object must have apiVersion and kind");
  }
  const metadata = withoutNulls(part.metadata);
  if (metadata.managedFields !== undefined) {
    throw new StatusError("BadRequest", "metadata.managedFields must be nil");
  }
  const { name = target.name } = metadata;
  if (name !== target.name) {
    const message =
      name === ""
        ? `the name of the object (${target.name} on the URL) is empty: omit it, or use the name on the URL`
        : `the name of the object (${name}) does not match the name on the URL (${target.name})`;
    throw new StatusError("BadRequest", message);
  }
  matchNamespace(target, metadata);
  return { ...part, metadata: { ...metadata, name: target.name } } as ApiObject;
}

/** Whether the configuration contains the name. */
function isNamed(sent: JsonValue): boolean {
  const { metadata } = sent as { readonly metadata?: { readonly name?: unknown } | null };
  return typeof metadata?.name === "string";
}

/** Removes null members of metadata, except those of {@link appliedMetadata}, in which null has a meaning. */
function withoutNulls(
  metadata: Partial<ApiObject["metadata"]> | null | undefined,
): Partial<ApiObject["metadata"]> {
  const members = Object.entries(metadata ?? {});
  return Object.fromEntries(members.filter(([name, value]) => value !== null || appliedMetadata.has(name)));
}

/** The members of metadata that field managers can own. */
const appliedMetadata: ReadonlySet<string> = new Set([
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
]);

/** Runs an apply; converts conflicts and invalid lists to status errors. */
export function* guarded(target: Target, apply: Steps<Outcome>): Steps<Outcome> {
  try {
    return yield* apply;
  } catch (error) {
    if (error instanceof ApplyConflict) throw conflictError(target, error);
    if (!(error instanceof PartsFault)) throw error;
    throw new StatusError("BadRequest", `${fieldPath(error.elements)}: ${error.problem}`);
  }
}

/** The Conflict with a cause for each conflicting field and its manager (rulings: apply conflict). */
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

/** The path of a field in messages: `.spec.ports[port=80,protocol="TCP"].name`. */
export function fieldPath(elements: readonly string[]): string {
  return elements.map(textOf).join("");
}

function textOf(element: string): string {
  const rest = element.slice(2);
  switch (element.slice(0, 2)) {
    case "f:":
      return `.${rest}`;
    case "k:": {
      const keys = Object.entries(parseExactJson(rest) as JsonObject);
      return `[${keys.map(([name, value]) => `${name}=${encodeJson(value)}`).join(",")}]`;
    }
    case "v:":
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}
