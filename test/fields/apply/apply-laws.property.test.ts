import fc, { type Arbitrary } from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeFieldSet, FieldSet, fieldSetText, readFieldSet } from "../../../src/fields/apply/field-set.ts";
import { textOfFields } from "../../../src/fields/apply/fields-text.ts";
import { mergeTyped } from "../../../src/fields/apply/merge-typed.ts";
import { ApplyConflict } from "../../../src/fields/apply/ownership.ts";
import { textOfNewFields } from "../../../src/fields/apply/new-fields-text.ts";
import { readSet, readNewPart } from "../../../src/fields/apply/read-set.ts";
import { removeFields } from "../../../src/fields/apply/remove.ts";
import { compareTyped } from "../../../src/fields/apply/compare.ts";
import { encodeFieldSet, nothing, take, thingShape, type State, type Step } from "./support.ts";

const word = fc.constantFrom("a", "b", "c");
const few = { requiredKeys: [], noNullPrototype: true };
const option = fc.record({ level: fc.integer({ min: 0, max: 2 }), note: word }, few);
const port = fc.record(
  { port: fc.integer({ min: 1, max: 3 }), protocol: fc.constantFrom("TCP", "UDP"), name: word, option },
  { requiredKeys: ["port"], noNullPrototype: true },
);
const keyOf = ({ port: number, protocol = "TCP" }: { port: number; protocol?: string }) =>
  `${number} ${protocol}`;

/** Objects with so few values that two of them often have equal fields. */
const thing: Arbitrary<Record<string, unknown>> = fc.record(
  {
    replicas: fc.integer({ min: 0, max: 2 }),
    image: word,
    labels: fc.dictionary(word, word, { maxKeys: 2, noNullPrototype: true }),
    whole: fc.dictionary(word, word, { maxKeys: 2, noNullPrototype: true }),
    args: fc.array(word, { maxLength: 2 }),
    tags: fc.uniqueArray(word, { maxLength: 3 }),
    ports: fc.uniqueArray(port, { maxLength: 3, selector: keyOf }),
    option,
    selector: fc.record({ app: word, tier: word }, few),
  },
  few,
);

const manager = fc.constantFrom("x", "y", "z");
const step: Arbitrary<Step> = fc.oneof(
  fc.record({ apply: manager, object: thing, force: fc.boolean() }),
  fc.record({ update: manager, object: thing }),
);

/** Runs steps; skips applies with conflicts. */
function run(steps: readonly Step[]): State {
  return steps.reduce((state, one) => {
    try {
      return take(state, one);
    } catch (error) {
      if (error instanceof ApplyConflict) return state;
      throw error;
    }
  }, nothing);
}

const setOf = (object: unknown) => readSet(object, thingShape, "lenient");
/** Like `setOf`, with the paths of all objects and lists. */
const allPaths = (value: unknown) => readNewPart({ element: "f:it", value, shape: thingShape });
const isSubset = (part: FieldSet, whole: FieldSet) => part.difference(whole).isEmpty;

describe("field sets", () => {
  const set = fc.tuple(thing, thing).map(([a, b]) => setOf(a).union(setOf(b)));

  test("are encoded and decoded without loss", () => {
    fc.assert(
      fc.property(set, (one) => {
        expect(decodeFieldSet(encodeFieldSet(one)).equals(one)).toBe(true);
      }),
    );
  });

  test("textOfFields equals the text of the set that readSet returns", () => {
    fc.assert(
      fc.property(thing, set, (object, ignored) => {
        const text = fieldSetText(setOf(object).recursiveDifference(ignored));
        expect(textOfFields(object, thingShape, ignored)).toBe(text);
        expect(readFieldSet(text).equals(setOf(object).recursiveDifference(ignored))).toBe(true);
      }),
    );
  });

  test("textOfFields returns undefined for duplicate items when it is strict", () => {
    const twice = { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] };
    expect(textOfFields(twice, thingShape, FieldSet.empty)).toContain("f:ports");
    expect(textOfFields(twice, thingShape, FieldSet.empty, "strict")).toBeUndefined();
    expect(textOfFields({ tags: ["a", "a"] }, thingShape, FieldSet.empty, "strict")).toBeUndefined();
    expect(textOfFields({ ports: ["a"] }, thingShape, FieldSet.empty, "strict")).toBeUndefined();
  });

  test("union, intersection and difference satisfy the laws of sets", () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        expect(a.union(b).equals(b.union(a))).toBe(true);
        expect(a.intersection(b).equals(b.intersection(a))).toBe(true);
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true);
        expect(a.difference(b).intersection(b).isEmpty).toBe(true);
        expect(a.difference(a).isEmpty).toBe(true);
      }),
    );
  });
});

