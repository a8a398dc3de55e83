import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { checkFields } from "../../schema/check.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import { checkGenerateName } from "../../schema/object-meta-rules.ts";
import type { CommitResult, Write } from "../../storage/store.ts";
import type { Origin } from "../../storage/store-history.ts";
import { mayHaveHappened } from "../engine/storage-hooks.ts";
import {
  kindContext,
  type AdmissionCondition,
  type AdmissionRequest,
  type Engine,
  type Target,
  type WriteOptions,
  type AdmissionEffects,
  type OutcomeListener,
  type RequestReport,
  type WriteOutcome,
} from "../engine/engine.ts";
import { checkMetadata, checkMetadataUpdate, nameFormOf } from "../input/metadata.ts";
import { checkSize } from "../objects/stored.ts";
import type { Resource } from "../registry/registry.ts";
import { storeFailure } from "../engine/resource-version.ts";
import { inRequestVersion, type WriteContext } from "../input/input.ts";

/**
 * Validates an object.
 *
 * @param live the object that it replaces; undefined for a new one.
 * @throws {StatusError} Invalid, with all errors as causes.
 */
export function checkObject(
  write: WriteContext,
  object: ApiObject,
  live: ApiObject | undefined,
): MaybePromise<void> {
  const { engine, target } = write;
  const report = FieldReport.start(engine.registry.release);
  checkMetadata(target, object.metadata, engine, report.at("metadata"));
  if (live === undefined) {
    const { generateName = "" } = object.metadata;
    checkGenerateName(generateName, nameFormOf(target, engine), report.at("metadata", "generateName"));
  } else checkMetadataUpdate(object.metadata, live.metadata, report.at("metadata"));
  const last = checkRules(write, object, live, report);
  if (last !== undefined) return last.then(() => refuse(target, object, report));
  refuse(target, object, report);
}

/**
 * Applies the validation rules. A version that isn't stored may have its own rules, which replace those of the stored version.
 */
function checkRules(
  write: WriteContext,
  object: ApiObject,
  live: ApiObject | undefined,
  report: FieldReport,
): MaybePromise<void> {
  const { engine, target, requestTarget } = write;
  const context = kindContext(engine, target);
  const hasOwnRules = requestTarget !== target && hasRules(requestTarget.resource.kind);
  const { kind } = (hasOwnRules ? requestTarget : target).resource;
  const checked = hasOwnRules ? inRequestVersion(write, object) : object;
  kind.validate?.(checked, report, context);
  const before = live !== undefined && hasOwnRules ? inRequestVersion(write, live) : live;
  if (before === undefined) kind.validateCreate?.(checked, report, context);
  else kind.validateUpdate?.(checked, before, report, context);
  checkFields(kind.type, checked, report, context, before);
  return andThen(report.finish(), () => kind.validateLast?.(checked, before, report, context));
}

/** Whether a version that isn't stored has its own rules, as custom kinds do. */
function hasRules({ validate, custom }: Kind): boolean {
  return validate !== undefined || custom !== undefined;
}

/** As {@link checkObject}, without metadata, for a body that is never stored, such as an Eviction. */
export function checkBody(engine: Engine, target: Target, object: ApiObject): void {
  const { kind } = target.resource;
  const report = FieldReport.start(engine.registry.release);
  const context = kindContext(engine, target);
  kind.validate?.(object, report, context);
  checkFields(kind.type, object, report, context);
  refuse(target, object, report);
}

function refuse({ resource }: Target, object: ApiObject, { faults }: FieldReport): void {
  if (faults.length === 0) return;
  const { kind, group } = resource;
  const shown = kind.convertFaults?.(faults, object) ?? faults;
  throw invalidError({ kind: kind.name, group, name: object.metadata.name ?? "" }, shown);
}

/** An admission request with its effects as the verb reads them. */
export interface WriteRequest extends AdmissionRequest {
  readonly effects: WriteEffects;
}

/**
 * The admission request for a write.
 *
 * @param requestResource the resource type in the version of the request.
 */
export function admissionOf(
  target: Target,
  options: WriteOptions,
  operation: AdmissionRequest["operation"],
  object: ApiObject | undefined,
  live: ApiObject | undefined,
  requestResource: Resource = target.resource,
): WriteRequest {
  const { user, dryRun, report } = options;
  return {
    operation,
    target,
    requestResource,
    options,
    user,
    dryRun,
    object,
    live,
    reinvocation: false,
    effects: new WriteEffects(report),
  };
}

/** Notifies plugins of a write that failed or was rejected. */
export function settleFailure({ effects }: WriteRequest, error: unknown): void {
  effects.settle(mayHaveHappened(error) ? "unknown" : "not committed");
}

/** Notifies plugins of a completed attempt; `result` is undefined after a conflicting write. */
export function settleResult({ effects, dryRun }: WriteRequest, result: unknown): void {
  effects.settle(result === undefined || dryRun ? "not committed" : "committed");
}

/**
 * Runs admission for an action on an object, such as an eviction: the CREATE of its body.
 *
 * @param complete completes and checks the body between the mutating and the validating phase.
 * @throws {StatusError} the rejection of admission.
 */
export async function admitAction(
  engine: Engine,
  target: Target,
  body: ApiObject,
  options: WriteOptions,
  complete?: () => void,
): Promise<void> {
  await admitUnstored(engine, admissionOf(target, options, "CREATE", body, undefined), complete);
}

