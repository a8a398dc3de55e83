import { expect, test } from "vitest";
import { RecentMap } from "../../src/base/collections/recent-map.ts";

test("what was asked for or set longest ago makes room, by number", () => {
  const map = new RecentMap<string>({ entries: 2, cost: 0 });
  map.set("a", "1");
  map.set("b", "2");
  expect(map.get("a")).toBe("1");
  map.set("c", "3");
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual(["1", undefined, "3"]);
  expect(map.size).toBe(2);
});

test("by what it costs, also where a value is replaced or taken out", () => {
  const map = new RecentMap<string>({ entries: 10, cost: 10 });
  map.set("a", "1", 6);
  map.set("a", "2", 4);
  map.set("b", "3", 6);
  expect([map.cost, map.size]).toEqual([10, 2]);
  map.delete("b");
  map.delete("b");
  expect(map.cost).toBe(4);
  map.set("c", "4", 7);
  expect([map.get("a"), map.get("c"), map.cost]).toEqual([undefined, "4", 7]);
});

test("what costs more than all there is isn't held", () => {
  const map = new RecentMap<string>({ entries: 10, cost: 10 });
  map.set("a", "1", 11);
  expect([map.size, map.cost]).toEqual([0, 0]);
});
