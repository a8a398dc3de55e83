import { StatusError } from "../../base/status-error.ts";
import type { ApiObject } from "../../schema/kind.ts";

/**
 * Side effects of writing the objects of a kind, such as the allocation of service addresses. They are undone if the write fails.
 */
export interface StorageHooks {
  /**
   * Runs after validation and before the write: completes the object and allocates for it. Changes the object. A dry run allocates
   * nothing.
   *
   * @param live the object before the write; undefined for a new one.
   */
  beforeWrite(object: ApiObject, live: ApiObject | undefined, dryRun: boolean): Promise<PendingWrite>;
  /** Runs after the object was removed from the store. */
  afterDelete(object: ApiObject): Promise<void>;
}

/** The allocations of a write. The verb calls exactly one of the functions. */
export interface PendingWrite {
  /** Called after the write: releases allocations that the object no longer needs. */
  finish(): Promise<void>;
  /** Called if the object wasn't stored: releases the new allocations. */
  undo(): Promise<void>;
}

/** A write with its side effects. */
export interface HookedWrite {
  readonly object: ApiObject;
  /** The object before the write; undefined for a new one. */
  readonly live: ApiObject | undefined;
  readonly dryRun: boolean;
}

/** Runs a write with the side effects of its kind, if any. */
export function withHooks<T>(
  hooks: StorageHooks | undefined,
  writing: HookedWrite,
  write: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return hooks === undefined ? write() : between(hooks, writing, write);
}

/** Runs a write between the two parts of its side effects. */
async function between<T>(
  hooks: StorageHooks,
  { object, live, dryRun }: HookedWrite,
  write: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const prepared = await hooks.beforeWrite(object, live, dryRun);
  let stored: T | undefined;
  try {
    stored = await write();
  } catch (error) {
    // A write whose result is unknown keeps its allocations; unused ones are repaired later.
    if (!mayHaveHappened(error)) await prepared.undo();
    throw error;
  }
  await (stored === undefined ? prepared.undo() : prepared.finish());
  return stored;
}

/** Whether the result of a write is unknown. */
export function mayHaveHappened(error: unknown): boolean {
  return error instanceof StatusError && error.reason === "ServiceUnavailable";
}
