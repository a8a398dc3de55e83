import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MergedWatch, type MergedRun, type MergeOptions } from "../../../src/resources/reads/merged-watch.ts";
import type { WatchSource } from "../../../src/resources/registry/versioned-storage.ts";
import type { WatchChange, WatchObserver } from "../../../src/resources/registry/watch-change.ts";
import { RevisionCompactedError, type Entry, type Revision } from "../../../src/storage/store.ts";
import { ManualClock } from "../../storage/support.ts";

const at = (revision: number) => revision as Revision;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function change(revision: number, bytes = 10): WatchChange {
  const key = `/g/r/n/${revision}`;
  const entry: Entry = {
    key,
    revision: at(revision),
    header: Buffer.from("[]"),
    body: Buffer.alloc(bytes),
    revisionAt: 0,
  };
  return { type: "ADDED", event: { key, revision: at(revision), entry, previous: undefined } };
}
const changes = (...revisions: number[]) => revisions.map((revision) => change(revision));

/** A source whose events and position the test sets. */
class ManualSource {
  observer: WatchObserver | undefined;
  position = at(0);
  closed = 0;
  synced = 0;
  /** Called by `sync`. */
  onSync: () => Revision | Promise<Revision> = () => this.position;

  readonly subscribe: WatchSource = (observer) => {
    this.observer = observer;
    const position = () => this.position;
    return {
      get position() {
        return position();
      },
      sync: () => {
        this.synced++;
        return this.onSync();
      },
      close: () => void this.closed++,
    };
  };

  send(list: readonly WatchChange[], upTo: number = list.at(-1)?.event.revision ?? 0): void {
    this.position = at(upTo);
    this.observer!.changes(list, at(upTo));
  }
}

let sources: ManualSource[];
let clock: ManualClock;
let runs: MergedRun[];
let upTos: number[];
let ends: [string, number | undefined][];
let merged: MergedWatch;

function start(count: number, options: Partial<MergeOptions> = {}, drained?: () => Promise<void>): void {
  sources = Array.from({ length: count }, () => new ManualSource());
  const observer = {
    changes: (some: readonly MergedRun[], upTo: Revision) => {
      runs.push(...some);
      upTos.push(upTo);
    },
    ended: (error: Error, source: number | undefined) => void ends.push([error.message, source]),
    ...(drained === undefined ? {} : { drained }),
  };
  merged = new MergedWatch({ after: at(0), latest: at(0), clock, ...options }, observer, count);
  merged.start(sources.map(({ subscribe }) => subscribe));
}
const delivered = () =>
  runs.map((run) => [run.source, run.changes.map(({ event }) => event.revision), run.complete]);

beforeEach(() => {
  clock = new ManualClock();
  runs = [];
  upTos = [];
  ends = [];
});
afterEach(() => merged.close());

describe("the order of several sources", () => {
  test("changes wait until every other source has reached their revision", async () => {
    start(2);
    sources[0]!.send(changes(3, 5));
    await turn();
    expect([delivered(), merged.position]).toEqual([[], 0]);
    sources[1]!.send(changes(4));
    await turn();
    expect(delivered()).toEqual([
      [0, [3], true],
      [1, [4], true],
    ]);
    expect([upTos, merged.position]).toEqual([[4], 4]);
    sources[1]!.position = at(9);
    await turn();
    expect(delivered().slice(2)).toEqual([[0, [5], true]]);
    expect(merged.position).toBe(5);
  });

  test("equal revisions come in the order of the sources, and only the last run is complete", async () => {
    start(3);
    sources[2]!.send(changes(1, 2));
    sources[0]!.send(changes(2, 3));
    sources[1]!.send(changes(2));
    sources[1]!.position = at(3);
    sources[2]!.position = at(3);
    await turn();
    expect(delivered()).toEqual([
      [2, [1], true],
      [0, [2], false],
      [1, [2], false],
      [2, [2], true],
      [0, [3], true],
    ]);
  });

  test("a batch that isn't split is passed on as the same array, and equal parts are the same array", async () => {
    const whole = changes(1, 2);
    const split = changes(3, 5);
    const second = changes(4);
    start(2);
    const parts: (readonly WatchChange[])[][] = [];
    for (let round = 0; round < 2; round++) {
      runs = [];
      sources[0]!.send(whole);
      sources[0]!.send(split);
      sources[1]!.send(second, 9);
      await turn();
      parts.push(runs.map((run) => run.changes));
      start(2);
    }
    expect(parts[0]![0]).toBe(whole);
    expect(parts[0]!.map((part, index) => part === parts[1]![index])).toEqual([true, true, true, true]);
  });
});

