import { invalidManagersWarning, recordOwnership } from "../ownership/field-ownership.ts";
import { deepClone } from "../../base/json/value.ts";
import {
  dropRepeatedOwners,
  withWarnings,
  matchNamespace,
  excludedFromCreate,
  prepareNewMetadata,
} from "../input/metadata.ts";
import { quotedSubject, subjectDetails } from "../../base/object-errors.ts";
import { StatusError } from "../../base/status-error.ts";
import type { ManagedFieldsText } from "../../fields/apply/new-fields-text.ts";
import { dropDisabledFields } from "../../schema/gates.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Draft } from "../../storage/store.ts";
import { withHooks } from "../engine/storage-hooks.ts";
import {
  kindContext,
  subjectOf,
  type Engine,
  type Target,
  type WriteOptions,
  type WriteResult,
  type AdmissionCondition,
} from "../engine/engine.ts";
import { checkDecodedSize, checkSize, asBuffer, draftBody, encodeObject } from "../objects/stored.ts";
import { keyOf } from "../registry/registry.ts";
import { nextStep, writeContext, type WriteContext } from "../input/input.ts";
import {
  admissionOf,
  checkObject,
  commitUnder,
  settleFailure,
  settleResult,
  warningsOf,
  type WriteRequest,
} from "./write.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";

/** Attempts to generate an unused name from `generateName`. */
const generateAttempts = 8;

/**
 * Creates an object (spec: conventions 4.2).
 *
 * @param target the collection.
 * @param input the decoded object (`input.ts`); it is changed.
 * @throws {StatusError} BadRequest, Invalid, AlreadyExists, or the rejection of admission.
 */
export function createObject(
  engine: Engine,
  target: Target,
  input: ApiObject,
  options: WriteOptions,
): Promise<WriteResult> {
  return createInContext(writeContext(engine, target, options), input);
}

/**
 * As {@link createObject}.
 *
 * @param managed its managed fields, if the request defines them; otherwise its field manager owns all fields.
 */
export async function createInContext(
  write: WriteContext,
  input: ApiObject,
  managed?: ManagedFieldsText,
): Promise<WriteResult> {
  const { engine, target, requestTarget, options } = write;
  if (options.pace?.isLarge === true) checkDecodedSize(input);
  const { name = "", generateName = "", resourceVersion = "" } = input.metadata;
  const generated = name === "" && generateName !== "";
  for (let attempt = 1; ; attempt++) {
    // Each attempt starts with a copy, because it fills in values such as names derived from the generated name.
    const object = generated ? deepClone(input) : input;
    prepareNewMetadata(engine, target, object);
    const named = { ...target, name: object.metadata.name ?? "" };
    const request = admissionOf(named, options, "CREATE", object, undefined, requestTarget.resource);
    let result: WriteResult | undefined;
    try {
      result = await admitAndStore(write, request, object, { generated, managed, resourceVersion });
    } catch (error) {
      settleFailure(request, error);
      throw error;
    }
    settleResult(request, result);
    if (result !== undefined) return result;
    if (!generated || attempt === generateAttempts)
      throw alreadyExists({ ...named, name: object.metadata.name ?? "" });
  }
}

interface CreateInput {
  /** Whether the server generates the name. */
  readonly generated: boolean;
  readonly managed: ManagedFieldsText | undefined;
  /** As the client sent it; empty for none. */
  readonly resourceVersion: string;
}

/** One attempt; undefined if the name exists. */
async function admitAndStore(
  write: WriteContext,
  request: WriteRequest,
  object: ApiObject,
  { generated, managed, resourceVersion }: CreateInput,
): Promise<WriteResult | undefined> {
  const { engine, target, options } = write;
  const { kind } = target.resource;
  const repeated = dropRepeatedOwners(object.metadata);
  // Values from admission and the kind have no owner.
  const recorded = managed ?? recordOwnership(write, object, undefined);
  const owned = recorded instanceof Promise ? await recorded : recorded;
  const admission = nextStep(write);
  if (admission !== undefined) await admission;
  const { managedFields } = object.metadata;
  const mutated = engine.admit.mutate(request);
  if (mutated !== undefined) await mutated;
  const admitted = request.effects.reinvocationRequested ? afterRewrite(request, object) : request;
  const added = [
    ...dropRepeatedOwners(object.metadata, " after mutating admission happens"),
    ...invalidManagersWarning(managedFields, object),
  ];
  const preparation = nextStep(write);
  if (preparation !== undefined) await preparation;
  kind.prepareCreate?.(object, kindContext(engine, target, options.user));
  dropDisabledFields(kind.type, object, undefined, engine.featureEnabled);
  if (generated) kind.fillDefaults?.(object, kindContext(engine, target));
  const validation = nextStep(write);
  if (validation !== undefined) await validation;
  const checked = checkObject(write, object, undefined);
  if (checked !== undefined) await checked;
  const validated = engine.admit.validate(admitted);
  if (validated !== undefined) await validated;
  if (resourceVersion !== "" && !options.dryRun)
    throw new StatusError("BadRequest", "resourceVersion should not be set on objects to be created");
  const storage = nextStep(write);
  if (storage !== undefined) await storage;
  const hooks = engine.storageHooks.get(target.resource.storePrefix);
  const writing = { object, live: undefined, dryRun: options.dryRun };
  const result = await withHooks(hooks, writing, () => {
    const draft = encodeObject(target.resource, object, owned);
    return options.dryRun ? dryRun(write, admitted, draft, resourceVersion) : store(write, admitted, draft);
  });
  return result && withWarnings(result, [...repeated, ...added]);
}

