import { StatusError, optionsGroup } from "../base/status-error.ts";
import { foregroundFinalizer, orphanFinalizer } from "../kinds/checks/finalizers.ts";
import type { ApiObject, Kind } from "../schema/kind.ts";
import type { Entry } from "../storage/store.ts";
import {
  conflict,
  endsItself,
  failedPrecondition,
  kindContext,
  notFound,
  type Engine,
  type Target,
  type WriteOptions,
} from "./engine.ts";
import { checkSize } from "./object-size.ts";
import { keyOf } from "./registry.ts";
import { bodyAt, decodeEntry, draftBody, encodeObject } from "./stored.ts";
import { isFinalized } from "./update.ts";
import { nextStep, writeContext, type WriteContext } from "./write-context.ts";
import { admissionOf, commit, settleFailure, settleResult } from "./write.ts";

/** How a deletion is to be done: the query parameters and the DeleteOptions body together. */
export interface DeleteOptions extends WriteOptions {
  readonly gracePeriodSeconds: number | bigint | undefined;
  readonly propagationPolicy: "Background" | "Foreground" | "Orphan" | undefined;
  /** The deletion holds only for the object with this uid. */
  readonly uid: string | undefined;
  /** The deletion holds only for the object in this version. */
  readonly resourceVersion: string | undefined;
}

export interface DeleteResult {
  /** Whether the object is gone; else it stays, terminating, for its finalizers. */
  readonly gone: boolean;
  /** The object as it was, or as it is now. */
  readonly body: Uint8Array;
  readonly uid: string;
}

const deleteAttempts = 10;

/**
 * Deletes an object, or marks it as terminating when finalizers or a grace period hold it (spec: conventions 3.1, 3.3).
 *
 * @throws {StatusError} NotFound, Conflict (preconditions), or what admission refuses with.
 */
export async function deleteObject(
  served: Engine,
  requestTarget: Target,
  options: DeleteOptions,
): Promise<DeleteResult> {
  const context = writeContext(served, requestTarget, options);
  const { engine, target } = context;
  const key = keyOf(target.resource, target.namespace, target.name);
  warnOfOrphans(target, options);
  for (let attempt = 1; attempt <= deleteAttempts; attempt++) {
    let entry = await engine.store.get(key);
    const wait = entry && options.pace?.decodes(entry.body);
    if (wait !== undefined) {
      await wait;
      entry = await engine.store.get(key);
    }
    if (entry === undefined) throw notFound(target);
    const live = decodeEntry(entry);
    checkPreconditions(target, live, options);
    const result = await admitAndDelete(context, entry, live);
    if (result !== undefined) return result;
  }
  throw conflict(target, "the object is being changed too often to be deleted");
}

/**
 * One attempt; undefined after a conflicting write. Admission decides about each version of the object, as the next one may be
 * protected where this one isn't.
 */
async function admitAndDelete(
  context: WriteContext<DeleteOptions>,
  entry: Entry,
  live: ApiObject,
): Promise<DeleteResult | undefined> {
  const { engine, target, requestTarget, options } = context;
  const request = admissionOf(target, options, "DELETE", undefined, live, requestTarget.resource);
  let result: DeleteResult | undefined;
  try {
    await engine.admit.mutate(request);
    await engine.admit.validate(request);
    await nextStep(context);
    result = await deleteEntry(context, entry, live);
  } catch (error) {
    settleFailure(request, error);
    throw error;
  }
  settleResult(request, result);
  return result;
}

/** Warns of the dependents that stay, whatever becomes of the deletion. */
export function warnOfOrphans({ resource: { kind } }: Target, options: DeleteOptions): void {
  if (options.propagationPolicy === undefined && kind.orphanWarning !== undefined)
    options.report?.warn(kind.orphanWarning);
}

/** A longer grace period counts as this one, some 136 years: an object carries no time after the year 9999. */
const maxGraceSeconds = 2 ** 32;

/** Writes what the deletion of one version of the object comes to; undefined after a conflicting write. */
function deleteEntry(
  context: WriteContext<DeleteOptions>,
  entry: Entry,
  live: ApiObject,
): Promise<DeleteResult | undefined> {
  const { engine, target, options } = context;
  const { kind } = target.resource;
  const seconds = kind.gracePeriodSeconds?.(live, options.gracePeriodSeconds) ?? 0;
  const graceSeconds = Math.min(Number(seconds), maxGraceSeconds);
  if (live.metadata.deletionTimestamp === undefined) kind.beginDelete?.(live, kindContext(engine, target));
  const changed = setDeletionFinalizers(kind, live, options.propagationPolicy);
  const started = startTermination(engine, live, endsItself(kind) ? undefined : graceSeconds);
  if (graceSeconds === 0 && isFinalized(target, live)) {
    return kind.gracePeriodSeconds === undefined
      ? remove(context, entry, live)
      : removeTerminated(context, entry, live);
  }
  if (!started && !changed) {
    return Promise.resolve({ gone: false, body: entry.body, uid: live.metadata.uid ?? "" });
  }
  if (started) kind.prepareDelete?.(live);
  return terminate(context, entry, live);
}

