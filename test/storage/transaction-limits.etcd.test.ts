import { afterEach, describe, expect, it } from "vitest";
import { draft, record, until } from "../../src/storage/conformance/support.ts";
import { connectEtcdStore, type EtcdStore } from "../../src/storage/etcd/etcd-store.ts";
import type { Write } from "../../src/storage/store.ts";
import { EtcdServer, etcdMissing } from "./etcd-server.ts";
import { ManualClock } from "./support.ts";

let server: EtcdServer | undefined;
let store: EtcdStore | undefined;

async function start(...furtherFlags: string[]): Promise<EtcdStore> {
  server = await EtcdServer.start({ furtherFlags });
  const prefix = `/${"p".repeat(200)}`;
  store = await connectEtcdStore({ endpoints: [server.endpoint], prefix, clock: new ManualClock() });
  return store;
}

afterEach(async () => {
  await store?.close();
  await server?.dispose();
});

/** The longest key with a name. */
const keyOf = (name: string): string => `/g/r/n/${name}`.padEnd(1024, "x");

/** A transaction with the most writes, bytes and conditions. */
function largest({ transactionLimits: { writes, bytes } }: EtcdStore): Write[] {
  const size = Math.floor(bytes / writes);
  return Array.from({ length: writes }, (_, n): Write => {
    const body = Buffer.alloc(size, 32);
    const conditions = [{ key: keyOf(`absent-${n}-`), revision: 0 as const }];
    const value = { header: new Uint8Array(0), body, revisionAt: 0 };
    return { kind: "create", key: keyOf(`${n}-`), draft: value, conditions };
  });
}

describe.skipIf(etcdMissing !== undefined)(
  `transactions over etcd (${etcdMissing ?? "single member"})`,
  () => {
    it("the largest transaction fits into the default limits of etcd, and its events come as one batch", async () => {
      const limited = await start();
      const { recorder, subscription } = record(limited, "/g/", await limited.latestRevision());
      const result = await limited.transact(largest(limited));
      if (!result.ok) throw new Error("a key exists");
      expect(result.entries.length).toBe(limited.transactionLimits.writes);
      await subscription.sync();
      expect(new Set(recorder.revisions)).toEqual(new Set([result.revision]));
      expect(recorder.heard.length).toBe(result.entries.length);
      const again = await limited.transact(largest(limited).toReversed());
      expect(again).toMatchObject({ ok: false, failedWrite: 0 });
    });

    it("a part of the past ends with a whole transaction", async () => {
      const limited = await start();
      const after = await limited.latestRevision();
      const { writes } = limited.transactionLimits;
      let latest = after;
      for (let n = 0; n < 80; n++) {
        const names = Array.from({ length: writes }, (_, index) => `/g/r/n/${n}-${index}`);
        const result = await limited.transact(
          names.map((key) => ({ kind: "create", key, draft: draft(key) })),
        );
        if (!result.ok) throw new Error("a key exists");
        latest = result.revision;
      }
      const { recorder } = record(limited, "/g/", after);
      await until(() => recorder.upTo >= latest, "the past is delivered");
      expect([recorder.heard.length, new Set(recorder.revisions).size]).toEqual([80 * writes, 80]);
    });

    it.each([
      [
        "--max-txn-ops=16",
        /fewer operations .* --max-txn-ops=128, the default, or more .*; nothing was written/,
      ],
      ["--max-request-bytes=100000", /request of this size; .* larger --max-request-bytes/],
    ])("members with %s refuse it with an error that names the flag", async (flag, message) => {
      const limited = await start(flag);
      const before = await limited.latestRevision();
      await expect(limited.transact(largest(limited))).rejects.toThrow(message);
      expect(await limited.latestRevision()).toBe(before);
      const small: Write[] = ["a", "b"].map((name) => ({
        kind: "create",
        key: keyOf(name),
        draft: draft(name),
      }));
      expect((await limited.transact(small)).ok).toBe(true);
    });
  },
);
