import { expect, test } from "vitest";
import { AccessScopes } from "../../src/authorization/access-scopes.ts";

test("many large sets of names in one namespace are all allowed, each part once", () => {
  const scopes = new AccessScopes();
  const sets = Array.from(
    { length: 40 },
    (_, set) => new Set(Array.from({ length: 300 }, (_, index) => `name-${set * 200 + index}`)),
  );
  for (const names of [...sets, ...sets]) scopes.allowIn("shop", names);
  const names = sets.flatMap((set) => [...set]);
  for (const name of names) expect(scopes.allows("shop", name)).toBe(true);
  expect(scopes.allows("shop", "other")).toBe(false);
  expect(scopes.allows("other", "name-0")).toBe(false);
  const parts = scopes.partsIn("shop", 10_000)!;
  expect(parts.map(({ name }) => name).toSorted()).toEqual([...new Set(names)].toSorted());
  expect(scopes.partsIn("shop", 100)).toBeUndefined();
});

test("the time to add large sets of names grows with their number", () => {
  const sets = Array.from(
    { length: 8000 },
    () => new Set(Array.from({ length: 256 }, (_, n) => `name-${n}`)),
  );
  const micros = (count: number) => {
    const before = process.cpuUsage();
    const scopes = new AccessScopes();
    for (const names of sets.slice(0, count)) scopes.allowIn("shop", names);
    for (let n = 0; n < count; n++) scopes.allows("shop", `other-${n}`);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  micros(2000);
  expect(micros(8000)).toBeLessThan(12 * micros(1000) + 200_000);
});
