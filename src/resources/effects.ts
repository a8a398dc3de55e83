import { StatusError } from "../base/status-error.ts";
import type { ApiObject } from "../schema/kind.ts";

/**
 * Side effects of writing the objects of a kind, such as allocating the addresses of services. They are undone when the
 * write fails.
 */
export interface Effects {
  /**
   * Runs after validation and before the write: completes the object and allocates what it needs. Changes the object. A dry
   * run allocates nothing.
   *
   * @param live what the object replaces; undefined for a new one.
   */
  prepare(object: ApiObject, live: ApiObject | undefined, dryRun: boolean): Promise<Prepared>;
  /** Runs after the object was removed from the store. */
  removed(object: ApiObject): Promise<void>;
}

/** What was allocated for a write. Exactly one of the two is called. */
export interface Prepared {
  /** The object is stored: releases what it no longer needs. */
  done(): Promise<void>;
  /** The object isn't stored: releases what was allocated. */
  undo(): Promise<void>;
}

/** A write with its side effects. */
export interface Writing {
  readonly object: ApiObject;
  /** What the object replaces; undefined for a new one. */
  readonly live: ApiObject | undefined;
  readonly dryRun: boolean;
}

/** Runs a write with the side effects of its kind, if any. */
export function withEffects<T>(
  effects: Effects | undefined,
  writing: Writing,
  write: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return effects === undefined ? write() : between(effects, writing, write);
}

/** Runs a write between the two parts of its side effects. */
async function between<T>(
  effects: Effects,
  { object, live, dryRun }: Writing,
  write: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const prepared = await effects.prepare(object, live, dryRun);
  let stored: T | undefined;
  try {
    stored = await write();
  } catch (error) {
    // A write whose result is unknown keeps its allocations; unused ones are repaired later.
    if (!mayHaveHappened(error)) await prepared.undo();
    throw error;
  }
  await (stored === undefined ? prepared.undo() : prepared.done());
  return stored;
}

/** Whether the result of a write is unknown. */
function mayHaveHappened(error: unknown): boolean {
  return error instanceof StatusError && error.reason === "ServiceUnavailable";
}
