import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { create, readAll, record, remove, textOf, update } from "../../../src/storage/conformance/support.ts";
import { endHistory } from "../../../src/storage/history/history-store.ts";
import { RevisionCompactedError } from "../../../src/storage/store.ts";
import { ManualClock } from "../support.ts";
import { collection, forget, hourMs, keeping, keyOf, minuteMs, open } from "./kept-store.ts";

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
      clock.advance(6 * minuteMs);
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

  it("marks of a clock that was ahead are removed", async () => {
    const subject = await open();
    const ahead = new ManualClock();
    ahead.advance(365 * 24 * hourMs);
    const mistaken = await open({ clock: ahead, drops: false }, subject);
    const first = await create(mistaken.store, keyOf("x"), "1");
    subject.clock.advance(minuteMs);
    const second = await update(subject.store, keyOf("x"), first, "2");
    for (let i = 0; i < 20; i++) await turn();
    subject.clock.advance(5000);
    const at = await subject.store.history!.revisionAt(subject.clock.now() - 1000);
    expect(at).toBeGreaterThanOrEqual(second);
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
    expect(inner.range({ prefix: "/" }).entries.map(({ key }) => key)).toEqual([keyOf("x")]);
    expect(await endHistory(inner)).toBe(false);
    // A removal that was interrupted.
    const record = { header: new Uint8Array(), body: Buffer.from("x"), revisionAt: 0 };
    await inner.commit({ kind: "create", key: "/~g/r/n/x", draft: record });
    expect(await endHistory(inner)).toBe(true);
    expect(inner.range({ prefix: "/" }).entries).toHaveLength(1);
    const again = await open({}, subject);
    await forget(again);
    await expect(again.store.get(keyOf("x"), first)).rejects.toThrow(RevisionCompactedError);
    expect((await readAll(again.store, "/")).pairs).toEqual([[keyOf("x"), "2"]]);
    expect(await again.store.count("/")).toBe(1);
  });
});
