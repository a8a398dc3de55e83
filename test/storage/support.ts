import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock, Timer } from "../../src/base/clock.ts";
import { storeConformance, type StoreUnderTest } from "../../src/storage/conformance.ts";

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

  /** Moves time on and runs what has become due. */
  advance(ms: number): void {
    this.time += ms;
    const due = Array.from(this.timers).filter((timer) => timer.due <= this.time);
    for (const timer of due) if (this.timers.delete(timer)) timer.task();
  }
}

/** A folder of its own under the system's temporary folder. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "plinth-storage-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/**
 * Declares one test for each case of the store's contract.
 *
 * @param suite the cases; those of the built package for an engine that is made with its classes.
 * @param notApplicable names of the cases that say of themselves that they don't apply to the engine: just these.
 */
export function describeConformance(
  engine: string,
  open: () => Promise<StoreUnderTest>,
  notApplicable: readonly string[] = [],
  suite: typeof storeConformance = storeConformance,
): void {
  describe(`${engine} keeps the store's contract`, () => {
    const saidNotApplicable: string[] = [];
    for (const { name, run } of suite(open)) {
      it(name, async () => {
        if ((await run()) !== undefined) saidNotApplicable.push(name);
      });
    }

    it("every case applies but those about what the engine can't do", () => {
      expect(saidNotApplicable).toEqual(notApplicable);
    });
  });
}
