import { deepClone } from "../base/json/value.ts";
import { StatusError } from "../base/status-error.ts";
import { checkFields } from "../schema/check.ts";
import { FieldReport, invalidError } from "../schema/faults.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { CommitResult, Draft, Write } from "../storage/store.ts";
import { kindContext, type AdmissionRequest, type Engine, type Target, type WriteOptions } from "./engine.ts";
import { checkGenerateName, checkMetadata, checkMetadataUpdate } from "./metadata-rules.ts";
import { fromStored } from "./versions.ts";
import { storeFailure } from "./resource-version.ts";

/** The largest object that is stored, in bytes of its encoded form. */
const maxObjectBytes = 3 * 1024 * 1024;

/**
 * Holds an object against its declaration.
 *
 * @param live what the object replaces; undefined for a new one.
 * @throws {StatusError} Invalid, with every fault as a cause.
 */
export function checkObject(
  engine: Engine,
  target: Target,
  object: ApiObject,
  live: ApiObject | undefined,
): void {
  const report = FieldReport.start();
  checkMetadata(target, object.metadata, engine.vocabulary, report.at("metadata"));
  if (live === undefined) checkGenerateName(target, object.metadata, report.at("metadata"));
  else checkMetadataUpdate(object.metadata, live.metadata, report.at("metadata"));
  checkRules(engine, target, object, live, report);
  refuse(target, object, report);
}

/**
 * What the declaration demands. A version that isn't stored may have rules of its own, which then take the place of those
 * of the stored one.
 */
function checkRules(
  engine: Engine,
  target: Target,
  object: ApiObject,
  live: ApiObject | undefined,
  report: FieldReport,
): void {
  const context = kindContext(engine, target);
  const { requested } = target;
  const own = requested?.kind.validate !== undefined;
  const { kind } = own ? requested : target.resource;
  const shown = (one: ApiObject) => (own ? fromStored(requested, deepClone(one), context) : one);
  const checked = shown(object);
  kind.validate?.(checked, report, context);
  if (live === undefined) kind.validateCreate?.(checked, report, context);
  else kind.validateUpdate?.(checked, shown(live), report, context);
  checkFields(kind.type, checked, report, context);
}

/** As {@link checkObject}, for a body that is asked with and never stored: its metadata has no rules. */
export function checkBody(engine: Engine, target: Target, object: ApiObject): void {
  const { kind } = target.resource;
  const report = FieldReport.start();
  const context = kindContext(engine, target);
  kind.validate?.(object, report, context);
  checkFields(kind.type, object, report, context);
  refuse(target, object, report);
}

function refuse({ resource }: Target, { metadata }: ApiObject, { faults }: FieldReport): void {
  if (faults.length === 0) return;
  throw invalidError({ kind: resource.kind.name, group: resource.group, name: metadata.name ?? "" }, faults);
}

/** The admission request for a write. */
export function admissionOf(
  target: Target,
  options: WriteOptions,
  operation: AdmissionRequest["operation"],
  object: ApiObject | undefined,
  live: ApiObject | undefined,
): AdmissionRequest {
  return { operation, target, user: options.user, dryRun: options.dryRun, object, live };
}

/**
 * Asks admission about something that is to be done to an object, such as an eviction: the creation of its body.
 *
 * @throws {StatusError} what admission refuses with.
 */
export async function admitAction(
  engine: Engine,
  target: Target,
  body: ApiObject,
  options: Pick<WriteOptions, "user" | "dryRun">,
): Promise<void> {
  const { user, dryRun } = options;
  const request = { operation: "CREATE", target, user, dryRun, object: body, live: undefined } as const;
  await engine.admit.mutate(request);
  await engine.admit.validate(request);
}

/** @throws {StatusError} RequestEntityTooLarge; a dry run, which doesn't come to {@link commit}, asks by itself. */
export function checkSize({ body }: Draft): void {
  if (body.length <= maxObjectBytes) return;
  throw new StatusError("RequestEntityTooLarge", `the object is larger than ${maxObjectBytes} bytes`);
}

/**
 * Commits a write; the store's failures become what a client is told.
 *
 * @throws {StatusError} RequestEntityTooLarge, before anything is done.
 */
export function commit(engine: Engine, write: Write): Promise<CommitResult> {
  if (write.kind !== "delete") checkSize(write.draft);
  return engine.store.commit(write).catch((error: unknown) => {
    throw storeFailure(error);
  });
}

/** The messages that a successful write gives with its answer. */
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
