import { describe, expect, it } from "vitest";
import { refusal } from "../../src/authentication/refusal.ts";
import { TokenCache } from "../../src/authentication/token-cache.ts";
import { stoppedClock } from "./support.ts";

const limits = { validTtlMs: 10_000, invalidTtlMs: 1000, maxEntries: 3, maxBytes: 16_000 };
const start = "2030-01-01T00:00:00Z";
const after = (seconds: number) => new Date(Date.parse(start) + seconds * 1000).toISOString();

/** A cache whose answers are looked up by `find`, with a count of the questions. */
function cacheOver(find: (token: string) => Promise<string | undefined>, given = limits) {
  const clock = stoppedClock(start);
  const cache = new TokenCache<string>(clock, given, (value) => value.length);
  const asked: string[] = [];
  const get = (token: string, scope: readonly string[] = []) =>
    cache.get(token, scope, () => {
      asked.push(token);
      return find(token);
    });
  return { clock, cache, asked, get };
}

describe("the token cache", () => {
  it("returns a cached result until it expires", async () => {
    const { get, asked, clock } = cacheOver((token) => Promise.resolve(`user of ${token}`));
    expect(await get("a")).toBe("user of a");
    expect(get("a")).toBe("user of a");
    clock.set(after(9.999));
    expect(get("a")).toBe("user of a");
    expect(asked).toEqual(["a"]);
    clock.set(after(10));
    expect(await get("a")).toBe("user of a");
    expect(asked).toEqual(["a", "a"]);
  });

  it("caches unknown and rejected tokens for a shorter time", async () => {
    const { get, asked, clock } = cacheOver((token) =>
      token === "bad" ? Promise.reject(refusal("forged")) : Promise.resolve(undefined),
    );
    await expect(get("bad")).rejects.toThrow("forged");
    expect(await get("unknown")).toBeUndefined();
    expect(() => get("bad")).toThrow("forged");
    expect(get("unknown")).toBeUndefined();
    expect(asked).toEqual(["bad", "unknown"]);
    clock.set(after(1));
    await expect(get("bad")).rejects.toThrow("forged");
    expect(await get("unknown")).toBeUndefined();
    expect(asked).toHaveLength(4);
  });

  it("keeps valid tokens when many invalid ones are cached, and reports which expired tokens were valid", async () => {
    const clock = stoppedClock(start);
    const cache = new TokenCache<string>(clock, limits, (value) => value.length);
    const found: [string, boolean][] = [];
    const get = (token: string) =>
      cache.get(token, [], (wasGood) => {
        found.push([token, wasGood]);
        return Promise.resolve(token === "good" ? "user" : undefined);
      });
    await get("good");
    for (let n = 0; n < 3 * limits.maxEntries; n++) await get(`bad-${n}`);
    expect(get("good")).toBe("user");
    expect(cache.size.entries).toBe(limits.maxEntries + 1);
    clock.set(after(10));
    await get("good");
    await get(`bad-${3 * limits.maxEntries - 1}`);
    expect(found.slice(-2)).toEqual([
      ["good", true],
      [`bad-${3 * limits.maxEntries - 1}`, false],
    ]);
  });

  it("does not cache unexpected errors", async () => {
    let fails = true;
    const { get } = cacheOver(() => (fails ? Promise.reject(new Error("no route")) : Promise.resolve("u")));
    await expect(get("a")).rejects.toThrow("no route");
    fails = false;
    expect(await get("a")).toBe("u");
  });

  it("authenticates concurrent equal tokens once", async () => {
    let release: (value: string) => void = () => undefined;
    const { get, asked } = cacheOver(() => new Promise((resolve) => (release = resolve)));
    const answers = Promise.all([get("a"), get("a"), get("a")]);
    release("u");
    expect(await answers).toEqual(["u", "u", "u"]);
    expect(asked).toEqual(["a"]);
  });

  it("distinguishes scopes with equal concatenations", async () => {
    const { get, asked } = cacheOver((token) => Promise.resolve(token));
    for (const scope of [[], ["x"], ["xy"], ["x", "y"], ["", "xy"]]) await get("a", scope);
    await get("a1", [":x"]);
    expect(asked).toHaveLength(6);
  });

  it("evicts the least recently used entry when the entry limit is reached", async () => {
    const { get, cache, asked } = cacheOver((token) => Promise.resolve(token));
    for (const token of ["a", "b", "c"]) await get(token);
    await get("a");
    await get("d");
    expect(cache.size.entries).toBe(3);
    asked.length = 0;
    for (const token of ["a", "c", "d"]) await get(token);
    expect(asked).toEqual([]);
    await get("b");
    expect(asked).toEqual(["b"]);
  });

  it("limits the cached bytes and does not cache a too large result", async () => {
    const { get, cache } = cacheOver((token) => Promise.resolve("x".repeat(Number(token))), {
      ...limits,
      maxEntries: 1000,
    });
    for (let size = 1000; size < 1100; size++) await get(String(size));
    expect(cache.size.bytes).toBeLessThanOrEqual(limits.maxBytes);
    expect(cache.size.entries).toBeGreaterThan(5);
    const before = cache.size;
    await get("5000");
    expect(cache.size).toEqual(before);
  });

  it("does not keep plain tokens in memory", async () => {
    const { get, cache } = cacheOver(() => Promise.resolve("u"));
    await get("a-secret");
    const fields: unknown[] = Object.values(cache).map((value) =>
      value instanceof Map ? [...value] : value,
    );
    expect(JSON.stringify(fields)).not.toContain("a-secret");
  });
});
