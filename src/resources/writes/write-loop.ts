import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Entry } from "../../storage/store.ts";
import { conflict, notFound } from "../engine/engine.ts";
import { keyOf } from "../registry/registry.ts";
import type { WriteContext } from "../input/input.ts";

/** Attempts of a write while other writes change the object. */
const conflictAttempts = 10;
/** Attempts of a write while other writes create the missing object first. */
const createAttempts = 10;

/** One write of an object, as {@link writeObject} attempts it. */
export interface ObjectWrite<R> {
  /** Writes the object over its stored entry; undefined if another write came first. */
  replace(entry: Entry): Promise<R | undefined>;
  /** Writes the missing object; by default it is not found. */
  readonly create?: (() => Promise<R>) | undefined;
}

/** The stored entry of the object of a write. */
export function storedEntry({ engine, target }: WriteContext): MaybePromise<Entry | undefined> {
  return engine.store.get(keyOf(target.resource, target.namespace, target.name));
}

/**
 * Writes an object. After a conflicting write it reads the object and attempts the write again.
 *
 * @param stored the stored entry, just read; undefined if there is none.
 * @param busyMessage message of the Conflict after the last attempt.
 * @throws {StatusError} NotFound, Conflict, AlreadyExists, or an error of the write.
 */
export async function writeObject<R>(
  context: WriteContext,
  stored: MaybePromise<Entry | undefined>,
  write: ObjectWrite<R>,
  busyMessage = changedMessage,
): Promise<R> {
  const { engine, target, options } = context;
  let entry = stored instanceof Promise ? await stored : stored;
  for (let conflicts = 0, collisions = 0; ;) {
    const wait = entry && options.pace?.decodes(entry.body);
    if (wait !== undefined) {
      await wait;
      // A write during the wait would be a conflict.
      entry = await engine.store.get(entry!.key);
    }
    if (entry === undefined) {
      if (write.create === undefined) throw notFound(target);
      try {
        return await write.create();
      } catch (error) {
        const collided = error instanceof StatusError && error.reason === "AlreadyExists";
        if (!collided || ++collisions === createAttempts) throw error;
      }
    } else {
      const result = await write.replace(entry);
      if (result !== undefined) return result;
      if (++conflicts === conflictAttempts) throw conflict(target, busyMessage);
    }
    const read = storedEntry(context);
    entry = read instanceof Promise ? await read : read;
  }
}

/** Message of the Conflict of a write whose object was changed by another one. */
export const changedMessage =
  "the object has been modified; please apply your changes to the latest version and try again";
