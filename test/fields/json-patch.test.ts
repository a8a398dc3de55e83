import path from "node:path";
import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { applyPatch as oracle, createPatch } from "rfc6902";
import { describe, expect, it } from "vitest";
import { decodeJson } from "../../src/base/json/decode.ts";
import { type JsonValue, deepClone, deepEqual } from "../../src/base/json/value.ts";
import { StatusError } from "../../src/base/status-error.ts";
import { applyJsonPatch, defaultJsonPatchLimits } from "../../src/fields/json-patch.ts";
import { PatchFault } from "../../src/fields/patch-fault.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const fault = (target: JsonValue, patch: JsonValue): string => {
  try {
    applyJsonPatch(target, patch);
  } catch (error) {
    if (error instanceof PatchFault)
      return `${error.malformed ? "malformed" : "inapplicable"}: ${error.message}`;
    throw error;
  }
  return "applied";
};

interface PublicCase {
  readonly comment?: string;
  readonly doc: JsonValue;
  readonly patch: JsonValue;
  readonly expected?: JsonValue;
  readonly error?: string;
  readonly disabled?: boolean;
}

/** A patch that names a member twice is refused where it is decoded. */
function readCases(file: string): PublicCase[] {
  const { value, duplicates } = decodeJson(readFileSync(file));
  const cases = value as unknown as PublicCase[];
  return cases.filter((_one, index) => !duplicates.some((path) => path.startsWith(`[${index}].patch[`)));
}

const folder = path.resolve(import.meta.dirname, "../../../shared/json-patch-tests");
const publicCases = ["tests.json", "spec_tests.json"]
  .map((file) => `${folder}/${file}`)
  .filter((file) => existsSync(file))
  .flatMap((file) => readCases(file))
  .filter((one) => one.patch !== undefined);

// The public set isn't part of the project; it is used where it is at hand.
describe.skipIf(publicCases.length === 0)("C-4.7-10 public JSON patch tests", () => {
  it.each(publicCases.map((one, index) => [index, one.comment ?? one.error ?? "", one] as const))(
    "%i %s",
    (_index, _comment, one) => {
      const before = deepClone(one.doc);
      if (one.error !== undefined) {
        expect(fault(one.doc, one.patch)).toMatch(/^(malformed|inapplicable): /);
      } else {
        const result = applyJsonPatch(one.doc, one.patch);
        if (one.expected !== undefined) expect(deepEqual(result, one.expected)).toBe(true);
      }
      expect(one.doc).toEqual(before);
    },
  );
});

