import { StatusError } from "../base/status-error.ts";
import { deleteObject, type DeleteOptions } from "./delete.ts";
import type { Engine, Target } from "./engine.ts";
import { listObjects, type ListEnd, type ListOptions } from "./list.ts";
import { namesOf } from "./registry.ts";

/** How many objects are being deleted at a time, so that their writes share a sync. */
const parallelDeletes = 16;

/**
 * Deletes the selected objects of a collection (spec: conventions 4.2). An object that another caller deletes first
 * counts as deleted.
 *
 * @returns where a limited deletion goes on.
 */
export async function deleteCollection(
  engine: Engine,
  target: Target,
  list: ListOptions,
  options: DeleteOptions,
): Promise<ListEnd> {
  const pages = listObjects(engine, target, list);
  for (;;) {
    const step = await pages.next();
    if (step.done === true) return step.value;
    for (let at = 0; at < step.value.entries.length; at += parallelDeletes) {
      const some = step.value.entries.slice(at, at + parallelDeletes);
      await Promise.all(
        some.map((entry) => deleteOne(engine, { ...target, ...namesOf(entry.key) }, options)),
      );
    }
  }
}

async function deleteOne(engine: Engine, target: Target, options: DeleteOptions): Promise<void> {
  try {
    await deleteObject(engine, target, options);
  } catch (error) {
    if (error instanceof StatusError && error.reason === "NotFound") return;
    throw error;
  }
}
