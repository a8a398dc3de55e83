import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { draft, textOf } from "../../src/storage/conformance/support.ts";
import { connectEtcdStore } from "../../src/storage/etcd/etcd-store.ts";
import { type CommitResult, type Store, StoreUnavailableError } from "../../src/storage/store.ts";
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
});
