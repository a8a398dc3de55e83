import fc from "fast-check";
import { expect, test } from "vitest";
import { KeySet } from "../../../src/resources/selector-index/key-set.ts";
import { compareKeys } from "../../../src/storage/keys.ts";

const key = fc
  .tuple(fc.constantFrom("a", "b", "ü", "\u{1f600}", "\uffff"), fc.integer({ min: 0, max: 700 }))
  .map(([first, number]) => `/g/r/${first}/${number}`);

test("a set of keys contains the added and not deleted keys in store order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.boolean(), key), { minLength: 300, maxLength: 3000, size: "max" }),
      key,
      key,
      (steps, after, end) => {
        const set = new KeySet();
        const model = new Set<string>();
        for (const [adds, one] of steps) {
          const changed = adds || model.size < 900 ? set.add(one) : set.delete(one);
          if (adds || model.size < 900) {
            expect(changed).toBe(!model.has(one));
            model.add(one);
          } else expect(changed).toBe(model.delete(one));
        }
        const sorted = [...model].toSorted(compareKeys);
        const all: string[] = [];
        set.collect({ after: "", end: "/g/s" }, all);
        expect(all).toEqual(sorted);
        expect(set.size).toBe(sorted.length);
        expect(set.characters).toBe(sorted.join("").length);
        const some: string[] = [];
        set.collect({ after, end }, some);
        const wanted = sorted.filter((one) => compareKeys(after, one) < 0 && compareKeys(one, end) < 0);
        expect(some).toEqual(wanted);
        expect([after, end].map((one) => set.has(one))).toEqual([model.has(after), model.has(end)]);
      },
    ),
    { numRuns: 40 },
  );
});