describe("comparing and merging", () => {
  test("a comparison returns disjoint sets, which are empty for equal objects", () => {
    fc.assert(
      fc.property(thing, thing, (a, b) => {
        const { added, modified, removed } = compareTyped(a, b, thingShape);
        expect(added.intersection(modified).isEmpty).toBe(true);
        expect(removed.intersection(setOf(b)).isEmpty).toBe(true);
        expect(isSubset(added.union(modified), allPaths(b))).toBe(true);
        const none = compareTyped(a, a, thingShape);
        expect([none.added, none.modified, none.removed].every((one) => one.isEmpty)).toBe(true);
      }),
    );
  });

  test("textOfNewFields equals the text of the comparison with the zero object", () => {
    const zeros = fc.constantFrom({}, { option: {}, labels: {} }, { tags: null, option: { level: 0 } });
    fc.assert(
      fc.property(zeros, thing, (zero, object) => {
        const { added, modified } = compareTyped(zero, object, thingShape);
        expect(textOfNewFields(object, zero, thingShape, FieldSet.empty)).toBe(
          fieldSetText(added.union(modified)),
        );
      }),
    );
  });

  test("a merged object has all applied values, and a second merge changes nothing", () => {
    fc.assert(
      fc.property(thing, thing, (live, applied) => {
        const merged = mergeTyped(live, applied, thingShape);
        expect(
          compareTyped(merged, mergeTyped(merged, applied, thingShape), thingShape).modified.isEmpty,
        ).toBe(true);
        expect(isSubset(compareTyped(applied, merged, thingShape).modified, FieldSet.empty)).toBe(true);
      }),
    );
  });

  test("removing all fields returns an empty object, removing none the same object", () => {
    fc.assert(
      fc.property(thing, (one) => {
        expect(removeFields(one, setOf(one), thingShape)).toEqual({});
        expect(removeFields(one, FieldSet.empty, thingShape)).toEqual(one);
      }),
    );
  });
});

describe("the laws of apply", () => {
  const steps = fc.array(step, { maxLength: 5 });

  test("applying the same configuration again changes neither the object nor the owners", () => {
    fc.assert(
      fc.property(steps, manager, thing, (before, who, object) => {
        const once = take(run(before), { apply: who, object, force: true });
        const twice = take(once, { apply: who, object });
        expect(twice.object).toEqual(once.object);
        expect([...twice.owners.keys()].toSorted()).toEqual([...once.owners.keys()].toSorted());
        for (const [name, { set }] of once.owners) expect(twice.owners.get(name)!.set.equals(set)).toBe(true);
      }),
    );
  });

  test("after a forced apply the object has the applied values, and the manager owns them", () => {
    fc.assert(
      fc.property(steps, manager, thing, (before, who, object) => {
        const after = take(run(before), { apply: who, object, force: true });
        const { modified } = compareTyped(object, after.object, thingShape);
        expect(modified.isEmpty).toBe(true);
        expect(setOf(object).isEmpty || after.owners.get(who)!.set.equals(setOf(object))).toBe(true);
      }),
    );
  });

  test("an apply without conflict doesn't change fields of other managers", () => {
    fc.assert(
      fc.property(steps, manager, thing, (before, who, object) => {
        const state = run(before);
        let after: State;
        try {
          after = take(state, { apply: who, object });
        } catch (error) {
          if (error instanceof ApplyConflict) return;
          throw error;
        }
        for (const [other, { set }] of state.owners) {
          if (other === who) continue;
          const { modified, removed } = compareTyped(state.object, after.object, thingShape);
          expect(set.intersection(modified).isEmpty).toBe(true);
          // Only the path of an empty object or list is removed, when it gets fields.
          const lost = set.intersection(removed);
          for (const path of lost.paths()) expect(path.at(-1)).toMatch(/^f:(labels|option|ports|tags)$/);
        }
      }),
    );
  });

  test("the conflicts are the fields of others whose values would change", () => {
    fc.assert(
      fc.property(steps, manager, thing, (before, who, object) => {
        const state = run(before);
        try {
          take(state, { apply: who, object });
        } catch (error) {
          if (!(error instanceof ApplyConflict)) throw error;
          const forced = take(state, { apply: who, object, force: true });
          const { added, modified } = compareTyped(state.object, forced.object, thingShape);
          for (const [other, { set }] of error.fields) {
            expect(other).not.toBe(who);
            expect(isSubset(set, state.owners.get(other)!.set)).toBe(true);
            expect(isSubset(set, added.union(modified))).toBe(true);
          }
        }
      }),
    );
  });

  test("absent fields have no owner", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { object, owners } = run(all);
        const there = setOf(object);
        for (const { set } of owners.values()) {
          for (const path of set.difference(there).paths()) {
            // An owner may keep the path of an object or list that was emptied or got fields.
            expect(path.at(-1)).toMatch(/^f:(labels|option|ports|tags|args|whole|selector)$/);
          }
        }
      }),
    );
  });
});
