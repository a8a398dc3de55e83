import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { draft, textOf } from "../../src/storage/conformance/support.ts";
import { connectEtcdStore } from "../../src/storage/etcd/etcd-store.ts";
import {
  type CommitResult,
  type Revision,
  type Store,
  StoreUnavailableError,
  type TransactionResult,
  type Write,
} from "../../src/storage/store.ts";
import { SimulatedCluster, type Passage, type SentRequest } from "../simulator/etcd/simulated-cluster.ts";
import { ManualClock } from "../support/manual-clock.ts";

const prompt: Passage = { requestMs: 1, answerMs: 1 };
const lostRequest: Passage = { requestMs: undefined, answerMs: undefined };
const lostAnswer: Passage = { requestMs: 1, answerMs: undefined };
const key = "/g/r/n/x";

describe("a write without an answer (etcd)", () => {
  let clock: ManualClock;
  let cluster: SimulatedCluster;
  let first: Store;
  let second: Store;
  /** What happens to the next writes of the first store. */
  let fate: Passage[];

  beforeEach(async () => {
    clock = new ManualClock();
    fate = [];
    const passage = ({ client, changes }: SentRequest): Passage =>
      (client === "first" && changes ? fate.shift() : undefined) ?? prompt;
    cluster = new SimulatedCluster(clock, { passage, eventMs: () => 1 });
    first = await open("first");
    second = await open("second");
  });
  afterEach(() => Promise.all([done(first.close()), done(second.close())]));

  const open = (client: string): Promise<Store> =>
    done(
      connectEtcdStore({
        endpoints: cluster.endpoints,
        connect: () => cluster.connect(client),
        prefix: "/p",
        clock,
      }),
    );

  /** Moves the clock until a promise is settled. */
  async function done<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const mark = (): void => void (settled = true);
    work.then(mark, mark);
    while (!settled) await clock.advance(10);
    return work;
  }

  const create = (store: Store, text: string): Promise<CommitResult> =>
    store.commit({ kind: "create", key, draft: draft(text) });

  it("a create whose request was lost fails when another server has created an equal object", async () => {
    fate = [lostRequest];
    const unanswered = create(first, "same");
    expect((await done(create(second, "same"))).ok).toBe(true);
    await expect(done(unanswered)).rejects.toThrow(StoreUnavailableError);
  });

  it("a create whose answer was lost succeeds at its revision", async () => {
    fate = [lostAnswer];
    const result = await done(create(first, "own"));
    expect(result.ok && result.revision).toBe((await done(Promise.resolve(second.get(key))))!.revision);
  });

  it("an update whose answer was lost succeeds at its revision, and is executed once", async () => {
    const created = await done(create(first, "1"));
    if (!created.ok) throw new Error("the key exists");
    fate = [lostAnswer, prompt];
    const update = { kind: "update", key, expected: created.revision, draft: draft("2") } as const;
    const result = await done(first.commit(update));
    expect(result).toMatchObject({ ok: true, revision: created.revision + 1 });
    const stored = await done(Promise.resolve(second.get(key)));
    expect([stored?.revision, textOf(stored)]).toEqual([created.revision + 1, "2"]);
  });

  it("an update whose request was lost conflicts with, or doesn't claim, an equal update of another server", async () => {
    const created = await done(create(first, "1"));
    if (!created.ok) throw new Error("the key exists");
    fate = [lostRequest, { requestMs: 500, answerMs: 1 }];
    const update = { kind: "update", key, expected: created.revision, draft: draft("2") } as const;
    const unanswered = first.commit(update);
    expect((await done(second.commit(update))).ok).toBe(true);
    await expect(done(unanswered)).rejects.toThrow("isn't known");
  });

  const keyOf = (name: string): string => `/g/r/n/${name}`;
  const creation = (name: string, text = name): Write => ({
    kind: "create",
    key: keyOf(name),
    draft: draft(text),
  });

  /** The texts of the store by name. */
  async function texts(): Promise<Record<string, string | undefined>> {
    const { entries } = await done(Promise.resolve(second.range({ prefix: "/g/r/n/" })));
    return Object.fromEntries(entries.map((entry) => [entry.key.split("/").at(-1)!, textOf(entry)]));
  }

  /** Creates `old` and `gone`; returns their revision and a transaction that updates the one, deletes the other and creates `new`. */
  async function prepared(): Promise<{ readonly revision: Revision; readonly writes: readonly Write[] }> {
    const created = await done(second.transact([creation("old"), creation("gone")]));
    if (!created.ok) throw new Error("the keys exist");
    const { revision } = created;
    return {
      revision,
      writes: [
        { kind: "update", key: keyOf("old"), expected: revision, draft: draft("old2") },
        { kind: "delete", key: keyOf("gone"), expected: revision },
        creation("new"),
      ],
    };
  }

  const summaryOf = (result: TransactionResult): unknown =>
    result.ok
      ? [result.revision, ...result.entries.map((entry) => `${textOf(entry)} ${entry.revision}`)]
      : result;

  it("a transaction of creates whose answer was lost succeeds at its revision", async () => {
    fate = [lostAnswer];
    const at = (await done(Promise.resolve(first.latestRevision()))) + 1;
    const result = await done(first.transact([creation("a"), creation("b")]));
    expect(summaryOf(result)).toEqual([at, `a ${at}`, `b ${at}`]);
    expect(await texts()).toEqual({ a: "a", b: "b" });
  });

  it("a transaction of creates whose request was lost claims no equal value of another server", async () => {
    fate = [lostRequest];
    const unanswered = first.transact([creation("a"), creation("b")]);
    expect((await done(second.transact([creation("b"), creation("c")]))).ok).toBe(true);
    await expect(done(unanswered)).rejects.toThrow(StoreUnavailableError);
    expect(await texts()).toEqual({ b: "b", c: "c" });
  });

  it("a transaction of creates whose request was lost has no effect later", async () => {
    fate = [lostRequest, prompt];
    await expect(done(first.transact([creation("a"), creation("b")]))).rejects.toThrow(StoreUnavailableError);
    expect([await texts(), fate]).toEqual([{}, [prompt]]);
  });

  it("a transaction whose answer was lost succeeds at its revision with the deleted value, and is executed once", async () => {
    const { revision, writes } = await prepared();
    fate = [lostAnswer, prompt];
    const at = revision + 1;
    const result = await done(first.transact(writes));
    expect(summaryOf(result)).toEqual([at, `old2 ${at}`, `gone ${revision}`, `new ${at}`]);
    expect(fate).toEqual([]);
    expect(cluster.data.revision).toBe(at);
    expect(await texts()).toEqual({ old: "old2", new: "new" });
  });

  it("a transaction whose request was lost is repeated", async () => {
    const { revision, writes } = await prepared();
    fate = [lostRequest, prompt];
    const at = revision + 1;
    expect(summaryOf(await done(first.transact(writes)))).toEqual([
      at,
      `old2 ${at}`,
      `gone ${revision}`,
      `new ${at}`,
    ]);
  });

  it("a transaction whose answer was lost is recognized by one of its values when the others were replaced", async () => {
    const { revision, writes } = await prepared();
    const at = (revision + 1) as Revision;
    fate = [lostAnswer, { requestMs: 500, answerMs: 1 }];
    const unanswered = first.transact(writes);
    await clock.advance(10);
    const update = { kind: "update", key: keyOf("old"), expected: at, draft: draft("old3") } as const;
    expect(await done(second.commit(update))).toMatchObject({ ok: true, revision: at + 1 });
    expect(summaryOf(await done(unanswered))).toEqual([at, `old2 ${at}`, `gone ${revision}`, `new ${at}`]);
    expect(await texts()).toEqual({ old: "old3", new: "new" });
  });

  it("a transaction whose request was lost conflicts with, or doesn't claim, an equal one of another server", async () => {
    const { writes } = await prepared();
    fate = [lostRequest, { requestMs: 500, answerMs: 1 }];
    const unanswered = first.transact(writes);
    expect((await done(second.transact(writes))).ok).toBe(true);
    await expect(done(unanswered)).rejects.toThrow("isn't known");
  });

  it("a transaction of deletes whose answer was lost is recognized until the next write", async () => {
    const { revision } = await prepared();
    const deletes = (expected: Revision): Write[] =>
      ["old", "gone"].map((name) => ({ kind: "delete", key: keyOf(name), expected }));
    fate = [lostAnswer, prompt];
    const result = await done(first.transact(deletes(revision)));
    expect(summaryOf(result)).toEqual([revision + 1, `old ${revision}`, `gone ${revision}`]);
    const again = await prepared();
    fate = [lostAnswer, { requestMs: 500, answerMs: 1 }];
    const unanswered = first.transact(deletes(again.revision));
    await clock.advance(10);
    expect((await done(second.commit(creation("other")))).ok).toBe(true);
    await expect(done(unanswered)).rejects.toThrow("isn't known");
  });

  it("a transaction that exceeds the quota is found if the cluster has executed it nevertheless", async () => {
    const { revision, writes } = await prepared();
    cluster.full = true;
    await expect(done(first.transact(writes))).rejects.toThrow(/nothing was written/);
    cluster.executesWhenFull = true;
    const at = revision + 1;
    expect(summaryOf(await done(first.transact(writes)))).toEqual([
      at,
      `old2 ${at}`,
      `gone ${revision}`,
      `new ${at}`,
    ]);
  });
});
