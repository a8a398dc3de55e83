import fs, { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, readAll, remove, until, update } from "../../src/storage/conformance/support.ts";
import { type LmdbStore, openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import type { Revision } from "../../src/storage/store.ts";
import { ManualClock } from "../storage/support.ts";
import type { Dice } from "../support/dice.ts";

/** Options of {@link losePowerWithDeferredSyncs}. */
export interface DeferredPowerLossOptions {
  /** An empty folder. */
  readonly folder: string;
  /** Number of images. */
  readonly images: number;
  readonly dice: Dice;
  /** Whether an image has at least what was synced; true by default. False is a disk that drops synced sectors. */
  readonly keepsSyncs?: boolean;
}

type Pairs = readonly (readonly [key: string, text: string | undefined])[];

/** What an image must have. */
interface Moment {
  /** Contents of the disk in the order of the writes: each sector of an image is from one of them. */
  readonly versions: readonly Buffer[];
  /** The states from the last one with a synced write to the newest. */
  readonly states: readonly Pairs[];
  /** Revision of the newest state. */
  readonly newest: Revision;
}

const sectorBytes = 512;
const pageBytes = 8192;
const collections = ["/g/leases/n/", "/g/objects/n/"] as const;
const intervalMs = 1000;
const deferredSyncMs = new Map([["/g/leases/", intervalMs]]);

/**
 * A data file as the disk may have it: the content of the last sync, of which each sector may since have been overwritten by any of the
 * later versions. The syncs of LMDB's own commits aren't visible here and count when the commit is acknowledged.
 */
class Disk {
  versions: Buffer[];
  /** Called when a sync begins. */
  onSync = (): void => undefined;
  private readonly original = { async: fs.fdatasync, sync: fs.fdatasyncSync };

  constructor(private readonly file: string) {
    this.versions = [readFileSync(file)];
    const { original } = this;
    const patched = (descriptor: number, done: (error: NodeJS.ErrnoException | null) => void) => {
      const content = this.written();
      this.onSync();
      original.async(descriptor, (error) => {
        this.dropBefore(content);
        done(error);
      });
    };
    fs.fdatasync = Object.assign(patched, { __promisify__: original.async.__promisify__ });
    fs.fdatasyncSync = (descriptor) => {
      const content = this.written();
      this.onSync();
      original.sync(descriptor);
      this.dropBefore(content);
    };
    syncBuiltinESMExports();
  }

  /** Adds the present content, and returns it. */
  written(): Buffer {
    const content = readFileSync(this.file);
    if (!this.versions.at(-1)!.equals(content)) this.versions.push(content);
    return this.versions.at(-1)!;
  }

  private dropBefore(content: Buffer): void {
    const index = this.versions.indexOf(content);
    if (index > 0) this.versions.splice(0, index);
  }

  /** Everything is on the disk. */
  synced(): void {
    this.versions = [readFileSync(this.file)];
  }

  stop(): void {
    fs.fdatasync = this.original.async;
    fs.fdatasyncSync = this.original.sync;
    syncBuiltinESMExports();
  }
}

/**
 * Builds data files that a loss of power can leave behind while syncs are deferred, and opens each; of some, the power fails again while
 * they are opened.
 *
 * @returns the number of images that had the newest state, and of those that had an older one.
 * @throws {Error} if an image can't be opened, fails the check, lacks a write that was synced, or continues with a revision that was
 *   assigned before.
 */
export async function losePowerWithDeferredSyncs({
  folder,
  images,
  dice,
  keepsSyncs = true,
}: DeferredPowerLossOptions): Promise<{ newest: number; older: number }> {
  const moments = await momentsOf(path.join(folder, "live"), dice);
  const found = { newest: 0, older: 0 };
  const dir = path.join(folder, "image");
  for (let image = 0; image < images; image++) {
    const moment = dice.pick(moments);
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir);
    const file = path.join(dir, "data.mdb");
    const versions = keepsSyncs ? moment.versions : [moments[0]!.versions[0]!, ...moment.versions];
    writeFileSync(file, imageOf(versions, dice));
    const name = `image ${image}, after revision ${moment.newest}`;
    if (dice.chance(0.3)) {
      const disk = new Disk(file);
      try {
        await openLmdbStore({ dir, clock: systemClock }).close();
        disk.written();
      } finally {
        disk.stop();
      }
      rmSync(dir, { recursive: true, force: true });
      mkdirSync(dir);
      writeFileSync(file, imageOf(disk.versions, dice));
    }
    found[await stateIn(dir, name, moment)]++;
  }
  return found;
}

