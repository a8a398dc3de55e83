import { describe, expect, test } from "vitest";
import { decodeFieldSet } from "../../../src/fields/apply/field-set.ts";
import { applyFields, updateFields, type Versions } from "../../../src/fields/apply/ownership.ts";
import { deducedShape, type Shape } from "../../../src/fields/apply/shape.ts";
import { reconcileWithShape } from "../../../src/fields/apply/topology.ts";
import { encodeFieldSet, nothing, ownersOf, thingShape, type State } from "./support.ts";

const leaf: Shape = { kind: "leaf" };
const items: Shape = {
  kind: "items",
  keys: ["name"],
  element: thingShape,
  defaults: new Map(),
  zeros: new Map(),
};
const a = 'k:{"name":"a"}';

describe("a set under another declaration", () => {
  test.each<[string, Shape, object, object]>([
    ["a field stays", thingShape, { "f:image": {} }, { "f:image": {} }],
    [
      "C-4.10-23 a key of what is one now is the whole",
      thingShape,
      { "f:whole": { "f:x": {} } },
      { "f:whole": {} },
    ],
    [
      "C-4.10-23 a value of what is one now is the whole",
      thingShape,
      { "f:args": { 'v:"x"': {} } },
      { "f:args": {} },
    ],
    [
      "C-4.10-23 C-4.10-21 something deep in what is one now is the whole",
      thingShape,
      { "f:selector": { "f:app": { ".": {}, [a]: { "f:x": {} } } } },
      { "f:selector": {} },
    ],
    [
      "C-4.10-24 the whole of what is taken apart now is the place",
      thingShape,
      { "f:labels": {} },
      { "f:labels": {} },
    ],
    [
      "C-4.10-23 an item that is one now",
      { ...items, element: leaf } as Shape,
      { [a]: { ".": {}, "f:image": {} } },
      { [a]: {} },
    ],
    [
      "inside an item",
      items,
      { [a]: { ".": {}, "f:whole": { "f:x": {} } } },
      { [a]: { ".": {}, "f:whole": {} } },
    ],
    [
      "a field that isn't declared any more stays",
      thingShape,
      { "f:gone": { "f:x": {} } },
      { "f:gone": { "f:x": {} } },
    ],
    ["values of what has items now are nobody's", items, { 'v:"x"': {} }, {}],
    [
      "items of what is a set now are nobody's",
      thingShape,
      { "f:image": {}, "f:tags": { [a]: {} } },
      { "f:image": {} },
    ],
    ["the place of such a list stays", thingShape, { "f:tags": { ".": {}, [a]: {} } }, { "f:tags": {} }],
    [
      "C-4.10-22 C-4.10-23 without a schema every list is one",
      deducedShape,
      { "f:spec": { "f:list": { [a]: { "f:x": {} } }, "f:set": { "v:1": {} }, "f:map": { "f:x": {} } } },
      { "f:spec": { "f:list": {}, "f:set": {}, "f:map": { "f:x": {} } } },
    ],
  ])("%s", (_rule, shape, before, after) => {
    expect(encodeFieldSet(reconcileWithShape(decodeFieldSet(before), shape))).toEqual(after);
  });

  test("is the same set where nothing changed", () => {
    const set = decodeFieldSet({ "f:image": {}, "f:labels": { "f:x": {} }, "f:tags": { 'v:"x"': {} } });
    expect(reconcileWithShape(set, thingShape)).toBe(set);
  });
});

/** A custom kind whose schema comes and goes. */
describe("an object without a schema", () => {
  const versionsOf = (shape: Shape): Versions => ({
    shape: () => shape,
    convert: (object) => object,
    canonical: (object) => object,
  });
  const apply = (state: State, manager: string, object: object, shape = deducedShape, force = false): State =>
    applyFields(state.object, object, state.owners, versionsOf(shape), { manager, version: "v1", force });

  test("C-4.10-22 has members with an owner each, and lists with one", () => {
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

  test("C-4.10-22 a member may become another sort of value, which is a conflict like any other", () => {
    const first = apply(nothing, "a", { spec: { it: { x: 1 } } });
    const forced = apply(first, "b", { spec: { it: "text" } }, deducedShape, true);
    expect(forced.object).toEqual({ spec: { it: "text" } });
    expect(ownersOf(forced)).toEqual({ a: ["f:spec"], b: ["f:spec", "f:spec f:it"] });
    const back = apply(forced, "b", { spec: { it: { y: 2 } } });
    expect(back.object).toEqual({ spec: { it: { y: 2 } } });
    expect(ownersOf(back)).toEqual({ a: ["f:spec"], b: ["f:spec", "f:spec f:it", "f:spec f:it f:y"] });
  });

  test("C-4.10-23 takes over, as one, the items of lists that had a schema, and gives them back as a place", () => {
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
