import { describe, expect, it } from "vitest";
import { type JsonObject, type JsonValue, deepClone } from "../../src/base/json/value.ts";
import { PatchFault } from "../../src/fields/patch-fault.ts";
import { applyStrategicMergePatch } from "../../src/fields/strategic-merge.ts";
import { struct } from "../../src/schema/meta.ts";
import { type StructType, Field, field, int32, json, list, map, string } from "../../src/schema/types.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const Env = struct("Env", "", { name: field(1, string, ""), value: field(2, string, "") });
const Item: StructType = struct("Item", "", () => ({
  name: field(1, string, ""),
  image: field(2, string, ""),
  env: field(3, list(Env), "").patchMerge("name"),
  args: field(4, list(string), ""),
  port: field(5, int32, ""),
}));
const Strategy = struct("Strategy", "", { type: field(1, string, ""), rolling: field(2, map(string), "") });
const replaced = new Field(map(string), { ...field(1, map(string), "").facts, patchStrategy: ["replace"] });
const Thing = struct("Thing", "", {
  items: field(1, list(Item), "").patchMerge("name"),
  ports: field(2, list(Item), "").patchMerge("port"),
  atomic: field(3, list(Item), ""),
  finalizers: field(4, list(string), "").patchMerge(),
  labels: field(5, map(string), ""),
  strategy: field(6, Strategy, "").patchRetainKeys(),
  replaced,
  raw: field(8, json, ""),
});

const apply = (target: JsonValue, patch: JsonValue) => applyStrategicMergePatch(Thing, target, patch);
const fault = (target: JsonValue, patch: JsonValue): string => {
  try {
    apply(target, patch);
  } catch (error) {
    if (error instanceof PatchFault)
      return `${error.malformed ? "malformed" : "inapplicable"}: ${error.message}`;
    throw error;
  }
  return "applied";
};

const named = (...names: string[]): JsonObject[] => names.map((name) => ({ name }));

