import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, readAll, remove, update } from "../../src/storage/conformance/support.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import type { Revision, Store } from "../../src/storage/store.ts";
import type { Dice } from "../support/dice.ts";

/** Options of {@link losePower}. */
export interface PowerLossOptions {
  /** An empty folder. */
  readonly folder: string;
  /** Number of images. */
  readonly images: number;
  readonly dice: Dice;
  /** Whether the meta page is written after everything else was synced; true by default. False is a broken store. */
  readonly isOrdered?: boolean;
}

/** The state of the store after a commit was synced to disk. */
interface Synced {
  readonly file: Buffer;
  readonly revision: Revision;
  readonly pairs: readonly (readonly [key: string, text: string | undefined])[];
}

/** A disk writes a sector as a whole or not at all. */
const sectorBytes = 512;
/** The first two pages of the file are overwritten last, after everything else was synced. */
const metaPages = 2;
const pageBytes = 8192;

/**
 * Builds the data files that a loss of power can leave behind, and opens each. A commit writes its pages, syncs, and then writes one of
 * the two meta pages. So if the power fails during the commit after a synced state, any sectors of the new pages may be
 * on the disk, in any order; and if it fails at its end, all of them and a part of the meta page.
 *
 * @returns the number of images that had the state before, and the one after the interrupted commit.
 * @throws {Error} if an image can't be opened, fails the check, or has neither of the two states.
 */
export async function losePower({
  folder,
  images,
  dice,
  isOrdered = true,
}: PowerLossOptions): Promise<{ before: number; after: number }> {
  const commits = singleCommits(await syncedStates(path.join(folder, "live"), dice));
  const found = { before: 0, after: 0 };
  const dir = path.join(folder, "image");
  for (let image = 0; image < images; image++) {
    const [before, after] = dice.pick(commits);
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir);
    writeFileSync(path.join(dir, "data.mdb"), imageOf(before.file, after.file, dice, isOrdered));
    const name = `image ${image}, in the commit after revision ${before.revision}`;
    found[await stateIn(dir, name, before, after)]++;
  }
  return found;
}

/** Writes objects, and returns the file and the content after each of some commits. */
async function syncedStates(dir: string, dice: Dice): Promise<Synced[]> {
  const store = openLmdbStore({ dir, clock: systemClock });
  const revisions = new Map<string, Revision>();
  const states: Synced[] = [];
  for (let commit = 0; commit < 60; commit++) {
    const keys = new Set(Array.from({ length: 1 + dice.below(12) }, () => `/g/r/n/k${dice.below(150)}`));
    await Promise.all(
      [...keys].map(async (key) => {
        const text = `${commit} `.repeat(dice.chance(0.1) ? 9000 : 200);
        const revision = revisions.get(key);
        if (revision === undefined) revisions.set(key, await create(store, key, text));
        else if (dice.chance(0.3)) {
          revisions.delete(key);
          await remove(store, key, revision);
        } else revisions.set(key, await update(store, key, revision, text));
      }),
    );
    if (commit % 10 === 9) await store.compact(systemClock.now() + 1000);
    states.push(await syncedState(store, dir));
  }
  await store.close();
  return states;
}

async function syncedState(store: Store, dir: string): Promise<Synced> {
  return {
    file: readFileSync(path.join(dir, "data.mdb")),
    revision: await store.latestRevision(),
    pairs: (await readAll(store, "/g/")).pairs,
  };
}

/** Offset of the number of the transaction in a meta page. */
const transactionAt = 152;

/** The pairs of successive states with one commit between them. */
function singleCommits(states: readonly Synced[]): (readonly [before: Synced, after: Synced])[] {
  const commitOf = ({ file }: Synced) =>
    Math.max(...[0, pageBytes].map((at) => Number(file.readBigUInt64LE(at + transactionAt))));
  return states.flatMap((before, index) => {
    const after = states[index + 1];
    return after !== undefined && commitOf(after) === commitOf(before) + 1 ? [[before, after] as const] : [];
  });
}

/** The file before a commit, with some of the sectors that the commit changes. */
function imageOf(before: Buffer, after: Buffer, dice: Dice, isOrdered: boolean): Buffer {
  const isSynced = dice.chance(0.3);
  const share = isSynced && isOrdered ? 1 : dice.pick([0.1, 0.5, 0.9, 1]);
  const length = dice.chance(0.5) || share === 1 ? Math.max(before.length, after.length) : before.length;
  const image = Buffer.alloc(length);
  before.copy(image);
  for (let at = metaPages * pageBytes; at < length; at += sectorBytes) {
    if (dice.chance(share)) after.copy(image, at, at, at + sectorBytes);
  }
  if (!isSynced) return image;
  for (let at = 0; at < metaPages * pageBytes; at += sectorBytes) {
    if (dice.chance(0.5)) after.copy(image, at, at, at + sectorBytes);
  }
  return image;
}

/** Opens an image. */
async function stateIn(
  dir: string,
  name: string,
  before: Synced,
  after: Synced,
): Promise<"before" | "after"> {
  const store = openLmdbStore({ dir, clock: systemClock });
  try {
    const problems = await store.check();
    if (problems.length > 0) throw new Error(`${name} is damaged: ${problems.join("; ")}`);
    const revision = await store.latestRevision();
    const state = revision === before.revision ? before : after;
    const { pairs } = await readAll(store, "/g/");
    if (revision !== state.revision || JSON.stringify(pairs) !== JSON.stringify(state.pairs))
      throw new Error(`${name} has another content at revision ${revision}`);
    await create(store, "/g/r/n/later", "1");
    return state === before ? "before" : "after";
  } finally {
    await store.close();
  }
}
