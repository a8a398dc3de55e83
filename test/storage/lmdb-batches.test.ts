import { expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { draft } from "../../src/storage/conformance/support.ts";
import type { Environment } from "../../src/storage/lmdb/databases.ts";
import {
  acquireEnvironment,
  defaultMapBytes,
  releaseEnvironment,
} from "../../src/storage/lmdb/environment.ts";
import { decodeState, encodeState } from "../../src/storage/lmdb/layout.ts";
import { Reader } from "../../src/storage/lmdb/reader.ts";
import { type Batch, Writer } from "../../src/storage/lmdb/writer.ts";
import type { CommitResult, Revision, TransactionResult } from "../../src/storage/store.ts";
import { temporaryFolder } from "./support.ts";

/** Transactions that were asked for, and the sizes of the batches that wrote. */
interface Seen {
  transactions: number;
  readonly sizes: number[];
}

/** Runs with an environment of its own. */
async function withEnvironment(run: (environment: Environment) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  const environment = acquireEnvironment(folder.path, defaultMapBytes);
  try {
    await run(environment);
  } finally {
    await releaseEnvironment(environment);
    folder.remove();
  }
}

function creating(writer: Writer): (name: string) => Promise<CommitResult> {
  return (name) =>
    new Promise((resolve, reject) => {
      const write = { kind: "create", key: `/g/r/n/${name}`, draft: draft(name) } as const;
      const settle = (result: CommitResult | TransactionResult) => resolve(result as CommitResult);
      writer.commit({ write, since: performance.now(), resolve: settle, reject });
    });
}

function writerOver(environment: Environment): { writer: Writer; seen: Seen } {
  const seen: Seen = { transactions: 0, sizes: [] };
  const root = new Proxy(environment.root, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (name === "transaction") seen.transactions++;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const counted = { ...environment, root };
  const writer = new Writer(
    counted,
    new Reader(counted),
    () => systemClock.now(),
    { storeBytes: defaultMapBytes, writeTimeoutMs: 10_000 },
    {
      committed: ({ events }: Batch) => void seen.sizes.push(events.length),
      unsynced: () => undefined,
      failed: () => undefined,
      idle: () => undefined,
    },
  );
  return { writer, seen };
}

it("a batch takes what arrives until its transaction begins, and no transaction is without a write", async () => {
  await withEnvironment(async (environment) => {
    const { writer, seen } = writerOver(environment);
    const create = creating(writer);
    const together = (of: string) => Promise.all(["a", "b", "c", "d"].map((name) => create(`${of}-${name}`)));

    expect((await together("first")).every(({ ok }) => ok)).toBe(true);
    expect(seen).toEqual({ transactions: 1, sizes: [4] });

    // Those of the second wave arrive while the first is on its way; each is in exactly one batch.
    const waves = ["one", "two", "three"].map(async (wave) => {
      await new Promise((resolve) => setImmediate(resolve));
      return together(wave);
    });
    await Promise.all(waves);
    await writer.settled();
    expect(seen.sizes.reduce((all, size) => all + size)).toBe(16);
    expect(seen.transactions).toBe(seen.sizes.length);
  });
});

it("a batch is known by the state that it left until its writes are acknowledged, another writer's never", async () => {
  await withEnvironment(async (environment) => {
    const { writer } = writerOver(environment);
    const { writer: other } = writerOver(environment);
    const reader = new Reader(environment);
    let found = 0;
    for (let n = 0; n < 500 && found < 20; n++) {
      const before = reader.state().revision;
      let acknowledged = false;
      const done = creating(writer)(`x-${n}`).then(() => (acknowledged = true));
      while (!acknowledged) {
        const state = reader.state();
        const batch = writer.unacknowledgedBatch(state);
        expect(other.unacknowledgedBatch(state)).toBeUndefined();
        if (state.revision === before) expect(batch).toBeUndefined();
        else {
          expect(batch?.events.map(({ key, revision }) => [key, revision])).toEqual([
            [`/g/r/n/x-${n}`, state.revision],
          ]);
          found++;
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      await done;
      expect(writer.unacknowledgedBatch(reader.state())).toBeUndefined();
    }
    expect(found).toBeGreaterThan(0);
    // As a compaction leaves it.
    expect(writer.unacknowledgedBatch({ ...reader.state(), batch: 0 })).toBeUndefined();
  });
});

it("the state that an earlier program left is read, and is no batch's", () => {
  const state = { revision: 7 as Revision, floor: 3 as Revision, markTime: 1_700_000_000_000, batch: 9 };
  const bytes = encodeState(state);
  expect(decodeState(bytes)).toEqual(state);
  expect(decodeState(bytes.subarray(0, 25))).toEqual({ ...state, batch: 0 });
});