/**
 * Sets the time of deletion where there is none yet, or brings it nearer where less grace is asked for than before.
 * Changes the object; answers whether it did.
 *
 * @param graceSeconds undefined for an object that has no grace period.
 */
function startTermination(
  { clock, timestamps }: Engine,
  { metadata }: ApiObject,
  graceSeconds: number | undefined,
): boolean {
  const end = timestamps.at(clock.now() + (graceSeconds ?? 0) * 1000);
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = end;
    if (metadata.generation !== undefined) metadata.generation++;
  } else {
    if ((graceSeconds ?? 0) >= (metadata.deletionGracePeriodSeconds ?? 0)) return false;
    if (end < metadata.deletionTimestamp) metadata.deletionTimestamp = end;
  }
  if (graceSeconds !== undefined) metadata.deletionGracePeriodSeconds = graceSeconds;
  return true;
}

/**
 * Records the propagation policy in the finalizers, for the garbage collector (spec: conventions 3.2).
 * Changes the object; answers whether it did.
 */
function setDeletionFinalizers(
  kind: Kind,
  { metadata }: ApiObject,
  policy: DeleteOptions["propagationPolicy"],
): boolean {
  if (kind.defaultGarbageCollectionPolicy === "Unsupported") return false;
  const before = metadata.finalizers ?? [];
  const wanted = policy ?? policyOf(before) ?? defaultPolicyOf(kind);
  const after = before.filter((one) => one !== orphanFinalizer && one !== foregroundFinalizer);
  if (wanted === "Orphan") after.push(orphanFinalizer);
  if (wanted === "Foreground") after.push(foregroundFinalizer);
  if (after.length === before.length && after.every((one) => before.includes(one))) return false;
  if (after.length === 0) delete metadata.finalizers;
  else metadata.finalizers = after;
  return true;
}

function defaultPolicyOf({ defaultGarbageCollectionPolicy: policy }: Kind): "Orphan" | "Background" {
  return policy === "OrphanDependents" ? "Orphan" : "Background";
}

/** The propagation policy that the finalizers already express. */
function policyOf(finalizers: readonly string[]): DeleteOptions["propagationPolicy"] {
  if (finalizers.includes(orphanFinalizer)) return "Orphan";
  return finalizers.includes(foregroundFinalizer) ? "Foreground" : undefined;
}

function checkPreconditions(target: Target, live: ApiObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = live.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    throw failedPrecondition(
      target,
      `Precondition failed: UID in precondition: ${options.uid}, UID in object meta: ${uid ?? ""}`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw failedPrecondition(
      target,
      `Precondition failed: ResourceVersion in precondition: ${options.resourceVersion}, ` +
        `ResourceVersion in object meta: ${resourceVersion}`,
    );
  }
}

async function remove(
  { engine, target, options }: WriteContext,
  entry: Entry,
  live: ApiObject,
): Promise<DeleteResult | undefined> {
  const uid = live.metadata.uid ?? "";
  if (options.dryRun) return { gone: true, body: entry.body, uid };
  const result = await commit(engine, { kind: "delete", key: entry.key, expected: entry.revision });
  if (result.ok) await engine.storageHooks.get(target.resource.storePrefix)?.afterDelete(live);
  return result.ok ? { gone: true, body: bodyAt(entry, result.revision), uid } : undefined;
}

/**
 * Removes an object of a kind with grace periods whose period is over. Its end is written first, so that whoever watches sees the
 * time of deletion before the object is gone, and so does the answer.
 */
async function removeTerminated(
  context: WriteContext<DeleteOptions>,
  entry: Entry,
  live: ApiObject,
): Promise<DeleteResult | undefined> {
  const { engine, target, options } = context;
  const draft = encodeObject(target.resource, live);
  if (options.dryRun) return { ...(await terminate(context, entry, live))!, gone: true };
  const written = await commit(engine, { kind: "update", key: entry.key, expected: entry.revision, draft });
  return written.ok ? remove(context, written.entry, live) : undefined;
}

async function terminate(
  { engine, target, options }: WriteContext,
  entry: Entry,
  live: ApiObject,
): Promise<DeleteResult | undefined> {
  const uid = live.metadata.uid ?? "";
  const draft = encodeObject(target.resource, live);
  if (options.dryRun) {
    checkSize(draft);
    return { gone: false, body: draftBody(draft, String(entry.revision)), uid };
  }
  const result = await commit(engine, { kind: "update", key: entry.key, expected: entry.revision, draft });
  return result.ok ? { gone: false, body: result.entry.body, uid } : undefined;
}

/** @throws {StatusError} Invalid for a policy that doesn't exist. */
export function propagationPolicy(text: string): NonNullable<DeleteOptions["propagationPolicy"]> {
  if (text === "Background" || text === "Foreground" || text === "Orphan") return text;
  const message = `Unsupported value: ${JSON.stringify(text)}: supported values: "Background", "Foreground", "Orphan"`;
  throw new StatusError("Invalid", `DeleteOptions is invalid: propagationPolicy: ${message}`, {
    group: optionsGroup,
    kind: "DeleteOptions",
    causes: [{ reason: "FieldValueNotSupported", message, field: "propagationPolicy" }],
  });
}
