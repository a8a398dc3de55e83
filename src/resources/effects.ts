import { StatusError } from "../base/status-error.ts";
import type { ApiObject } from "../schema/kind.ts";

/**
 * What writing the objects of a kind brings with it outside of the object, such as the addresses of services. Nothing of
 * it stays when the write doesn't come about.
 */
export interface Effects {
  /**
   * Completes an object that is valid and about to be stored, and takes what it needs. Changes the object. A dry run
   * takes nothing.
   *
   * @param live what the object replaces; undefined for a new one.
   */
  prepare(object: ApiObject, live: ApiObject | undefined, dryRun: boolean): Promise<Prepared>;
  /** The object is gone. */
  removed(object: ApiObject): Promise<void>;
}

/** What was taken for a write. One of the two is called. */
export interface Prepared {
  /** The object is stored; what it no longer needs is given back. */
  done(): Promise<void>;
  /** The object isn't stored; what was taken is given back. */
  undo(): Promise<void>;
}

/** A write that may have effects. */
export interface Writing {
  readonly object: ApiObject;
  /** What the object replaces; undefined for a new one. */
  readonly live: ApiObject | undefined;
  readonly dryRun: boolean;
}

/** Does a write with its effects, where its kind has some. */
export function withEffects<T>(
  effects: Effects | undefined,
  writing: Writing,
  write: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return effects === undefined ? write() : between(effects, writing, write);
}

/** Does a write between its effects' two parts. */
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
    // A write that may yet have come about keeps what it took; what nobody needs is found later.
    if (!mayHaveHappened(error)) await prepared.undo();
    throw error;
  }
  await (stored === undefined ? prepared.undo() : prepared.done());
  return stored;
}

/** Whether the store didn't say how a write ended. */
export function mayHaveHappened(error: unknown): boolean {
  return error instanceof StatusError && error.reason === "ServiceUnavailable";
}
