import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { MergeStrategy } from "../../../src/fields/merge/merge-fields.ts";
import {
  mergeObject,
  type ObjectMerge,
  type ObjectSides,
} from "../../../src/resources/branches/merge-object.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import { effort } from "../../support/effort.ts";
import { edit, withoutEmpty, type Edit } from "../undo/edits.ts";
import { contentsOf, History, thingKind, type Contents } from "../undo/histories.ts";
import { modelMerge, pruned, unordered } from "./merge-model.ts";

/** What one side does: nothing, edits, or a deletion. */
type Work = readonly Edit[] | "delete";

const edits = fc.array(edit, { maxLength: 4 });
const work = fc.oneof(
  { weight: 12, arbitrary: edits },
  { weight: 1, arbitrary: fc.constant("delete" as const) },
);
const strategy = fc.constantFrom<MergeStrategy | undefined>(undefined, "ours", "theirs");
const cases = fc.tuple(fc.option(edits, { freq: 8, nil: undefined }), work, work, strategy);

function edited(history: History, manager: string, all: Work): void {
  if (all === "delete") return history.write(manager, undefined);
  let count = 0;
  const contents = structuredClone(contentsOf(history.now) ?? {});
  for (const one of all) one(contents, () => `${manager}-${++count}`);
  history.write(manager, withoutEmpty(contents));
}

/** Returns the three states of an object: undefined edits at the start for no object. */
function statesOf(start: readonly Edit[] | undefined, inBranch: Work, inTarget: Work): ObjectSides {
  const later = (manager: string, one: Work): [ApiObject | undefined, ApiObject | undefined] => {
    const history = new History();
    if (start !== undefined) edited(history, "start", start);
    const base = history.now;
    // An object that has never been there can't be deleted.
    if (start !== undefined || one !== "delete") edited(history, manager, one);
    return [base, history.now];
  };
  const [base, theirs] = later("branch", inBranch);
  const [, ours] = later("target", inTarget);
  return { base, theirs, ours };
}

type Merge = (sides: ObjectSides, chosen: MergeStrategy | undefined) => ObjectMerge;
const merged: Merge = (sides, chosen) => mergeObject(sides, thingKind, chosen);

const plain = (object: ApiObject | undefined): Contents | undefined => contentsOf(object);

/** Compares a merge with the model. */
function judge(merge: Merge, sides: ObjectSides, chosen: MergeStrategy | undefined): void {
  const three = [plain(sides.base), plain(sides.theirs), plain(sides.ours)] as const;
  const expected = modelMerge(three, chosen);
  const result = merge(sides, chosen);
  const paths = result.conflicts.map(({ path }) => path.join("/"));
  if (expected.conflicts[0] === "changed in the target") expect(paths.length).toBeGreaterThan(0);
  else expect(new Set(paths)).toEqual(new Set(expected.conflicts));
  expect(result.conflicts.every(({ resolution }) => resolution === chosen)).toBe(true);
  const after = result.action === "none" ? sides.ours : result.object;
  expect(unordered(plain(after))).toEqual(unordered(expected.contents));
}

describe("a merge of an object", () => {
  test("equals a three-way merge by fields", () => {
    fc.assert(
      fc.property(cases, ([start, inBranch, inTarget, chosen]) =>
        judge(merged, statesOf(start, inBranch, inTarget), chosen),
      ),
      { numRuns: effort(3000, 60_000) },
    );
  });

  test("of an unchanged branch changes nothing, and into an unchanged target gives the branch", () => {
    fc.assert(
      fc.property(edits, work, (start, one) => {
        const unchanged = statesOf(start, [], one);
        expect(merged(unchanged, "theirs")).toMatchObject({ action: "none", conflicts: [] });
        const sides = statesOf(start, one, []);
        const result = merged(sides, undefined);
        const after = result.action === "none" ? sides.ours : result.object;
        expect([result.conflicts, pruned(plain(after))]).toEqual([[], pruned(plain(sides.theirs))]);
      }),
      { numRuns: effort(1000, 20_000) },
    );
  });

  test.each<[string, Merge]>([
    ["takes the target's values with theirs", (sides, chosen) => merged(sides, chosen && "ours")],
    [
      "ignores what the target has changed",
      ({ base, theirs }, chosen) => merged({ base, theirs, ours: base }, chosen),
    ],
    [
      "compares without the start",
      ({ theirs, ours }, chosen) => merged({ base: undefined, theirs, ours }, chosen),
    ],
    ["forgets conflicts", (sides, chosen) => ({ ...merged(sides, chosen), conflicts: [] })],
    [
      "merges lists as a whole",
      (sides, chosen) => mergeObject(sides, { ...thingKind, shape: { kind: "deduced" } }, chosen),
    ],
  ])("the search finds a merge that %s", (_, wrong) => {
    const outcome = fc.check(
      fc.property(cases, ([start, inBranch, inTarget, chosen]) =>
        judge(wrong, statesOf(start, inBranch, inTarget), chosen),
      ),
      { numRuns: 3000 },
    );
    expect(outcome.failed).toBe(true);
  });
});
