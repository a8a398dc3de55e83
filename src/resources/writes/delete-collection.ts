import { StatusError } from "../../base/status-error.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { Entry } from "../../storage/store.ts";
import { deleteObject, warnOfOrphans, type DeleteOptions } from "./delete.ts";
import type { Engine, Target } from "../engine/engine.ts";
import { listObjects, type ListEnd, type ListOptions } from "../reads/list.ts";
import { namesOf } from "../registry/registry.ts";

/** Concurrent deletions, whose writes share a sync. */
const parallelDeletes = 128;

/**
 * Deletes the selected objects of a collection (spec: conventions 4.2). Objects that are deleted by others meanwhile count as deleted.
 *
 * @returns the continue position of a limited deletion.
 */
export async function deleteCollection(
  engine: Engine,
  target: Target,
  list: ListOptions,
  options: DeleteOptions,
): Promise<ListEnd> {
  warnOfOrphans(target, options);
  const pages = listObjects(engine, target, list);
  for (;;) {
    const step = await pages.next();
    if (step.done === true) return step.value;
    await deleteAll(engine, target, step.value.entries, options);
  }
}

/** Deletes objects concurrently; starts no further deletion after a failure. */
async function deleteAll(
  engine: Engine,
  target: Target,
  entries: readonly Entry[],
  options: DeleteOptions,
): Promise<void> {
  const yieldIfDue = createYielder();
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const work = async (): Promise<void> => {
    for (let entry = entries[next++]; entry !== undefined; entry = entries[next++]) {
      try {
        await deleteOne(engine, { ...target, ...namesOf(entry.key) }, options);
      } catch (error) {
        next = entries.length;
        failure ??= { error };
      }
    }
  };
  const workers: Promise<void>[] = [];
  for (let count = Math.min(parallelDeletes, entries.length); count > 0; count--) {
    workers.push(work());
    await yieldIfDue();
  }
  await Promise.all(workers);
  if (failure !== undefined) throw failure.error;
}

async function deleteOne(engine: Engine, target: Target, options: DeleteOptions): Promise<void> {
  try {
    await deleteObject(engine, target, options);
  } catch (error) {
    if (error instanceof StatusError && error.reason === "NotFound") return;
    throw error;
  }
}