/**
 * Runs admission for a connection to an object, such as `pods/exec`.
 *
 * @param connectOptions the options of the connection as an object of their kind.
 * @throws {StatusError} the rejection of admission.
 */
export async function admitConnection(
  engine: Engine,
  target: Target,
  connectOptions: ApiObject,
  options: WriteOptions,
): Promise<void> {
  await admitUnstored(engine, admissionOf(target, options, "CONNECT", connectOptions, undefined));
}

async function admitUnstored({ admit }: Engine, request: WriteRequest, complete?: () => void): Promise<void> {
  try {
    await admit.mutate(request);
    complete?.();
    await admit.validate(request);
  } finally {
    request.effects.settle("not committed");
  }
}

/**
 * Commits a write; converts failures of the store to status errors. If the store keeps the history of the object, the write has its origin.
 *
 * @param options those of the request.
 * @throws {StatusError} RequestEntityTooLarge before the commit.
 */
export function commit(engine: Engine, write: Write, options: WriteOptions): Promise<CommitResult> {
  if (write.kind !== "delete") checkSize(write.draft);
  const { store } = engine;
  const isKept = store.history?.keeps(write.key) === true;
  const committed = isKept ? { ...write, origin: originOf(engine, write, options) } : write;
  return store.commit(committed).catch((error: unknown) => {
    throw storeFailure(error);
  });
}

/** The origin of a write, for the history. */
function originOf(engine: Engine, { kind }: Write, options: WriteOptions): Origin {
  const { user, fieldManager, report, verb = report?.verb ?? kind } = options;
  const requestId = report?.requestId ?? engine.requestId ?? engine.newUid("requests");
  return { user: user.name, manager: fieldManager, verb, requestId, time: engine.clock.now() };
}

/** Attempts of one write whose conditions fail. */
const conditionAttempts = 50;

/**
 * As {@link commit}, with conditions. A failed condition is renewed.
 *
 * @throws {StatusError} the rejection of a renewed condition; TooManyRequests if conditions fail repeatedly.
 */
export function commitUnder(
  engine: Engine,
  write: Write,
  options: WriteOptions,
  conditions: readonly AdmissionCondition[],
): Promise<CommitResult> {
  return conditions.length === 0
    ? commit(engine, write, options)
    : commitRenewing(engine, write, options, conditions);
}

async function commitRenewing(
  engine: Engine,
  write: Write,
  options: WriteOptions,
  first: readonly AdmissionCondition[],
): Promise<CommitResult> {
  let conditions = first;
  for (let attempt = 1; attempt <= conditionAttempts; attempt++) {
    const plain = conditions.map(({ key, revision }) => ({ key, revision }));
    const result = await commit(engine, { ...write, conditions: plain }, options);
    if (result.ok || result.failedCondition === undefined) return result;
    const { failedCondition } = result;
    const renewed = await conditions[failedCondition]!.renew();
    conditions = conditions.flatMap((one, index) => (index === failedCondition ? (renewed ?? []) : one));
  }
  throw new StatusError(
    "TooManyRequests",
    "the objects on which this request depends change too often; please try again",
    { retryAfterSeconds: 1 },
  );
}

/** The warnings of a successful write. */
export function warningsOf(
  engine: Engine,
  target: Target,
  object: ApiObject,
  live: ApiObject | undefined,
): readonly string[] {
  const { effect, warnings } = target.resource.kind;
  const own = warnings?.(object, kindContext(engine, target), live) ?? [];
  if (effect?.unenforced === undefined || live !== undefined) return own;
  return [...own, `this server stores the object and does not enforce it: ${effect.unenforced}`];
}

/** A report that discards everything. */
const discardingReport: RequestReport = { warn: () => undefined, annotate: () => undefined };

const noConditions: readonly AdmissionCondition[] = [];

/** The effects of admission on one write, as the verb that executes the write reads them. */
export class WriteEffects implements AdmissionEffects {
  reinvocationRequested = false;
  private readonly report: RequestReport;
  private added: AdmissionCondition[] | undefined;
  private listeners: OutcomeListener[] | undefined;
  private states: Map<new () => object, object> | undefined;

  /** @param report receives warnings and audit annotations; by default they are discarded. */
  constructor(report: RequestReport = discardingReport) {
    this.report = report;
  }

  /** Conditions of the commit. */
  get conditions(): readonly AdmissionCondition[] {
    return this.added ?? noConditions;
  }

  warn(text: string): void {
    this.report.warn(text);
  }

  annotate(key: string, value: string, level?: "Request"): void {
    this.report.annotate(key, value, level);
  }

  took(step: string, durationMs: number): void {
    this.report.took?.(step, durationMs);
  }

  addCondition(condition: AdmissionCondition): void {
    (this.added ??= []).push(condition);
  }

  onOutcome(listener: OutcomeListener): void {
    (this.listeners ??= []).push(listener);
  }

  requestReinvocation(): void {
    this.reinvocationRequested = true;
  }

  state<T extends object>(type: new () => T): T {
    this.states ??= new Map();
    let state = this.states.get(type);
    if (state === undefined) this.states.set(type, (state = new type()));
    return state as T;
  }

  /** Calls the listeners with the outcome of the write. */
  settle(outcome: WriteOutcome): void {
    if (this.listeners !== undefined) for (const listener of this.listeners) listener(outcome);
  }
}