describe("a source that is behind", () => {
  test("is synchronized once it doesn't catch up by itself", async () => {
    start(2);
    sources[1]!.onSync = () => (sources[1]!.position = at(7));
    sources[0]!.send(changes(7));
    await turn();
    expect([sources[1]!.synced, delivered()]).toEqual([0, []]);
    for (let turns = 0; turns < 20; turns++) await turn();
    expect([sources[0]!.synced, sources[1]!.synced, delivered()]).toEqual([0, 1, [[0, [7], true]]]);
  });

  test("isn't synchronized while it reads the history, and goes on with its portions", async () => {
    start(2, { latest: at(5) });
    sources[0]!.send(changes(3), 6);
    for (let turns = 0; turns < 20; turns++) await turn();
    expect([sources[1]!.synced, delivered()]).toEqual([0, []]);
    // It becomes live without a change.
    sources[1]!.position = at(6);
    clock.advance(50);
    await turn();
    expect(delivered()).toEqual([[0, [3], true]]);
  });

  test("gets its next portion of history when the last one is delivered and the client has read it", async () => {
    const read: (() => void)[] = [];
    start(2, { latest: at(100) }, () => new Promise((resolve) => read.push(resolve)));
    sources[0]!.send(changes(3));
    let continued = false;
    const next = sources[0]!.observer!.drained!().then(() => (continued = true));
    await turn();
    expect([continued, read.length]).toEqual([false, 0]);
    sources[1]!.send([], 3);
    await turn();
    expect([continued, read.length]).toEqual([false, 1]);
    read[0]!();
    await next;
    expect(continued).toBe(true);
  });

  test("ends the watch when its synchronization fails", async () => {
    start(2);
    sources[1]!.onSync = () => Promise.reject(new Error("unreachable"));
    sources[0]!.send(changes(7));
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(ends).toEqual([["unreachable", 1]]);
  });

  test("ends the watch when too many bytes of others wait for it, but not for their history", async () => {
    start(2, { maxBytes: 1000 });
    sources[0]!.send([change(1, 2000)]);
    const held = sources[0]!.observer!.drained!();
    for (let turns = 0; turns < 3; turns++) await turn();
    expect(ends).toEqual([]);
    sources[1]!.send([], 1);
    await held;
    sources[0]!.send([change(2, 2000)]);
    for (let turns = 0; turns < 3; turns++) await turn();
    expect(ends).toEqual([[expect.stringContaining("waited too long"), undefined]]);
    expect(sources.map(({ closed }) => closed)).toEqual([1, 1]);
  });
});

describe("the end", () => {
  test("of one source is the end of all, after the changes that are complete", async () => {
    start(2);
    sources[0]!.send(changes(1, 2));
    sources[1]!.position = at(1);
    sources[1]!.observer!.ended(new RevisionCompactedError(at(1), at(5)));
    expect(delivered()).toEqual([[0, [1], true]]);
    expect(ends).toEqual([[expect.stringContaining("no longer retained"), 1]]);
    sources[0]!.send(changes(3));
    sources[1]!.position = at(9);
    await turn();
    expect([runs.length, merged.position]).toEqual([1, 1]);
  });

  test("closes the sources once, and releases those that wait for their delivery", async () => {
    start(2);
    sources[0]!.send(changes(1));
    const held = sources[0]!.observer!.drained!();
    merged.close();
    merged.close();
    await held;
    expect(sources.map(({ closed }) => closed)).toEqual([1, 1]);
    await turn();
    expect([delivered(), ends]).toEqual([[], []]);
  });

  test("of a source during its subscription closes the others", () => {
    start(1);
    const other = new ManualSource();
    const failing: WatchSource = () => {
      throw new Error("no");
    };
    merged = new MergedWatch(
      { after: at(0), latest: at(0), clock },
      { changes: () => undefined, ended: () => undefined },
      2,
    );
    expect(() => merged.start([other.subscribe, failing])).toThrow("no");
    expect(other.closed).toBe(1);
  });
});
