import { expect, test } from "vitest";
import { readCandidates } from "../../../src/resources/selector-index/chosen-page.ts";
import type { Entry, Revision, Store } from "../../../src/storage/store.ts";

const limits = { limit: 100, maxBytes: 1000 };

test("candidates are in their order when the store returns some at once and others later", async () => {
  const keys = ["a", "b", "c", "d", "e", "f"];
  const get = (key: string) => {
    const entry = key === "d" ? undefined : ({ key, body: Buffer.alloc(1) } as unknown as Entry);
    return keys.indexOf(key) % 3 === 0 ? Promise.resolve(entry) : entry;
  };
  const store = { get, together: (work: () => void) => work() } as unknown as Store;
  const { entries, upTo } = await readCandidates(store, { keys, revision: 1 as Revision }, 0, limits);
  expect(entries.map(({ key }) => key)).toEqual(["a", "b", "c", "e", "f"]);
  expect(upTo).toBe(6);
});
