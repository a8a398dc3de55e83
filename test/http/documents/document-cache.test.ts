import { expect, test } from "vitest";
import { DocumentCache } from "../../../src/http/documents/openapi/documents.ts";

function counted(text: string, bytes = text.length) {
  const made = { times: 0 };
  const make = async () => {
    made.times++;
    await Promise.resolve();
    return [Buffer.alloc(bytes - 1, text), Buffer.from(text)];
  };
  return { made, make };
}

test("a document is made once for all who ask, and again when what it is made of changes", async () => {
  const kept = new DocumentCache();
  const { made, make } = counted("a");
  const [one, other] = await Promise.all([kept.get("k", "1", make), kept.get("k", "1", make)]);
  expect(one).toBe(other);
  expect(await kept.get("k", "1", make)).toBe(one);
  expect(made.times).toBe(1);
  expect([kept.hashOf("k", "1"), kept.hashOf("k", "2")]).toEqual([one.hash, undefined]);
  await kept.get("k", "2", make);
  expect(made.times).toBe(2);
});

test("a document larger than all that is kept is known by its hash only", async () => {
  const kept = new DocumentCache();
  const { made, make } = counted("a", 33 * 1024 * 1024);
  const { hash } = await kept.get("large", "1", make);
  expect(kept.hashOf("large", "1")).toBe(hash);
  await kept.get("large", "1", make);
  expect(made.times).toBe(2);
});

test("a document that can't be made is tried again", async () => {
  const kept = new DocumentCache();
  await expect(kept.get("k", "1", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  const { make } = counted("a");
  const { pieces, length } = await kept.get("k", "1", make);
  expect([Buffer.concat(pieces).toString(), length]).toEqual(["a", 1]);
});