describe("C-4.7-10 JSON patch", () => {
  it.each<readonly [string, JsonValue, JsonValue, JsonValue]>([
    ["adds a member", {}, [{ op: "add", path: "/a", value: 1 }], { a: 1 }],
    ["replaces a member by add", { a: 1 }, [{ op: "add", path: "/a", value: null }], { a: null }],
    ["inserts before an element", [1, 2], [{ op: "add", path: "/1", value: 9 }], [1, 9, 2]],
    [
      "appends",
      { a: [1] },
      [
        { op: "add", path: "/a/-", value: 2 },
        { op: "add", path: "/a/2", value: 3 },
      ],
      { a: [1, 2, 3] },
    ],
    ["unescapes names", { "a/b": { "m~n": 1 } }, [{ op: "remove", path: "/a~1b/m~0n" }], { "a/b": {} }],
    ["reads ~01 as ~1", { "~1": 1 }, [{ op: "remove", path: "/~01" }], {}],
    ["moves", { a: { b: 1 }, c: {} }, [{ op: "move", from: "/a/b", path: "/c/d" }], { a: {}, c: { d: 1 } }],
    ["accepts a move to the same path", { a: 1 }, [{ op: "move", from: "/a", path: "/a" }], { a: 1 }],
    [
      "copies without sharing",
      { a: [1] },
      [
        { op: "copy", from: "/a", path: "/b" },
        { op: "add", path: "/b/-", value: 2 },
      ],
      { a: [1], b: [1, 2] },
    ],
    ["adds an absent member by replace", { a: 1 }, [{ op: "replace", path: "/b", value: 2 }], { a: 1, b: 2 }],
    [
      "adds an absent member by replace to an object that an earlier operation added",
      {},
      [
        { op: "add", path: "/a", value: {} },
        { op: "replace", path: "/a/b", value: 1 },
      ],
      { a: { b: 1 } },
    ],
    ["replaces the whole document", { a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }], { b: 2 }],
    ["tests numbers by value", { a: 1 }, [{ op: "test", path: "/a", value: 1n }], { a: 1 }],
    [
      "tests objects in any order",
      { a: { x: 1, y: [2] } },
      [{ op: "test", path: "/a", value: { y: [2], x: 1 } }],
      { a: { x: 1, y: [2] } },
    ],
    [
      "changes an added value twice",
      {},
      [
        { op: "add", path: "/a", value: { b: [] } },
        { op: "add", path: "/a/b/-", value: 1 },
        { op: "add", path: "/a/b/-", value: 2 },
      ],
      { a: { b: [1, 2] } },
    ],
    [
      "treats an absent member as null in a test",
      { a: {} },
      [{ op: "test", path: "/a/b", value: null }],
      { a: {} },
    ],
    ["adds a member with an empty name", {}, [{ op: "add", path: "/", value: 1 }], { "": 1 }],
  ])("%s", (_title, target, patch, expected) => {
    const before = [deepClone(target), deepClone(patch)];
    expect(applyJsonPatch(target, patch)).toEqual(expected);
    expect([target, patch]).toEqual(before);
  });

  it.each<readonly [JsonValue, string]>([
    [{}, "malformed: a JSON patch is an array of operations"],
    [[1], "malformed: operation 0 is not an object"],
    [[{}], 'malformed: operation 0 has no string "path"'],
    [[{ op: "add", path: "/a" }], 'malformed: operation 0 (add) has no "value"'],
    [[{ op: "spam", path: "/a" }], 'malformed: operation 0 has an unknown "op"'],
    [[{ op: "copy", path: "/a" }], 'malformed: operation 0 has no string "from"'],
    [[{ op: "remove", path: "a" }], 'malformed: the path "a" doesn\'t start with a slash'],
    [[{ op: "remove", path: "/a~2" }], 'malformed: the path "/a~2" has a ~ that isn\'t ~0 or ~1'],
    [[{ op: "remove", path: "/x" }], 'inapplicable: the path "/x" doesn\'t exist'],
    [[{ op: "replace", path: "/x/y", value: 1 }], 'inapplicable: the path "/x/y" doesn\'t exist'],
    [
      [{ op: "replace", path: "/s/y", value: 1 }],
      'inapplicable: the path "/s/y" leads through a value that has no members',
    ],
    [
      [{ op: "replace", path: "/l/2", value: 1 }],
      'inapplicable: the path "/l/2" has an index beyond the array\'s end',
    ],
    [
      [{ op: "replace", path: "/l/-", value: 1 }],
      'inapplicable: the path "/l/-" has "-" instead of an index',
    ],
    [[{ op: "remove", path: "/x/y" }], 'inapplicable: the path "/x/y" doesn\'t exist'],
    [[{ op: "move", from: "/x", path: "/y" }], 'inapplicable: the path "/x" doesn\'t exist'],
    [[{ op: "copy", from: "/x", path: "/y" }], 'inapplicable: the path "/x" doesn\'t exist'],
    [[{ op: "add", path: "/x/y", value: 1 }], 'inapplicable: the path "/x/y" doesn\'t exist'],
    [
      [{ op: "add", path: "/s/y", value: 1 }],
      'inapplicable: the path "/s/y" leads through a value that has no members',
    ],
    [[{ op: "test", path: "/s", value: "b" }], 'inapplicable: the test of "/s" failed: its value is another'],
    [[{ op: "test", path: "/x/y", value: null }], 'inapplicable: the path "/x" doesn\'t exist'],
    [
      [{ op: "test", path: "/o", value: null }],
      'inapplicable: the test of "/o" failed: its value is another',
    ],
    [
      [{ op: "test", path: "/l/2", value: null }],
      'inapplicable: the path "/l/2" has an index beyond the array\'s end',
    ],
    [[{ op: "remove", path: "/l/2" }], 'inapplicable: the path "/l/2" has an index beyond the array\'s end'],
    [
      [{ op: "add", path: "/l/3", value: 1 }],
      'inapplicable: the path "/l/3" has an index beyond the array\'s end',
    ],
    [[{ op: "remove", path: "/l/01" }], 'inapplicable: the path "/l/01" has "01" instead of an index'],
    [[{ op: "remove", path: "/l/-1" }], 'inapplicable: the path "/l/-1" has "-1" instead of an index'],
    [[{ op: "remove", path: "/l/-" }], 'inapplicable: the path "/l/-" has "-" instead of an index'],
    [
      [{ op: "remove", path: "/l/length" }],
      'inapplicable: the path "/l/length" has "length" instead of an index',
    ],
    [[{ op: "move", from: "/o", path: "/o/p" }], 'inapplicable: "/o" can\'t be moved into itself'],
    [[{ op: "remove", path: "" }], "inapplicable: the whole document can't be removed"],
    [[{ op: "test", path: "/toString", value: 1 }], 'inapplicable: the path "/toString" doesn\'t exist'],
  ])("rejects %j", (patch, message) => {
    expect(fault({ s: "a", l: [1, 2], o: { p: 1 } }, patch)).toBe(message);
  });

  it("changes nothing when a later operation fails", () => {
    const target = { a: [1] };
    expect(
      fault(target, [
        { op: "add", path: "/a/-", value: 2 },
        { op: "remove", path: "/b" },
      ]),
    ).toContain("inapplicable");
    expect(target).toEqual({ a: [1] });
  });

  it("treats __proto__ as an ordinary member", () => {
    const result = applyJsonPatch({}, [
      { op: "add", path: "/__proto__", value: {} },
      { op: "add", path: "/__proto__/polluted", value: true },
    ]);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(fault({}, [{ op: "add", path: "/constructor/prototype/x", value: 1 }])).toContain("doesn't exist");
  });
});

