import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  create,
  draft,
  readAll,
  record,
  remove,
  textOf,
  update,
} from "../../../src/storage/conformance/support.ts";
import { endHistory, keepHistory, type HistoryOptions } from "../../../src/storage/history/history-store.ts";
import { createMemoryStore, type MemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { CollectionRetention, Version } from "../../../src/storage/store-history.ts";
import {
  RevisionCompactedError,
  type Origin,
  type Revision,
  type Store,
} from "../../../src/storage/store.ts";
import { ManualClock } from "../support.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const collection = "/g/r/";
const keyOf = (name: string) => `${collection}n/${name}`;

interface Subject {
  readonly clock: ManualClock;
  /** The store without the history. */
  readonly inner: MemoryStore;
  readonly store: Store;
  readonly failures: unknown[];
}

async function open(options: Partial<HistoryOptions> = {}, over?: Subject): Promise<Subject> {
  const clock = over?.clock ?? new ManualClock();
  const inner = over?.inner ?? createMemoryStore({ clock });
  const failures: unknown[] = [];
  const store = await keepHistory(inner, {
    clock,
    collections: new Map([[collection, { ms: hourMs }]]),
    drops: true,
    failed: (error) => failures.push(error),
    ...options,
  });
  return { clock, inner, store, failures };
}

const keeping = (retention: CollectionRetention): Partial<HistoryOptions> => ({
  collections: new Map([[collection, retention]]),
});

/** Drops the store's own past up to now. */
async function forget({ clock, inner }: Subject): Promise<void> {
  clock.advance(1000);
  await inner.compact(clock.now());
}

async function versionsOf(store: Store, key: string): Promise<Version[]> {
  const { versions, next } = await store.history!.versions(key, { limit: 100 });
  expect(next).toBeUndefined();
  return [...versions];
}

const shown = (versions: readonly Version[]) =>
  versions.map(({ revision, deleted, previous }) => `${previous}>${revision}${deleted ? " deleted" : ""}`);

const origin = (fields: Partial<Origin> = {}): Origin => ({
  user: "mara",
  manager: "kubectl",
  verb: "apply",
  requestId: "0c0d7b5e-1f2a-4f5e-8a4b-0123456789ab",
  time: 1_700_000_000_123,
  ...fields,
});

describe("the versions of a key", () => {
  it("are listed newest first, also after the store's own past is gone, and their contents can be read", async () => {
    const subject = await open();
    const { store } = subject;
    const first = await create(store, keyOf("x"), "1");
    await create(store, keyOf("xy"), "other");
    const second = await update(store, keyOf("x"), first, "2");
    const third = await remove(store, keyOf("x"), second);
    const fourth = await create(store, keyOf("x"), "3");
    await forget(subject);
    const versions = await versionsOf(store, keyOf("x"));
    expect(shown(versions)).toEqual([
      `0>${fourth}`,
      `${second}>${third} deleted`,
      `${first}>${second}`,
      `0>${first}`,
    ]);
    const texts: unknown[] = [];
    for (const { revision } of versions) texts.push(textOf(await store.get(keyOf("x"), revision)));
    expect(texts).toEqual(["3", undefined, "2", "1"]);
  });

  it("are listed in pages", async () => {
    const { store } = await open();
    let revision = await create(store, keyOf("x"), "0");
    const expected = [revision];
    for (let i = 1; i < 10; i++)
      expected.unshift((revision = await update(store, keyOf("x"), revision, `${i}`)));
    const heard: Revision[] = [];
    let next: string | undefined;
    do {
      const page = await store.history!.versions(keyOf("x"), { limit: 3, after: next });
      expect(page.versions.length).toBeLessThanOrEqual(3);
      heard.push(...page.versions.map((version) => version.revision));
      next = page.next;
    } while (next !== undefined);
    expect(heard).toEqual(expected);
  });

  it("begin with the value that the key had when its history began, without an origin", async () => {
    const clock = new ManualClock();
    const inner = createMemoryStore({ clock });
    const before = await create(inner, keyOf("x"), "old");
    const subject = await open({}, { clock, inner, store: inner, failures: [] });
    expect(shown(await versionsOf(subject.store, keyOf("x")))).toEqual([`0>${before}`]);
    const after = await update(subject.store, keyOf("x"), before, "new");
    await forget(subject);
    expect(shown(await versionsOf(subject.store, keyOf("x")))).toEqual([`${before}>${after}`, `0>${before}`]);
    const start = await subject.store.history!.floor(collection);
    expect(textOf(await subject.store.get(keyOf("x"), start))).toBe("old");
  });

  it("of a key that never existed are none, and those of collections that aren't kept can't be asked for", async () => {
    const { store } = await open();
    expect(await versionsOf(store, keyOf("none"))).toEqual([]);
    expect(store.history!.keeps("/g/other/")).toBe(false);
    expect(store.history!.keeps("/g/")).toBe(false);
    expect(store.history!.keeps(keyOf("x"))).toBe(true);
  });
});

describe("the origin of a write", () => {
  it("is kept with its version, in some 30 bytes when its names are used often", async () => {
    const subject = await open();
    const { store, inner } = subject;
    const key = keyOf("x");
    const drafts = Array.from({ length: 30 }, (_, i) => draft(`${i}`));
    let revision: Revision | undefined;
    for (const [i, one] of drafts.entries()) {
      const from = origin({ time: 1_700_000_000_000 + i, manager: i % 2 === 0 ? "kubectl" : "helm" });
      const result =
        revision === undefined
          ? await store.commit({ kind: "create", key, draft: one, origin: from })
          : await store.commit({ kind: "update", key, expected: revision, draft: one, origin: from });
      if (result.ok) revision = result.revision;
      await turn();
    }
    const versions = await versionsOf(store, key);
    expect(versions.map((version) => version.origin)).toEqual(
      drafts
        .map((_, i) => origin({ time: 1_700_000_000_000 + i, manager: i % 2 === 0 ? "kubectl" : "helm" }))
        .toReversed(),
    );
    const records = inner.range({ prefix: "/~g/r/n/", limit: 1 }).entries;
    const value = draft("28");
    const recordBytes = records[0]!.body.length - value.header.length - value.body.length;
    // Beside the origin: the revision twice, the form, and the lengths of the value.
    expect(recordBytes - 30).toBeLessThanOrEqual(40);
  });

  it("has any texts, cut at their limits", async () => {
    const { store } = await open();
    const long = "é".repeat(300);
    await store.commit({
      kind: "create",
      key: keyOf("x"),
      draft: draft("1"),
      origin: origin({ user: long, manager: "", verb: "frobnicate", requestId: "by hand" }),
    });
    const [version] = await versionsOf(store, keyOf("x"));
    expect(version!.origin).toEqual(
      origin({ user: "é".repeat(125), manager: "", verb: "frobnicate", requestId: "by hand" }),
    );
  });

  it("is read by other processes and after a restart", async () => {
    const subject = await open();
    const write = (store: Store, name: string) =>
      store.commit({ kind: "create", key: keyOf(name), draft: draft("1"), origin: origin() });
    for (let i = 0; i < 20; i++) await write(subject.store, `a${i}`);
    const other = await open({}, subject);
    for (let i = 0; i < 20; i++) await write(other.store, `b${i}`);
    for (const name of ["a19", "b19"])
      for (const { store } of [subject, other])
        expect((await versionsOf(store, keyOf(name)))[0]!.origin).toEqual(origin());
    const names = subject.inner.range({ prefix: "/~/names//" }).entries;
    expect(names).toHaveLength(2);
  });

  it("of a transaction is that of each of its writes", async () => {
    const { store } = await open();
    const result = await store.transact([
      { kind: "create", key: keyOf("x"), draft: draft("1"), origin: origin() },
      { kind: "create", key: "/g/other/n/x", draft: draft("1"), origin: origin() },
      { kind: "create", key: keyOf("y"), draft: draft("1"), origin: origin() },
    ]);
    expect(result.ok && result.entries.map(({ key }) => key)).toEqual([
      keyOf("x"),
      "/g/other/n/x",
      keyOf("y"),
    ]);
    for (const name of ["x", "y"]) {
      const [version] = await versionsOf(store, keyOf(name));
      expect(version).toMatchObject({ revision: result.ok && result.revision, origin: origin() });
    }
  });
});

describe("deletions and changes", () => {
  it("deletions are those of keys that don't exist now, in key order, in pages", async () => {
    const subject = await open();
    const { store } = subject;
    for (const name of ["a", "a-b", "a.b", "b", "c"]) {
      let revision = await create(store, keyOf(name), "1");
      for (let i = 0; i < 12; i++) revision = await update(store, keyOf(name), revision, `${i}`);
      if (name !== "b") await remove(store, keyOf(name), revision);
    }
    await create(store, keyOf("c"), "again");
    await forget(subject);
    const names: string[] = [];
    let next: string | undefined;
    do {
      const page = await store.history!.deletions(collection, { limit: 2, after: next });
      for (const { key, previous } of page.versions) {
        names.push(key.slice(keyOf("").length));
        expect(textOf(await store.get(key, previous as Revision))).toBe("11");
      }
      next = page.next;
    } while (next !== undefined);
    expect(names).toEqual(["a", "a-b", "a.b"]);
  });

  it("changes are all versions with a record", async () => {
    const { store } = await open();
    const first = await create(store, keyOf("x"), "1");
    const second = await update(store, keyOf("x"), first, "2");
    const other = await create(store, "/g/r/m/y", "1");
    const changes: Version[] = [];
    for (let next: string | undefined; ;) {
      const page = await store.history!.changes(collection, { limit: 1, after: next });
      changes.push(...page.versions);
      if (page.next === undefined) break;
      next = page.next;
    }
    expect(changes.map(({ key, revision }) => [key, revision])).toEqual([
      ["/g/r/m/y", other],
      [keyOf("x"), second],
      [keyOf("x"), first],
    ]);
  });
});

describe("reads of the past", () => {
  it("a list at a time is as it was then", async () => {
    const subject = await open();
    const { store, clock } = subject;
    const states: [number, [string, string][]][] = [];
    let x = await create(store, keyOf("x"), "0");
    for (let i = 1; i < 6; i++) {
      x = await update(store, keyOf("x"), x, `${i}`);
      if (i % 2 === 0) await remove(store, keyOf("y"), (await store.get(keyOf("y")))!.revision);
      else await create(store, keyOf("y"), `y${i}`);
      clock.advance(1000);
      states.push([clock.now(), (await readAll(store, collection)).pairs as [string, string][]]);
      clock.advance(5000);
    }
    await forget(subject);
    for (const [time, pairs] of states) {
      const at = await store.history!.revisionAt(time);
      expect((await readAll(store, collection, { at })).pairs).toEqual(pairs);
    }
    await expect(store.history!.revisionAt(clock.now() - 10 * hourMs)).rejects.toThrow(
      RevisionCompactedError,
    );
    expect(await store.history!.revisionAt(clock.now() + hourMs)).toBe(await store.latestRevision());
  });

  it("a write without a record, of a server with other settings, is a gap that isn't read wrongly", async () => {
    const subject = await open();
    const { store, inner } = subject;
    const first = await create(store, keyOf("x"), "1");
    const second = await update(store, keyOf("x"), first, "2");
    const third = await update(inner, keyOf("x"), second, "3");
    const fourth = await update(store, keyOf("x"), third, "4");
    await forget(subject);
    expect(textOf(await store.get(keyOf("x"), first))).toBe("1");
    await expect(store.get(keyOf("x"), second)).rejects.toThrow(RevisionCompactedError);
    expect(textOf(await store.get(keyOf("x"), third))).toBe("3");
    expect(textOf(await store.get(keyOf("x"), fourth))).toBe("4");
    expect(shown(await versionsOf(store, keyOf("x")))).toEqual([
      `${third}>${fourth}`,
      `0>${third}`,
      `${first}>${second}`,
      `0>${first}`,
    ]);
  });

  it("a subscription from the past hears all changes in order, then goes on", async () => {
    const subject = await open();
    const { store } = subject;
    const start = await store.latestRevision();
    let x = await create(store, keyOf("x"), "0");
    await store.transact([
      { kind: "create", key: keyOf("b"), draft: draft("b") },
      { kind: "create", key: keyOf("a"), draft: draft("a") },
    ]);
    for (let i = 1; i < 5; i++) x = await update(store, keyOf("x"), x, `${i}`);
    await remove(store, keyOf("x"), x);
    await forget(subject);
    const { recorder, subscription } = record(store, collection, start);
    await subscription.sync();
    await create(store, keyOf("z"), "last");
    await subscription.sync();
    expect(recorder.endings).toEqual([]);
    expect(recorder.lines.toSorted()).toEqual(
      [
        "create /g/r/n/x 0",
        "create /g/r/n/a a",
        "create /g/r/n/b b",
        ...[1, 2, 3, 4].map((i) => `update /g/r/n/x ${i}`),
        "delete /g/r/n/x 4",
        "create /g/r/n/z last",
      ].toSorted(),
    );
    expect(recorder.revisions).toEqual(recorder.revisions.toSorted((a, b) => a - b));
    subscription.close();
  });
});

describe("limits", () => {
  it("what is older than the retention is refused and dropped; what is current stays", async () => {
    const subject = await open();
    const { store, clock, inner } = subject;
    const first = await create(store, keyOf("x"), "1");
    const gone = await create(store, keyOf("gone"), "1");
    const second = await update(store, keyOf("x"), first, "2");
    await remove(store, keyOf("gone"), gone);
    clock.advance(hourMs / 2);
    const third = await update(store, keyOf("x"), second, "3");
    await forget(subject);
    expect(textOf(await store.get(keyOf("x"), first))).toBe("1");
    clock.advance(hourMs / 2 + minuteMs);
    for (let i = 0; i < 50; i++) await turn();
    await expect(store.get(keyOf("x"), first)).rejects.toThrow(RevisionCompactedError);
    await expect(store.range({ prefix: collection, at: first })).rejects.toThrow(RevisionCompactedError);
    expect(textOf(await store.get(keyOf("x"), third))).toBe("3");
    expect((await store.history!.deletions(collection, { limit: 10 })).versions).toEqual([]);
    clock.advance(minuteMs);
    for (let i = 0; i < 50; i++) await turn();
    expect(inner.range({ prefix: "/~g/r/n/" }).entries.map(({ revision }) => revision)).toEqual([third]);
    expect(subject.failures).toEqual([]);
    const { recorder } = record(store, collection, first);
    for (let i = 0; i < 50; i++) await turn();
    expect(recorder.endings[0]).toBeInstanceOf(RevisionCompactedError);
  });

  it("a collection that is too large loses its oldest values, not those of others", async () => {
    const bytes = 1024 * 1024;
    const subject = await open({
      collections: new Map([
        [collection, { ms: 100 * hourMs, bytes }],
        ["/g/other/", { ms: 100 * hourMs }],
      ]),
    });
    const { store, clock, inner } = subject;
    const other = await create(store, "/g/other/n/x", "1");
    await update(store, "/g/other/n/x", other, "2");
    const text = "x".repeat(20_000);
    let revision = await create(store, keyOf("x"), text);
    const revisions = [revision];
    for (let i = 0; i < 100; i++) {
      revisions.push((revision = await update(store, keyOf("x"), revision, text)));
      clock.advance(10);
    }
    await forget(subject);
    for (let i = 0; i < 4; i++) {
      clock.advance(minuteMs);
      for (let n = 0; n < 100; n++) await turn();
    }
    const kept = inner.range({ prefix: "/~g/r/" }).entries;
    const size = kept.reduce((sum, { body }) => sum + body.length, 0);
    expect(size).toBeLessThanOrEqual(bytes);
    expect(size).toBeGreaterThan(bytes * 0.8);
    await expect(store.get(keyOf("x"), revisions[10])).rejects.toThrow(RevisionCompactedError);
    expect(textOf(await store.get(keyOf("x"), revisions[90]))).toBe(text);
    expect(textOf(await store.get("/g/other/n/x", other))).toBe("1");
    expect(subject.failures).toEqual([]);
  });

  it("marks of times are dropped with the history", async () => {
    const subject = await open(keeping({ ms: 10 * minuteMs }));
    const { store, clock, inner } = subject;
    let revision = await create(store, keyOf("x"), "0");
    for (let i = 0; i < 200; i++) {
      clock.advance(10_000);
      revision = await update(store, keyOf("x"), revision, `${i}`);
      await turn();
    }
    for (let i = 0; i < 200; i++) await turn();
    const marks = inner.range({ prefix: "/~/times//" }).entries.length;
    expect(marks).toBeGreaterThan(59);
    expect(marks).toBeLessThan(75);
  });

  it("two processes mark the same second", async () => {
    const subject = await open();
    const other = await open({}, subject);
    await create(subject.store, keyOf("x"), "1");
    await create(other.store, keyOf("y"), "1");
    expect((await readAll(subject.store, collection)).pairs).toHaveLength(2);
  });
});

describe("the settings", () => {
  it("a rule that stays keeps its beginning; a new one begins now", async () => {
    const subject = await open();
    const first = await create(subject.store, keyOf("x"), "1");
    await update(subject.store, keyOf("x"), first, "2");
    await create(subject.store, "/g/other/n/x", "1");
    const collections = new Map([
      [collection, { ms: 2 * hourMs }],
      ["/g/other/", { ms: hourMs }],
    ]);
    const next = await open({ collections }, subject);
    await forget(next);
    const latest = await next.store.latestRevision();
    expect(textOf(await next.store.get(keyOf("x"), first))).toBe("1");
    expect(await next.store.history!.floor("/g/other/")).toBe(latest);
    expect(await next.store.history!.floor(collection)).toBeLessThan(first);
  });

  it("history that isn't kept any more is removed", async () => {
    const subject = await open();
    const { inner } = subject;
    const first = await create(subject.store, keyOf("x"), "1");
    await update(subject.store, keyOf("x"), first, "2");
    expect(await endHistory(inner)).toBe(true);
    expect(inner.range({ prefix: "/~g/r/" }).entries).toEqual([]);
    expect(await endHistory(inner)).toBe(false);
    const again = await open({}, subject);
    await forget(again);
    await expect(again.store.get(keyOf("x"), first)).rejects.toThrow(RevisionCompactedError);
    expect((await readAll(again.store, "/")).pairs).toEqual([[keyOf("x"), "2"]]);
    expect(await again.store.count("/")).toBe(1);
  });
});
