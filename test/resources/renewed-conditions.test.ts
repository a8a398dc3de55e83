import { expect, test } from "vitest";
import type { Engine } from "../../src/resources/engine/engine.ts";
import type { AdmissionCondition } from "../../src/resources/engine/engine.ts";
import { commitUnder } from "../../src/resources/writes/write.ts";
import type { CommitResult, Revision, Write } from "../../src/storage/store.ts";

const write: Write = { kind: "delete", key: "/core/configmaps/a/b", expected: 7 as Revision };
const options = { user: { name: "me", uid: "", groups: [], extra: {} }, dryRun: false, fieldManager: "" };

/** A store in which the conditions of the first attempts of a write fail. Returns the conditions of each attempt. */
function refusing(failures: number): { engine: Engine; attempts: (readonly object[])[] } {
  const attempts: (readonly object[])[] = [];
  const commit = ({ conditions = [] }: Write): Promise<CommitResult> => {
    attempts.push(conditions);
    const result =
      attempts.length <= failures
        ? { ok: false, current: undefined, failedCondition: 0 }
        : { ok: true, revision: 9 as Revision, entry: undefined };
    return Promise.resolve(result as CommitResult);
  };
  return { engine: { store: { commit } } as unknown as Engine, attempts };
}

/** A condition whose revision is one more each time it is renewed. */
const condition = (revision: number): AdmissionCondition =>
  ({
    key: "/core/resourcequotas/a/q",
    revision,
    renew: () => Promise.resolve([condition(revision + 1)]),
  }) as unknown as AdmissionCondition;

test("a write whose conditions fail is tried again with renewed ones", async () => {
  const { engine, attempts } = refusing(3);
  expect(await commitUnder(engine, write, options, [condition(1)])).toMatchObject({ ok: true });
  expect(attempts.map(([one]) => (one as { revision: number }).revision)).toEqual([1, 2, 3, 4]);
});

test("a write whose conditions always fail is refused with TooManyRequests", async () => {
  const { engine } = refusing(Infinity);
  await expect(commitUnder(engine, write, options, [condition(1)])).rejects.toMatchObject({
    reason: "TooManyRequests",
  });
});
