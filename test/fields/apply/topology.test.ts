import { describe, expect, test } from "vitest";
import { decodeFieldSet } from "../../../src/fields/apply/field-set.ts";
import { applyFields, updateFields, type Versions } from "../../../src/fields/apply/ownership.ts";
import { deducedShape, type Shape } from "../../../src/fields/apply/shape.ts";
import { reconcileWithShape } from "../../../src/fields/apply/owned-fields.ts";
import { encodeFieldSet, nothing, ownersOf, thingShape, type State } from "./support.ts";

const leaf: Shape = { kind: "leaf" };
const items: Shape = {
  kind: "items",
  keys: ["name"],
  elementKeys: ["name"],
  element: thingShape,
  defaults: new Map(),
  zeros: new Map(),
  optional: new Set<string>(),
};
const a = 'k:{"name":"a"}';

describe("a recorded set after a change of the schema", () => {
  test.each<[string, Shape, object, object]>([
    ["keeps an unchanged field", thingShape, { "f:image": {} }, { "f:image": {} }],
    [
      "C-4.10-23 the owner of a key owns the whole map when the map becomes atomic",
      thingShape,
      { "f:whole": { "f:x": {} } },
      { "f:whole": {} },
    ],
    [
      "C-4.10-23 the owner of an item owns the whole list when a set becomes atomic",
      thingShape,
      { "f:args": { 'v:"x"': {} } },
      { "f:args": {} },
    ],
    [
      "C-4.10-23 C-4.10-21 the owner of a nested field owns the whole struct when the struct becomes atomic",
      thingShape,
      { "f:selector": { "f:app": { ".": {}, [a]: { "f:x": {} } } } },
      { "f:selector": {} },
    ],
    [
      "C-4.10-24 the owner of an atomic map owns only its path when the map becomes granular",
      thingShape,
      { "f:labels": {} },
      { "f:labels": {} },
    ],
    [
      "C-4.10-23 the owner of a field of a list item owns the whole item when items become atomic",
      { ...items, element: leaf } as Shape,
      { [a]: { ".": {}, "f:image": {} } },
      { [a]: {} },
    ],
    [
      "the owner of a key owns the whole map when a map in a list item becomes atomic",
      items,
      { [a]: { ".": {}, "f:whole": { "f:x": {} } } },
      { [a]: { ".": {}, "f:whole": {} } },
    ],
    [
      "keeps a field that is no longer declared",
      thingShape,
      { "f:gone": { "f:x": {} } },
      { "f:gone": { "f:x": {} } },
    ],
    ["drops values when a set becomes a list with keys", items, { 'v:"x"': {} }, {}],
    [
      "drops items when a list with keys becomes a set",
      thingShape,
      { "f:image": {}, "f:tags": { [a]: {} } },
      { "f:image": {} },
    ],
    [
      "keeps the path of the list when a list with keys becomes a set",
      thingShape,
      { "f:tags": { ".": {}, [a]: {} } },
      { "f:tags": {} },
    ],
    [
      "C-4.10-22 C-4.10-23 lists become atomic when the schema is removed",
      deducedShape,
      { "f:spec": { "f:list": { [a]: { "f:x": {} } }, "f:set": { "v:1": {} }, "f:map": { "f:x": {} } } },
      { "f:spec": { "f:list": {}, "f:set": {}, "f:map": { "f:x": {} } } },
    ],
  ])("%s", (_rule, shape, before, after) => {
    expect(encodeFieldSet(reconcileWithShape(decodeFieldSet(before), shape))).toEqual(after);
  });

  test("is the same object when no change is needed", () => {
    const set = decodeFieldSet({ "f:image": {}, "f:labels": { "f:x": {} }, "f:tags": { 'v:"x"': {} } });
    expect(reconcileWithShape(set, thingShape)).toBe(set);
  });
});

/** A custom kind with and without a schema. */
describe("an object without a schema", () => {
  const versionsOf = (shape: Shape): Versions => ({
    shape: () => shape,
    convert: (object) => object,
    canonical: (object) => object,
  });
  const apply = (state: State, manager: string, object: object, shape = deducedShape, force = false): State =>
    applyFields(state.object, object, state.owners, versionsOf(shape), { manager, version: "v1", force });

  test("C-4.10-22 has granular objects and atomic lists", () => {
    const first = apply(nothing, "a", { spec: { deep: { x: 1 }, list: [{ name: "a" }], text: "t" } });
    const places = ["f:spec", "f:spec f:deep"];
    expect(ownersOf(first)).toEqual({
      a: [...places, "f:spec f:deep f:x", "f:spec f:list", "f:spec f:text"],
    });
    const second = apply(first, "b", { spec: { deep: { y: 2 } } });
    expect(second.object).toEqual({ spec: { deep: { x: 1, y: 2 }, list: [{ name: "a" }], text: "t" } });
    expect(() => apply(second, "b", { spec: { list: [{ name: "b" }] } })).toThrow(
      "other managers own fields",
    );
    const less = apply(second, "a", { spec: { text: "t" } });
    expect(less.object).toEqual({ spec: { deep: { y: 2 }, text: "t" } });
  });

  test("C-4.10-22 changing the type of another manager's member is a conflict, and possible with force", () => {
    const first = apply(nothing, "a", { spec: { it: { x: 1 } } });
    const forced = apply(first, "b", { spec: { it: "text" } }, deducedShape, true);
    expect(forced.object).toEqual({ spec: { it: "text" } });
    expect(ownersOf(forced)).toEqual({ a: ["f:spec"], b: ["f:spec", "f:spec f:it"] });
    const back = apply(forced, "b", { spec: { it: { y: 2 } } });
    expect(back.object).toEqual({ spec: { it: { y: 2 } } });
    expect(ownersOf(back)).toEqual({ a: ["f:spec"], b: ["f:spec", "f:spec f:it", "f:spec f:it f:y"] });
  });

  test("C-4.10-23 lists become atomic for their owners; when the schema returns, the owners keep only the path of the list", () => {
    const withSchema: State = apply(nothing, "a", { ports: [{ port: 80 }], tags: ["x"] }, thingShape);
    const without = updateFields(
      withSchema.object,
      { ...(withSchema.object as object), image: "i" },
      withSchema.owners,
      versionsOf(deducedShape),
      { manager: "u", version: "v1" },
    );
    const state = { object: withSchema.object, owners: without.owners };
    expect(ownersOf(state)).toEqual({ a: ["f:ports", "f:tags"], u: ["f:image"] });
    const again = apply(state, "b", { tags: ["y"] }, thingShape);
    expect(again.object).toEqual({ ports: [{ port: 80 }], tags: ["x", "y"] });
    expect(ownersOf(again)).toMatchObject({ a: ["f:ports", "f:tags"], b: ['f:tags v:"y"'] });
  });
});