/** Restores members that only the server sets; returns the request with the name that webhooks set. */
function afterRewrite(request: WriteRequest, object: ApiObject): WriteRequest {
  const { target } = request;
  const { name = "" } = object.metadata;
  matchNamespace(target, object.metadata);
  if (target.resource.kind.generationOf !== undefined) object.metadata.generation = 1;
  for (const member of excludedFromCreate) delete object.metadata[member];
  return name === target.name ? request : { ...request, target: { ...target, name } };
}

/** Stores the object; undefined if the name exists. */
async function store(
  { engine, options }: WriteContext,
  request: WriteRequest,
  draft: Draft,
): Promise<WriteResult | undefined> {
  const { target, object, effects } = request;
  const key = keyOf(target.resource, target.namespace, target.name);
  const warnings = warningsOf(engine, target, object!, undefined);
  const definition = definitionCondition(engine, target);
  const conditions = definition === undefined ? effects.conditions : [...effects.conditions, definition];
  const result = await commitUnder(engine, { kind: "create", key, draft }, options, conditions);
  return result.ok ? { body: result.entry.body, created: true, warnings } : undefined;
}

/**
 * The result that {@link store} would have; undefined if the name exists.
 *
 * @param resourceVersion that of the request, which the result has too, as in the reference (rulings).
 */
async function dryRun(
  { engine }: WriteContext,
  { target, object }: WriteRequest,
  draft: Draft,
  resourceVersion: string,
): Promise<WriteResult | undefined> {
  const key = keyOf(target.resource, target.namespace, target.name);
  if ((await engine.store.get(key)) !== undefined) return undefined;
  checkSize(draft);
  const text = JSON.stringify(resourceVersion).slice(1, -1);
  const body = text === "" ? unversioned(draft) : draftBody(draft, text);
  return { body, created: true, warnings: warningsOf(engine, target, object!, undefined) };
}

const comma = 0x2c;
const emptyVersion = '"resourceVersion":""';

/** The body of an unstored object, without a resource version. */
function unversioned(draft: Draft): Buffer {
  const body = asBuffer(draft.body);
  // The revision goes between the quotes at the end; a comma follows them unless this is the last member.
  const start = draft.revisionAt - emptyVersion.length + 1;
  const end = draft.revisionAt + 1;
  return Buffer.concat([body.subarray(0, start), body.subarray(body[end] === comma ? end + 1 : end)]);
}

function alreadyExists(target: Target): StatusError {
  const subject = subjectOf(target);
  return new StatusError(
    "AlreadyExists",
    `${quotedSubject(subject)} already exists`,
    subjectDetails(subject),
  );
}

/**
 * The condition for storing a new object of a custom kind: its definition is unchanged and isn't being deleted. Otherwise an object could
 * be stored after the deletion of all others, and would reappear with the next definition of that name.
 *
 * @returns undefined for a built-in kind.
 * @throws {StatusError} NotFound if the definition was deleted; MethodNotAllowed while it is being deleted.
 */
function definitionCondition(engine: Engine, target: Target): AdmissionCondition | undefined {
  const { registry } = engine;
  const { resource } = target;
  if (resource.kind.custom === undefined) return undefined;
  const condition = registry.definitionCondition(resource);
  const [served] = registry.withSameObjects(resource);
  if (condition === undefined || served === undefined)
    throw new StatusError("NotFound", "the server could not find the requested resource");
  if (!served.kind.verbs.includes("create")) {
    const { resource: kind, group } = subjectOf(target);
    const message = "create is not allowed while the CustomResourceDefinition is being deleted";
    throw new StatusError("MethodNotAllowed", message, { kind, group });
  }
  return { ...condition, renew: () => andThen(registry.sync(), () => definitionCondition(engine, target)) };
}
