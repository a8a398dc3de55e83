import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock, Timer } from "../../src/base/time/clock.ts";
import { storeConformance, type StoreUnderTest } from "../../src/storage/conformance.ts";
import type { RequestedStamp } from "../../src/storage/stamp.ts";
import type { Store } from "../../src/storage/store.ts";

/** A clock that a test advances. */
export class ManualClock implements Clock {
  private time = 1_700_000_000_000;
  private readonly timers = new Set<{ due: number; task: () => void }>();

  now(): number {
    return this.time;
  }

  monotonicNow(): number {
    return this.time;
  }

  setTimer(task: () => void, delayMs: number): Timer {
    const timer = { due: this.time + delayMs, task };
    this.timers.add(timer);
    return { cancel: () => void this.timers.delete(timer) };
  }

  /** Advances the time and runs the timers that are due. */
  advance(ms: number): void {
    this.time += ms;
    const due = Array.from(this.timers).filter((timer) => timer.due <= this.time);
    for (const timer of due) if (this.timers.delete(timer)) timer.task();
  }
}

/** Creates a temporary folder. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "plinth-storage-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Declares a test for each conformance case.
 *
 * @param suite the cases; for an engine that uses classes of the built package, those of the package.
 * @param notApplicable names of exactly those cases that report that they don't apply to the engine.
 */
export function describeConformance(
  engine: string,
  open: () => Promise<StoreUnderTest>,
  notApplicable: readonly string[] = [],
  suite: typeof storeConformance = storeConformance,
): void {
  describe(`${engine} fulfils the store's contract`, () => {
    const skipped: string[] = [];
    for (const { name, run } of suite(open)) {
      it(name, async () => {
        if ((await run()) !== undefined) skipped.push(name);
      });
    }

    it("only the cases that don't apply to the engine are skipped", () => {
      expect(skipped).toEqual(notApplicable);
    });
  });
}

/**
 * Returns a function that opens a store in a new folder, for {@link describeConformance}.
 *
 * @param openStore opens the store of a folder, each time that a case needs one more over the same data.
 */
export function inFolder(
  openStore: (options: {
    dir: string;
    clock: ManualClock;
    stamp?: RequestedStamp | undefined;
  }) => Store | Promise<Store>,
): () => Promise<StoreUnderTest> {
  return async () => {
    const folder = temporaryFolder();
    const subject = await openSubject(async (options) => openStore({ dir: folder.path, ...options }));
    return {
      ...subject,
      async dispose() {
        await subject.dispose();
        folder.remove();
      },
    };
  };
}

/**
 * Opens a store, and returns it as the subject of conformance cases.
 *
 * @param connect opens the store, each time that a case needs one more over the same data.
 */
export async function openSubject(
  connect: (options: { clock: ManualClock; stamp: RequestedStamp | undefined }) => Promise<Store>,
): Promise<StoreUnderTest & { readonly another: () => Promise<Store> }> {
  const clock = new ManualClock();
  const stores: Store[] = [];
  const stamped = async (stamp?: RequestedStamp): Promise<Store> => {
    const store = await connect({ clock, stamp });
    stores.push(store);
    return store;
  };
  return {
    store: await stamped(),
    another: () => stamped(),
    stamped,
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    async dispose() {
      for (const store of stores) await store.close();
    },
  };
}

/** Returns a store over another one, which is closed with it. */
export function closedWith(store: Store, inner: Store): Store {
  const close = store.close.bind(store);
  store.close = async () => {
    await close();
    await inner.close();
  };
  return store;
}

/** Returns a function that opens a subject without stamps, which belong to a whole store; see {@link stampCases}. */
export function withoutStamps(open: () => Promise<StoreUnderTest>): () => Promise<StoreUnderTest> {
  return async () => {
    const { stamped: _, ...subject } = await open();
    return subject;
  };
}

/** Conformance cases that open several stores over the same data or use stamps. They don't apply to a store in memory. */
export const multipleStoreCases: readonly string[] = [
  "a condition holds against writers of other processes",
  "two stores over one set of data see one truth",
  "reads together see what others committed before, and those after it what came since",
  "syncs that begin together deliver what others committed before",
  "sync delivers what another store committed",
  "another store's commits arrive by themselves, in order with one's own",
  "a subscription that compaction overtakes hears every event whole, or ends",
  "another store's compaction is respected at once",
  "a store takes a stamp on, and is opened for no other label",
  "a stamp isn't seen, and takes no revision",
  "a store of a higher format isn't opened, one of a lower format is raised",
  "a store without a stamp is known by what it holds",
  "a store without a stamp that was used for several things is opened for none",
];

/** Those of them that use stamps. */
export const stampCases: readonly string[] = multipleStoreCases.slice(-5);