/** Writes objects of both collections, and returns moments during and after the commits and syncs. */
async function momentsOf(dir: string, dice: Dice): Promise<Moment[]> {
  const clock = new ManualClock();
  const store = openLmdbStore({ dir, clock, deferredSyncMs });
  // The first commit begins the deferral, with a sync of LMDB's own.
  const revisions = new Map([[`${collections[0]}k0`, await create(store, `${collections[0]}k0`, "first")]]);
  await create(store, "/g/objects/n/synced", "1");
  const disk = new Disk(path.join(dir, "data.mdb"));
  const moments: Moment[] = [];
  let states: Pairs[] = [(await readAll(store, "/g/")).pairs];
  let newest = store.latestRevision() as Revision;
  const record = (versions: readonly Buffer[]) => moments.push({ versions: [...versions], states, newest });
  disk.onSync = () => record(disk.versions);
  try {
    for (let commit = 0; commit < 120; commit++) {
      const isDeferred = dice.chance(0.7);
      const before = [...disk.versions];
      await writeSome(store, collections[isDeferred ? 0 : 1], revisions, commit, dice);
      if (commit % 20 === 19) await store.compact(clock.now() + 1000);
      disk.written();
      const [old, written] = [before.at(-1)!, disk.versions.at(-1)!];
      // During a synced commit everything but the meta page that it writes may be on the disk.
      if (!isDeferred && commitsOf(written) === commitsOf(old) + 1)
        record([...before, withMetaOf(old, written)]);
      if (!isDeferred) disk.synced();
      const { pairs } = await readAll(store, "/g/");
      states = isDeferred ? [...states, pairs] : [pairs];
      newest = store.latestRevision() as Revision;
      record(disk.versions);
      if (!dice.chance(0.1)) continue;
      clock.advance(intervalMs);
      await until(() => (store.usage().unsyncedMs ?? 0) === 0, "everything is synced");
      states = [pairs];
      record(disk.versions);
    }
    return moments;
  } finally {
    await store.close();
    disk.stop();
  }
}

/** Offset of the number of the transaction in a meta page. */
const transactionAt = 152;

/** Returns the number of the last commit of a file. */
function commitsOf(file: Buffer): number {
  return Math.max(...[0, pageBytes].map((at) => Number(file.readBigUInt64LE(at + transactionAt))));
}

/** A file with the committed parts of the meta pages of another one. */
function withMetaOf(meta: Buffer, file: Buffer): Buffer {
  const copy = Buffer.from(file);
  for (const at of [0, pageBytes]) meta.copy(copy, at, at, at + sectorBytes);
  return copy;
}

async function writeSome(
  store: LmdbStore,
  prefix: string,
  revisions: Map<string, Revision>,
  commit: number,
  dice: Dice,
): Promise<void> {
  const keys = new Set(Array.from({ length: 1 + dice.below(8) }, () => `${prefix}k${dice.below(60)}`));
  await Promise.all(
    Array.from(keys, async (key) => {
      const text = `${commit} `.repeat(dice.chance(0.1) ? 9000 : 200);
      const revision = revisions.get(key);
      if (revision === undefined) revisions.set(key, await create(store, key, text));
      else if (dice.chance(0.2)) {
        revisions.delete(key);
        await remove(store, key, revision);
      } else revisions.set(key, await update(store, key, revision, text));
    }),
  );
}

/** A file of which each sector has one of its versions; more often than by chance the newest meta pages and the oldest of the others. */
function imageOf(versions: readonly Buffer[], dice: Dice): Buffer {
  const first = versions[0]!;
  const newest = versions.at(-1)!;
  const image = Buffer.alloc(dice.chance(0.5) ? newest.length : first.length);
  const share = dice.pick([0, 0.1, 0.5, 0.9, 1]);
  const metaShare = dice.pick([0.5, 1, 1]);
  for (let at = 0; at < image.length; at += sectorBytes) {
    const isMeta = at < 2 * pageBytes;
    const isNewest = dice.chance(isMeta ? metaShare : share);
    const source = isNewest ? newest : dice.chance(0.5) ? first : dice.pick(versions);
    if (at < source.length) source.copy(image, at, at, at + sectorBytes);
  }
  return image;
}

/** Opens an image. */
async function stateIn(dir: string, name: string, moment: Moment): Promise<"newest" | "older"> {
  const { states, newest } = moment;
  const store = openLmdbStore({ dir, clock: systemClock });
  try {
    const problems = await store.check();
    if (problems.length > 0) throw new Error(`${name} is damaged: ${problems.join("; ")}`);
    const { pairs } = await readAll(store, "/g/");
    const content = JSON.stringify(pairs);
    const index = states.findLastIndex((state) => JSON.stringify(state) === content);
    if (index < 0) throw new Error(`${name} lacks a write that was synced, or has a state that never was`);
    const isNewest = index === states.length - 1;
    const revision = store.latestRevision() as Revision;
    if (revision < newest || (!isNewest && revision === newest))
      throw new Error(`${name} continues at revision ${revision}, which was assigned`);
    if (revision > newest && store.floor() !== revision) throw new Error(`${name} has history before a gap`);
    await create(store, "/g/objects/n/later", "1");
    return isNewest ? "newest" : "older";
  } finally {
    await store.close();
  }
}
