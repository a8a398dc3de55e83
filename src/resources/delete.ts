import { StatusError } from "../base/status-error.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Entry } from "../storage/store.ts";
import { conflict, notFound, timestamp, type Engine, type Target, type WriteOptions } from "./engine.ts";
import { keyOf } from "./registry.ts";
import { bodyAt, decodeEntry, draftBody, encodeObject } from "./stored.ts";
import { mayVanish } from "./update.ts";
import { admissionOf, checkSize, commit } from "./write.ts";

/** How a deletion is to be done: the query parameters and the DeleteOptions body together. */
export interface DeleteOptions extends WriteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: "Background" | "Foreground" | "Orphan" | undefined;
  /** The deletion holds only for the object with this uid. */
  readonly uid: string | undefined;
  /** The deletion holds only for the object in this version. */
  readonly resourceVersion: string | undefined;
}

export interface DeleteResult {
  /** Whether the object is gone; else it stays, terminating, for its finalizers. */
  readonly gone: boolean;
  /** The object as it was, or as it now stands. */
  readonly body: Uint8Array;
  readonly uid: string;
}

const deleteAttempts = 10;

/**
 * Deletes an object, or marks it as terminating when finalizers hold it (spec: conventions 3.1).
 *
 * @throws {StatusError} NotFound, Conflict (preconditions), or what admission refuses with.
 */
export async function deleteObject(
  engine: Engine,
  target: Target,
  options: DeleteOptions,
): Promise<DeleteResult> {
  const key = keyOf(target.resource, target.namespace, target.name);
  for (let attempt = 1; ; attempt++) {
    const entry = await engine.store.get(key);
    if (entry === undefined) throw notFound(target);
    const live = decodeEntry(entry);
    checkPreconditions(target, live, options);
    if (attempt === 1) await engine.admit.validate(admissionOf(target, options, "DELETE", undefined, live));
    const result = mayVanish(target, live)
      ? await remove(engine, entry, live, options)
      : await terminate(engine, target, entry, live, options);
    if (result !== undefined) return result;
    if (attempt === deleteAttempts)
      throw conflict(target, "the object is being changed too often to be deleted");
  }
}

function checkPreconditions(target: Target, live: ApiObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = live.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    throw conflict(
      target,
      `Precondition failed: UID in precondition: ${options.uid}, UID in object meta: ${uid}`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw conflict(
      target,
      `Precondition failed: ResourceVersion in precondition: ${options.resourceVersion}, ` +
        `ResourceVersion in object meta: ${resourceVersion}`,
    );
  }
}

async function remove(
  engine: Engine,
  entry: Entry,
  live: ApiObject,
  options: DeleteOptions,
): Promise<DeleteResult | undefined> {
  const uid = live.metadata.uid ?? "";
  if (options.dryRun) return { gone: true, body: entry.body, uid };
  const result = await commit(engine, { kind: "delete", key: entry.key, expected: entry.revision });
  return result.ok ? { gone: true, body: bodyAt(entry, result.revision), uid } : undefined;
}

async function terminate(
  engine: Engine,
  target: Target,
  entry: Entry,
  live: ApiObject,
  options: DeleteOptions,
): Promise<DeleteResult | undefined> {
  const uid = live.metadata.uid ?? "";
  if (live.metadata.deletionTimestamp !== undefined) return { gone: false, body: entry.body, uid };
  live.metadata.deletionTimestamp = timestamp(engine.clock);
  live.metadata.deletionGracePeriodSeconds = 0;
  target.resource.kind.markDeleted?.(live);
  if (live.metadata.generation !== undefined) live.metadata.generation++;
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
  const message = `Invalid value: ${JSON.stringify(text)}: must be "Background", "Foreground" or "Orphan"`;
  throw new StatusError("Invalid", `DeleteOptions is invalid: propagationPolicy: ${message}`, {
    kind: "DeleteOptions",
    causes: [{ reason: "FieldValueInvalid", message, field: "propagationPolicy" }],
  });
}