describe("JSON patch laws", () => {
  const names = fc.constantFrom("a", "a", "b", "0", "-", "~/");
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer(),
      fc.constantFrom("x", null, true),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(names, tie("value"), { maxKeys: 3 }),
    ),
  })).value as fc.Arbitrary<JsonValue>;
  const object = fc.dictionary(names, json, { minKeys: 2 });
  const pointer = fc
    .array(names, { minLength: 1, maxLength: 2 })
    .map((parts) => parts.map((part) => `/${part.replace("~/", "~0~1")}`).join(""));
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom("add", "replace", "test"), path: pointer, value: json }),
    fc.record({ op: fc.constantFrom("move", "copy"), path: pointer, from: pointer }),
    fc.record({ op: fc.constant("remove"), path: pointer }),
  ) as fc.Arbitrary<{ op: string; path: string; from?: string }>;

  it("an accepted patch has the same result as in another implementation", () => {
    let applied = 0;
    fc.assert(
      fc.property(object, fc.array(operation, { minLength: 1, maxLength: 3 }), (target, patch) => {
        const before = deepClone(target);
        let result: JsonValue;
        try {
          result = applyJsonPatch(target, patch as unknown as JsonValue);
        } catch (error) {
          expect(error).toBeInstanceOf(PatchFault);
          return;
        } finally {
          expect(target).toEqual(before);
        }
        // The other implementation can't replace the whole document.
        if (patch.some((one) => one.path === "" || one.from === "")) return;
        // As in the RFC, it rejects a test of an absent member for null.
        if (patch.some((one) => one.op === "test" && (one as { value?: JsonValue }).value === null)) return;
        const copy = deepClone(target);
        const faults = oracle(copy, structuredClone(patch) as never);
        // As in the RFC, it rejects the replacement of an absent member. In Kubernetes this adds the member.
        if (patch.some((one, index) => one.op === "replace" && faults[index]?.name === "MissingError"))
          return;
        applied++;
        expect(faults).toEqual(patch.map(() => null));
        expect(result).toEqual(copy);
      }),
      { numRuns: 3000 },
    );
    expect(applied).toBeGreaterThan(50);
  });

  it("a patch that another implementation creates from two documents turns the first into the second", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const patch = createPatch(a, b) as unknown as JsonValue;
        expect(applyJsonPatch(a, patch)).toEqual(b);
      }),
      { numRuns: 500 },
    );
  });
});

describe("JSON patches of large objects can", () => {
  const items = Array.from({ length: 10_000 }, (_, id) => ({ id }));

  it("remove the first of 10,000 items fifty times", () => {
    const removals = Array.from({ length: 50 }, () => ({ op: "remove", path: "/data/0" }));
    expect(applyJsonPatch({ data: items }, removals)).toEqual({ data: items.slice(50) });
    expect(items[0]).toEqual({ id: 0 });
  });

  it("move a large list 1001 times", () => {
    const there = { op: "move", from: "/a", path: "/b/c" };
    const back = { op: "move", from: "/b/c", path: "/a" };
    const moves = Array.from({ length: 1001 }, (_, i) => (i % 2 === 0 ? there : back));
    expect(applyJsonPatch({ a: items, b: {} }, moves)).toEqual({ b: { c: items } });
  });

  it("copy a template 4000 times", () => {
    const template = { name: "x", ports: Array.from({ length: 100 }, (_, port) => port) };
    const copies = Array.from({ length: 4000 }, () => ({ op: "copy", from: "/template", path: "/all/-" }));
    const result = applyJsonPatch({ template, all: [] }, copies) as { all: JsonValue[] };
    expect(result.all).toHaveLength(4000);
    expect(result.all[3999]).toEqual(template);
  });

  it("test a small value of a large object 5000 times, and the whole object once", () => {
    const target = { a: { items } };
    const small = Array.from({ length: 5000 }, () => ({ op: "test", path: "/a/items/7/id", value: 7 }));
    const whole = { op: "test", path: "/a/items", value: deepClone(items) };
    expect(applyJsonPatch(target, [...small, whole])).toEqual(target);
    expect(fault(target, [{ op: "test", path: "/a/items", value: [] }])).toContain("its value is another");
  });
});

