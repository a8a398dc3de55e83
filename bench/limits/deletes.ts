/**
 * The limit of deletions: commits the same number of deletes to the bare engine, in batches like those of the
 * embedded engine.
 */
import { serveParent } from "../serve-parent.ts";
import { batchWrites, openEngine, type Root } from "./batches.ts";

export interface DeletesPlan {
  readonly dir: string;
  readonly sample: Buffer;
}

let root: Root | undefined;
let stored: Buffer;

const handlers = { open, fill, remove };
export type DeletesApi = typeof handlers;
serveParent(handlers);

function open({ dir, sample }: DeletesPlan): void {
  root = openEngine(dir);
  stored = sample;
}

async function fill({ count }: { readonly count: number }): Promise<void> {
  await root!.transaction(() => {
    for (let index = 0; index < count; index++) root!.putSync(`/records/${index}`, Buffer.from(stored));
  });
}

async function remove({ count }: { readonly count: number }): Promise<void> {
  const batches: Promise<void>[] = [];
  for (let from = 0; from < count; from += batchWrites) {
    const to = Math.min(count, from + batchWrites);
    const batch = root!.transaction(() => {
      for (let index = from; index < to; index++) root!.removeSync(`/records/${index}`);
    });
    batches.push(batch);
    // No more than two batches are under way.
    if (batches.length > 1) await batches.at(-2);
  }
  await Promise.all(batches);
}
