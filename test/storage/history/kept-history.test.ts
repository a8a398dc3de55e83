import { keepHistory } from "../../../src/storage/history/history-store.ts";
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
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { type Entry, RevisionCompactedError, type Revision, type Store } from "../../../src/storage/store.ts";
import { ForgetfulStore } from "./forgetful-store.ts";
import { ManualClock } from "../support.ts";
import { collection, forget, hourMs, keyOf, open, origin, stepsOf, versionsOf } from "./kept-store.ts";
import type { Version } from "../../../src/storage/store-history.ts";

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
    expect(stepsOf(versions)).toEqual([
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
    expect(stepsOf(await versionsOf(subject.store, keyOf("x")))).toEqual([`0>${before}`]);
    const after = await update(subject.store, keyOf("x"), before, "new");
    await forget(subject);
    expect(stepsOf(await versionsOf(subject.store, keyOf("x")))).toEqual([
      `${before}>${after}`,
      `0>${before}`,
    ]);
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
    expect(stepsOf(await versionsOf(store, keyOf("x")))).toEqual([
      `${third}>${fourth}`,
      `0>${third}`,
      `${first}>${second}`,
      `0>${first}`,
    ]);
  });

  it("a create that first meets the object and then its deletion has a record", async () => {
    const subject = await open();
    const old = await create(subject.store, keyOf("x"), "1");
    /** Deletes the object as soon as it was read for the record. */
    class DeletedAfterRead extends ForgetfulStore {
      private deletion: Promise<unknown> | undefined;
      override async get(key: string, at?: Revision): Promise<Entry | undefined> {
        const entry = await super.get(key, at);
        if (key === keyOf("x")) await (this.deletion ??= remove(subject.store, key, old));
        return entry;
      }
    }
    const slow = await keepHistory(new DeletedAfterRead(subject.inner), {
      clock: subject.clock,
      collections: new Map([[collection, { ms: hourMs }]]),
      drops: false,
      failed: (error) => subject.failures.push(error),
    });
    const again = await create(slow, keyOf("x"), "2");
    expect(stepsOf(await versionsOf(subject.store, keyOf("x")))).toEqual([
      `0>${again}`,
      `${old}>${again - 1} deleted`,
      `0>${old}`,
    ]);
  });

  it("a live subscription is synced without a turn, as one of the store", async () => {
    const { store } = await open();
    const { subscription } = record(store, collection, (await store.latestRevision()) as Revision);
    expect(subscription.sync()).toBe(await store.latestRevision());
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
