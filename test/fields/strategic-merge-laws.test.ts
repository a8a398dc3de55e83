import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json/value.ts";
import { applyStrategicMergePatch } from "../../src/fields/strategic-merge.ts";
import { struct } from "../../src/schema/meta.ts";
import { field, list, map, string } from "../../src/schema/types.ts";

const Thing = struct("Thing", "", {
  items: field(1, list(struct("Item", "", { name: field(1, string, "") })), "").patchMerge("name"),
  finalizers: field(2, list(string), "").patchMerge(),
  labels: field(3, map(string), ""),
});
const apply = (target: JsonObject, patch: JsonObject) =>
  applyStrategicMergePatch(Thing, target, patch) as JsonObject;

describe("strategic merge laws", () => {
  const names = fc.uniqueArray(fc.constantFrom<string>("a", "b", "c", "d", "e"));
  const labels = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"));
  const thing = fc.record({
    items: names.map((list) => list.map((name) => ({ name }))),
    finalizers: names,
    labels,
  }) as fc.Arbitrary<JsonObject>;

  it("a patch changes nothing when it is applied again", () => {
    fc.assert(
      fc.property(thing, thing, (target, patch) => {
        const once = apply(target, patch);
        expect(apply(once, patch)).toEqual(once);
      }),
    );
  });

  it("the empty patch changes nothing, and a patch applied to an empty object or to itself returns the patch", () => {
    fc.assert(
      fc.property(thing, (target) => {
        expect(apply(target, {})).toEqual(target);
        expect(apply({}, target)).toEqual(target);
        expect(apply(target, target)).toEqual(target);
      }),
    );
  });

  it("a merged list is the union in the order of the patch", () => {
    fc.assert(
      fc.property(names, names, (live, patch) => {
        const { finalizers } = apply({ finalizers: live }, { finalizers: patch }) as { finalizers: string[] };
        expect(new Set(finalizers)).toEqual(new Set([...live, ...patch]));
        expect(finalizers.filter((name) => patch.includes(name))).toEqual(patch);
        const rest = (list: string[]) => list.filter((name) => !patch.includes(name));
        expect(rest(finalizers)).toEqual(rest(live));
      }),
    );
  });
});
