import { StatusError, optionsGroup } from "../../base/status-error.ts";
import { foregroundFinalizer, orphanFinalizer } from "../../kinds/checks/finalizers.ts";
import type { ApiObject, Kind } from "../../schema/kind.ts";
import type { Entry } from "../../storage/store.ts";
import {
  endsItself,
  failedPrecondition,
  kindContext,
  type Engine,
  type Target,
  type WriteOptions,
} from "../engine/engine.ts";
import { checkSize, bodyAt, decodeEntry, draftBody, encodeObject } from "../objects/stored.ts";
import { isFinalized } from "./update-strategy.ts";
import { storedEntry, writeObject } from "./write-loop.ts";
import { nextStep, writeContext, type WriteContext } from "../input/input.ts";
import { admissionOf, commit, settleFailure, settleResult } from "./write.ts";

/** Options of a deletion, from query and body. */
export interface DeleteOptions extends WriteOptions {
  readonly gracePeriodSeconds: number | bigint | undefined;
  readonly propagationPolicy: "Background" | "Foreground" | "Orphan" | undefined;
  /** Precondition: the uid of the object. */
  readonly uid: string | undefined;
  /** Precondition: the resource version of the object. */
  readonly resourceVersion: string | undefined;
}

export interface DeleteResult {
  /** Whether the object is removed; otherwise it is terminating. */
  readonly gone: boolean;
  /** The last state of the object, or the present one. */
  readonly body: Uint8Array;
  readonly uid: string;
}

/**
 * Deletes an object, or marks it as terminating if finalizers or a grace period keep it (spec: conventions 3.1, 3.3).
 *
 * @throws {StatusError} NotFound, Conflict (preconditions), or the rejection of admission.
 */
export async function deleteObject(
  served: Engine,
  requestTarget: Target,
  options: DeleteOptions,
): Promise<DeleteResult> {
  const context = writeContext(served, requestTarget, options);
  const { target } = context;
  warnOfOrphans(target, options);
  const replace = (entry: Entry): Promise<DeleteResult | undefined> => {
    const live = decodeEntry(entry);
    checkPreconditions(target, live, options);
    return admitAndDelete(context, entry, live);
  };
  return writeObject(context, storedEntry(context), { replace }, busyMessage);
}

const busyMessage = "the object is being changed too often to be deleted";

/**
 * One attempt; undefined after a conflicting write. Admission runs for each version of the object, as a later one may be protected.
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

/** Adds the warning about orphaned dependents, also if the deletion fails. */
export function warnOfOrphans({ resource: { kind } }: Target, options: DeleteOptions): void {
  if (options.propagationPolicy === undefined && kind.orphanWarning !== undefined)
    options.report?.warn(kind.orphanWarning);
}

/** Longest grace period in seconds, some 136 years: times end with the year 9999. */
const maxGraceSeconds = 2 ** 32;

/** Deletes or marks one version of the object; undefined after a conflicting write. */
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
 * Sets the deletion timestamp, or moves it forward for a shorter grace period. Returns whether it changed the object.
 *
 * @param graceSeconds undefined for a kind without grace periods.
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
 * Records the propagation policy in the finalizers for the garbage collector (spec: conventions 3.2). Returns whether it changed the
 * object.
 */
function setDeletionFinalizers(
  kind: Kind,
  { metadata }: ApiObject,
  policy: DeleteOptions["propagationPolicy"],
): boolean {
  if (kind.defaultGarbageCollectionPolicy === "Unsupported") return false;
  const before = metadata.finalizers ?? [];
  const effective = policy ?? policyOf(before) ?? defaultPolicyOf(kind);
  const after = before.filter((one) => one !== orphanFinalizer && one !== foregroundFinalizer);
  if (effective === "Orphan") after.push(orphanFinalizer);
  if (effective === "Foreground") after.push(foregroundFinalizer);
  if (after.length === before.length && after.every((one) => before.includes(one))) return false;
  if (after.length === 0) delete metadata.finalizers;
  else metadata.finalizers = after;
  return true;
}

function defaultPolicyOf({ defaultGarbageCollectionPolicy: policy }: Kind): "Orphan" | "Background" {
  return policy === "OrphanDependents" ? "Orphan" : "Background";
}

/** The propagation policy of the present finalizers. */
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
  const { key, revision: expected } = entry;
  const result = await commit(engine, { kind: "delete", key, expected }, options);
  if (result.ok) await engine.storageHooks.get(target.resource.storePrefix)?.afterDelete(live);
  return result.ok ? { gone: true, body: bodyAt(entry, result.revision), uid } : undefined;
}

/**
 * Removes an object whose grace period is over. The deletion timestamp is written first, so that watches and the response contain it.
 */
async function removeTerminated(
  context: WriteContext<DeleteOptions>,
  entry: Entry,
  live: ApiObject,
): Promise<DeleteResult | undefined> {
  const { engine, target, options } = context;
  const draft = encodeObject(target.resource, live);
  if (options.dryRun) return { ...(await terminate(context, entry, live))!, gone: true };
  const { key, revision: expected } = entry;
  const written = await commit(engine, { kind: "update", key, expected, draft }, options);
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
  const { key, revision: expected } = entry;
  const result = await commit(engine, { kind: "update", key, expected, draft }, options);
  return result.ok ? { gone: false, body: result.entry.body, uid } : undefined;
}

/** @throws {StatusError} Invalid for an unknown policy. */
export function propagationPolicy(text: string): NonNullable<DeleteOptions["propagationPolicy"]> {
  if (text === "Background" || text === "Foreground" || text === "Orphan") return text;
  const message = `Unsupported value: ${JSON.stringify(text)}: supported values: "Background", "Foreground", "Orphan"`;
  throw new StatusError("Invalid", `DeleteOptions is invalid: propagationPolicy: ${message}`, {
    group: optionsGroup,
    kind: "DeleteOptions",
    causes: [{ reason: "FieldValueNotSupported", message, field: "propagationPolicy" }],
  });
}