describe("C-4.7-11 strategic merge patch", () => {
  it.each<readonly [string, JsonValue, JsonValue, JsonValue]>([
    [
      "merges maps, null removes",
      { labels: { a: "1", b: "2" } },
      { labels: { a: null, c: "3" } },
      { labels: { b: "2", c: "3" } },
    ],
    ["drops nulls of new maps", {}, { labels: { a: null, b: "1" } }, { labels: { b: "1" } }],
    ["removes members", { labels: {}, finalizers: [] }, { labels: null, strategy: null }, { finalizers: [] }],
    ["replaces another type", { raw: [1] }, { raw: { a: null, b: 1 } }, { raw: { b: 1 } }],
    [
      "replaces lists without strategy",
      { atomic: named("a", "b") },
      { atomic: named("c") },
      { atomic: named("c") },
    ],
    [
      "replaces maps of strategy replace",
      { replaced: { a: "1" } },
      { replaced: { b: "2" } },
      { replaced: { b: "2" } },
    ],
    [
      "merges maps in schemaless values, replaces lists",
      { raw: { a: { x: 1 }, l: [1] } },
      { raw: { a: { y: 2 }, l: [2] } },
      { raw: { a: { x: 1, y: 2 }, l: [2] } },
    ],
    [
      "keeps unknown members, so that validation reports them",
      {},
      { $other: 1, unknown: { a: 1 } },
      { $other: 1, unknown: { a: 1 } },
    ],

    [
      "merges objects by key",
      {
        items: [
          { name: "a", image: "1" },
          { name: "b", image: "2" },
        ],
      },
      { items: [{ name: "b", image: "3" }] },
      {
        items: [
          { name: "a", image: "1" },
          { name: "b", image: "3" },
        ],
      },
    ],
    [
      "adds new items before the items that the patch doesn't contain",
      { items: named("a") },
      { items: [{ name: "b", image: null }] },
      { items: named("b", "a") },
    ],
    [
      "adds a list",
      {},
      { items: [{ name: "a", env: [{ name: "x", value: null }] }] },
      { items: [{ name: "a", env: named("x") }] },
    ],
    [
      "merges lists in lists",
      {
        items: [
          {
            name: "a",
            env: [
              { name: "x", value: "1" },
              { name: "y", value: "2" },
            ],
          },
        ],
      },
      { items: [{ name: "a", env: [{ name: "y", value: "3" }, { name: "z" }] }] },
      { items: [{ name: "a", env: [{ name: "x", value: "1" }, { name: "y", value: "3" }, { name: "z" }] }] },
    ],
    [
      "merges by numeric keys",
      { ports: [{ port: 80, name: "a" }, { port: 90 }] },
      { ports: [{ port: 80n, image: "b" }] },
      { ports: [{ port: 80n, name: "a", image: "b" }, { port: 90 }] },
    ],
    [
      "merges into the first of several items with the same key",
      {
        ports: [
          { port: 80, name: "a" },
          { port: 80, name: "b" },
        ],
      },
      { ports: [{ port: 80, image: "c" }] },
      {
        ports: [
          { port: 80, name: "a", image: "c" },
          { port: 80, name: "b" },
        ],
      },
    ],
    [
      "uses the order of the patch",
      { items: named("a", "b", "c") },
      { items: named("c", "a") },
      { items: named("b", "c", "a") },
    ],
    [
      "replaces a list with an empty list only if the list has no merge strategy",
      { items: named("a"), atomic: named("a") },
      { items: [], atomic: [] },
      { items: named("a"), atomic: [] },
    ],

    [
      "merges scalars as a set",
      { finalizers: ["a", "b"] },
      { finalizers: ["b", "c"] },
      { finalizers: ["a", "b", "c"] },
    ],
    ["adds scalars once", {}, { finalizers: ["a", "a"] }, { finalizers: ["a"] }],

    [
      "$patch: replace in a map",
      { labels: { a: "1" } },
      { labels: { $patch: "replace", b: "2" } },
      { labels: { b: "2" } },
    ],
    [
      "$patch: replace of the whole object",
      { labels: { a: "1" }, raw: 1 },
      { $patch: "replace", labels: { b: "2", c: null } },
      { labels: { b: "2" } },
    ],
    ["$patch: delete in a map", { labels: { a: "1" } }, { labels: { $patch: "delete" } }, { labels: {} }],
    [
      "$patch: merge in a map",
      { labels: { a: "1" } },
      { labels: { $patch: "merge", b: "2" } },
      { labels: { a: "1", b: "2" } },
    ],
    [
      "$patch: delete of elements",
      { items: named("a", "b", "c") },
      {
        items: [
          { $patch: "delete", name: "b" },
          { name: "a", image: "1" },
        ],
      },
      { items: [{ name: "a", image: "1" }, { name: "c" }] },
    ],
    [
      "$patch: delete of a missing element",
      { items: named("a") },
      { items: [{ $patch: "delete", name: "b" }] },
      { items: named("a") },
    ],
    [
      "$patch: delete of all elements with a key",
      {
        ports: [
          { port: 1, name: "a" },
          { port: 1, name: "b" },
        ],
      },
      { ports: [{ $patch: "delete", port: 1 }] },
      { ports: [] },
    ],
    ["$patch: delete in a missing list", {}, { items: [{ $patch: "delete", name: "b" }] }, { items: [] }],
    [
      "$patch: replace of a list",
      { items: named("a", "b") },
      { items: [{ $patch: "replace" }, { name: "c", image: null }, { name: "b" }] },
      { items: named("c", "b") },
    ],
    [
      "$patch: replace with an empty list",
      { items: named("a", "b") },
      { items: [{ $patch: "replace" }] },
      { items: [] },
    ],

    [
      "$retainKeys drops other members",
      { strategy: { type: "Rolling", rolling: { a: "1" } } },
      { strategy: { $retainKeys: ["type"], type: "Recreate" } },
      { strategy: { type: "Recreate" } },
    ],
    [
      "$retainKeys keeps the listed members",
      { strategy: { type: "A", rolling: { a: "1" } } },
      { strategy: { $retainKeys: ["type", "rolling"], rolling: { b: "2" } } },
      { strategy: { type: "A", rolling: { a: "1", b: "2" } } },
    ],
    [
      "$retainKeys with a null",
      { strategy: { type: "A", rolling: {} } },
      { strategy: { $retainKeys: ["type"], rolling: null, type: "B" } },
      { strategy: { type: "B" } },
    ],

    [
      "$deleteFromPrimitiveList",
      { finalizers: ["a", "b", "c"] },
      { "$deleteFromPrimitiveList/finalizers": ["b", "x"] },
      { finalizers: ["a", "c"] },
    ],
    [
      "$deleteFromPrimitiveList and additions",
      { finalizers: ["a", "b"] },
      { finalizers: ["c"], "$deleteFromPrimitiveList/finalizers": ["a"] },
      { finalizers: ["c", "b"] },
    ],
    ["$deleteFromPrimitiveList of a missing list", {}, { "$deleteFromPrimitiveList/finalizers": ["a"] }, {}],
    [
      "$deleteFromPrimitiveList of a list without merge strategy",
      { items: [{ name: "a", args: ["x", "y"] }] },
      { items: [{ name: "a", "$deleteFromPrimitiveList/args": ["x"] }] },
      { items: [{ name: "a", args: ["y"] }] },
    ],

    [
      "$setElementOrder of objects",
      { items: named("a", "b", "c") },
      { "$setElementOrder/items": named("c", "a", "b") },
      { items: named("c", "a", "b") },
    ],
    [
      "$setElementOrder with a new element",
      { items: named("a", "b") },
      { "$setElementOrder/items": named("b", "n", "a"), items: [{ name: "n", image: "1" }] },
      { items: [{ name: "b" }, { name: "n", image: "1" }, { name: "a" }] },
    ],
    [
      "$setElementOrder with elements that it doesn't list",
      { items: named("s1", "a", "s2", "b", "s3") },
      { "$setElementOrder/items": named("a", "b", "n"), items: named("n") },
      { items: named("s1", "a", "s2", "b", "n", "s3") },
    ],
    [
      "$setElementOrder with a deletion",
      { items: named("a", "b", "c") },
      { "$setElementOrder/items": named("c", "a"), items: [{ $patch: "delete", name: "b" }] },
      { items: named("c", "a") },
    ],
    [
      "$setElementOrder of scalars",
      { finalizers: ["a", "b", "c"] },
      { "$setElementOrder/finalizers": ["d", "c", "a"], finalizers: ["d"] },
      { finalizers: ["d", "b", "c", "a"] },
    ],
    [
      "$setElementOrder of a new list",
      {},
      { "$setElementOrder/finalizers": ["b", "a"], finalizers: ["b", "a"] },
      { finalizers: ["b", "a"] },
    ],
    ["$setElementOrder of a missing list", {}, { "$setElementOrder/items": named("a") }, {}],
    [
      "$setElementOrder with $deleteFromPrimitiveList",
      { finalizers: ["a", "b", "c"] },
      { "$setElementOrder/finalizers": ["c", "a"], "$deleteFromPrimitiveList/finalizers": ["b"] },
      { finalizers: ["c", "a"] },
    ],
  ])("%s", (_title, target, patch, expected) => {
    const before = [deepClone(target), deepClone(patch)];
    expect(apply(target, patch)).toEqual(expected);
    expect([target, patch]).toEqual(before);
  });

  it.each<readonly [JsonValue, string]>([
    [[], "malformed: a strategic merge patch is an object"],
    [{ $patch: "other" }, "malformed: $patch must be merge, replace or delete"],
    [{ labels: { $patch: 1 } }, "malformed: $patch must be merge, replace or delete"],
    [{ items: [{ $patch: "x", name: "a" }] }, "malformed: $patch must be merge, replace or delete"],
    [{ items: [{ image: "a" }] }, "inapplicable: an element of items has no name, which is its merge key"],
    [
      { items: [{ $patch: "delete" }] },
      "inapplicable: an element of items has no name, which is its merge key",
    ],
    [{ items: ["a"] }, "inapplicable: the elements of items must be objects"],
    [{ items: [{ name: {} }] }, "inapplicable: the elements of items.name must be scalars"],
    [{ finalizers: [["a"]] }, "inapplicable: the elements of finalizers must be scalars"],
    [{ finalizers: [{ a: 1 }] }, "inapplicable: the elements of finalizers must be scalars"],
    [{ strategy: { $retainKeys: "type" } }, "malformed: $retainKeys must be a list of names"],
    [
      { strategy: { $retainKeys: ["type"], rolling: {} } },
      'malformed: $retainKeys doesn\'t name "rolling", which the patch sets',
    ],
    [
      { "$deleteFromPrimitiveList/finalizers": "a" },
      "malformed: $deleteFromPrimitiveList/finalizers must be a list",
    ],
    [
      { $deleteFromPrimitiveList: ["a"] },
      "malformed: $deleteFromPrimitiveList must be followed by a slash and a field's name",
    ],
    [
      { "$setElementOrder/": ["a"] },
      "malformed: $setElementOrder must be followed by a slash and a field's name",
    ],
    [{ "$setElementOrder/finalizers": null }, "malformed: $setElementOrder/finalizers must be a list"],
    [
      { "$setElementOrder/finalizers": ["a"], finalizers: ["b"] },
      "malformed: $setElementOrder/finalizers doesn't agree with the order of finalizers",
    ],
    [
      { "$setElementOrder/items": named("a", "b"), items: named("b", "a") },
      "malformed: $setElementOrder/items doesn't agree with the order of items",
    ],
    [
      { "$setElementOrder/items": [{}] },
      "inapplicable: an element of items has no name, which is its merge key",
    ],
  ])("rejects %j", (patch, message) => {
    expect(fault({ items: named("a"), finalizers: ["a"], labels: { a: "1" } }, patch)).toBe(message);
  });

  it("treats __proto__ as an ordinary member", () => {
    const patch = JSON.parse(
      '{"labels":{"__proto__":{"polluted":1}},"__proto__":{"polluted":1}}',
    ) as JsonValue;
    expect(JSON.stringify(apply({}, patch))).toBe(JSON.stringify(patch));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("merges two lists of 50,000 items within 4 seconds", () => {
    const many = named(...Array.from({ length: 50_000 }, (_, index) => `n${index}`));
    const spent = cpuStopwatch();
    expect(
      (
        apply({ items: many }, { items: many.toReversed(), "$setElementOrder/items": many.toReversed() }) as {
          items: JsonValue[];
        }
      ).items[0],
    ).toEqual({ name: "n49999" });
    expect(spent()).toBeLessThan(4000);
  });
});