describe("malicious JSON patches", () => {
  it("have at most 10000 operations", () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/a", value: 1 }));
    expect(() => applyJsonPatch({ a: 1 }, operations)).toThrow(StatusError);
    expect(applyJsonPatch({ a: 1 }, operations.slice(1))).toEqual({ a: 1 });
  });

  it("are rejected when copies add too many characters", () => {
    const patch = Array.from({ length: 60 }, () => ({ op: "copy", from: "/a", path: "/a/-" }));
    expect(fault({ a: ["x".repeat(100)] }, patch)).toContain("copy operations may add");
  });

  it("are rejected when the result is nested too deeply", () => {
    const deep = (depth: number): JsonValue => (depth === 0 ? 1 : { a: deep(depth - 1) });
    const path = "/a".repeat(150);
    expect(fault({}, [{ op: "add", path: "", value: deep(200) }])).toBe("applied");
    expect(fault({}, [{ op: "add", path: "/a", value: deep(200) }])).toContain("nested deeper than 200");
    expect(fault(deep(151), [{ op: "add", path: `${path}/b`, value: deep(60) }])).toContain("nested deeper");
    expect(fault(deep(180), [{ op: "copy", from: "/a/a", path: `${"/a".repeat(30)}/b` }])).toContain(
      "nested deeper",
    );
    expect(
      fault({ x: deep(150), y: deep(150) }, [{ op: "move", from: "/x", path: `/y${"/a".repeat(149)}/b` }]),
    ).toContain("nested deeper");
  });

  it("are rejected when they shift or compare large arrays too often", () => {
    const target = { a: Array.from({ length: 1_000_000 }, () => 0) };
    const usedMs = cpuStopwatch();
    const insert = Array.from({ length: 10_000 }, () => ({ op: "add", path: "/a/0", value: 0 }));
    expect(fault(target, insert)).toContain("too much work");
    expect(
      fault(
        target,
        Array.from({ length: 10_000 }, () => ({ op: "test", path: "/a", value: target.a })),
      ),
    ).toContain("too much work");
    expect(usedMs()).toBeLessThan(3000);
  });

  it("are rejected when they move a large map too often", () => {
    const keys = Array.from({ length: 200_000 }, (_, i) => [`key${i}`, 1] as const);
    const there = { op: "move", from: "/a", path: "/b" };
    const back = { op: "move", from: "/b", path: "/a" };
    const moves = Array.from({ length: 195 }, (_, i) => (i % 2 === 0 ? there : back));
    const usedMs = cpuStopwatch();
    expect(fault({ a: Object.fromEntries(keys) }, moves)).toContain("too much work");
    expect(fault({ a: Object.fromEntries(keys.slice(0, 100_000)) }, moves)).toBe("applied");
    expect(usedMs()).toBeLessThan(1000);
  });

  it("are charged for the new size of a value that has grown", () => {
    const grow = (value: JsonValue) => [
      { op: "copy", from: "/a", path: "/b" },
      { op: "add", path: "/a/c/-", value },
    ];
    const target = { a: { c: [] }, deep: {} };
    const copies = Array.from({ length: 40 }, () => ({ op: "copy", from: "/a", path: "/b" }));
    expect(fault(target, [...grow(""), ...copies])).toBe("applied");
    expect(fault(target, [...grow("x".repeat(100_000)), ...copies])).toContain("copy operations may add");
    let nested: JsonValue = 1;
    for (let depth = 0; depth < 197; depth++) nested = [nested];
    expect(fault(target, grow(nested))).toBe("applied");
    expect(fault(target, [...grow(nested), { op: "copy", from: "/a", path: "/deep/a" }])).toContain(
      "nested deeper than 200",
    );
  });

  it("are charged again for a large map that changes between two moves", () => {
    const target = { a: Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`key${i}`, 1])) };
    const stay = { op: "move", from: "/a", path: "/a" };
    const change = { op: "replace", path: "/a/key0", value: 2 };
    expect(fault(target, [stay, change, stay, change, stay])).toBe("applied");
    expect(fault(target, [stay, change, stay, change, stay, change, stay])).toContain("too much work");
  });

  it("are limited by the options of the caller", () => {
    const limits = { ...defaultJsonPatchLimits, maxOperations: 1 };
    expect(() => applyJsonPatch({}, [{}, {}], limits)).toThrow("may have 1 operations, this one has 2");
  });
});
