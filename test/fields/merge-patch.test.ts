import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonObject, type JsonValue, deepClone } from "../../src/base/json/value.ts";
import { applyMergePatch, mergeJson } from "../../src/fields/merge-patch.ts";
import { PatchFault } from "../../src/fields/patch-fault.ts";

describe("C-4.7-09 merge patch", () => {
  // The table of RFC 7386, appendix A.
  it.each<readonly [JsonValue, JsonValue, JsonValue]>([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    // Beyond the table, as the reference has it: members that are null are left out in lists too, but not items.
    [{}, { a: [{ b: null, c: 1 }, null, [{ d: null }]] }, { a: [{ c: 1 }, null, [{}]] }],
  ])("%j with %j is %j", (target, patch, expected) => {
    const before = [deepClone(target), deepClone(patch)];
    expect(mergeJson(target, patch)).toEqual(expected);
    expect([target, patch]).toEqual(before);
  });

  it.each([[[]], [null], ["x"], [1]])("rejects %j as a patch of an object", (patch) => {
    expect(() => applyMergePatch({}, patch as JsonValue)).toThrow(PatchFault);
  });

  it("treats __proto__ as an ordinary member", () => {
    const patch = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}}',
    ) as JsonValue;
    const result = applyMergePatch({}, patch);
    expect(JSON.stringify(result)).toBe(JSON.stringify(patch));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(
      Object.keys(applyMergePatch(result, JSON.parse('{"__proto__":null}') as JsonValue) as JsonObject),
    ).toEqual(["constructor"]);
  });

  it("changes nothing when it is applied again", () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
    const object = fc.dictionary(fc.constantFrom("a", "b", "c"), value) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(object, object, (target, patch) => {
        const once = applyMergePatch(target, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
        expect(mergeJson(target, {})).toEqual(target);
      }),
    );
  });
});
