import fc, { type Arbitrary } from "fast-check";
import { describe, expect, test } from "vitest";
import { deepEqual, type JsonValue } from "../../../src/base/json/value.ts";
import type { ObjectUndo } from "../../../src/resources/undo/undo-object.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import { effort } from "../../support/effort.ts";
import { edit, withoutEmpty, type Edit, type Port } from "./edits.ts";
import { contentsOf, History, thingKind, undoObject } from "./histories.ts";
import { cellsOf, expectedUndo, replayWithout } from "./undo-model.ts";

interface RandomWrite {
  readonly manager: string;
  /** Undefined to delete the object, or to create an empty one. */
  readonly edits: readonly Edit[] | undefined;
}

const manager = fc.constantFrom("x", "y", "z");
const write: Arbitrary<RandomWrite> = fc.record({
  manager,
  edits: fc.option(fc.array(edit, { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 8 }),
});
const writes = fc.array(write, { minLength: 1, maxLength: 9 });

function historyOf(all: readonly RandomWrite[]): History {
  return extended(new History(), all);
}

/** Adds writes to a history. */
function extended(history: History, all: readonly RandomWrite[]): History {
  const start = history.steps.length;
  let count = 0;
  const fresh = () => `fresh-${start}-${++count}`;
  for (const { manager: writer, edits } of all) {
    if (edits === undefined) history.write(writer, history.now === undefined ? {} : undefined);
    else {
      const contents = structuredClone(contentsOf(history.now) ?? {});
      for (const one of edits) one(contents, fresh);
      history.write(writer, withoutEmpty(contents));
    }
  }
  return history;
}

type UndoFunction = typeof undoObject;

/** Judges the undo of what one manager did, by a model of the cells of the object. */
function judge(undo: UndoFunction, history: History, undone: string): void {
  const result = undo(history.stepsOf(undone), history.now, thingKind);
  const expected = expectedUndo(history, undone);
  expect([...new Set(conflictCells(result))].toSorted()).toEqual([...expected.conflicts].toSorted());
  if (result.conflicts.length > 0) return;
  expect(cellsOf(result.object)).toEqual(expected.cells);
  for (const [cell, kept] of replayWithout(history, undone))
    expect([cell, expected.cells.get(cell)]).toEqual([cell, kept]);
}

/** The cells of conflicts; a conflict of an object has the cell "". The order of items is no cell. */
function conflictCells({ conflicts }: ObjectUndo): string[] {
  return conflicts.flatMap(({ path, after, now }) => {
    const [member = "", item = ""] = path;
    const name = member.slice("f:".length);
    if (!["labels", "option", "ports"].includes(name)) return [name];
    const keyOf = (key: string) => (name === "ports" ? `port ${key}` : `${name}.${key}`);
    if (item.startsWith("k:")) return [keyOf(String((JSON.parse(item.slice(2)) as Port).port))];
    if (item !== "") return [keyOf(item.slice("f:".length))];
    // The whole member is absent on one side.
    return [after, now].flatMap((whole) => {
      if (Array.isArray(whole))
        return after === undefined || now === undefined
          ? whole.map((port) => keyOf(String((port as unknown as Port).port)))
          : [];
      return Object.keys((whole ?? {}) as object).map(keyOf);
    });
  });
}

const same = (a: ApiObject | undefined, b: ApiObject | undefined) =>
  deepEqual((contentsOf(a) ?? null) as JsonValue, (contentsOf(b) ?? null) as JsonValue);

describe("the undo of what one of several managers did", () => {
  const numRuns = effort(300, 10_000);
  const runs = (judged: UndoFunction, seed: number, count = numRuns) =>
    fc.check(
      fc.property(writes, manager, (all, undone) => judge(judged, historyOf(all), undone)),
      { seed, numRuns: count },
    );

  test.each(effort([1, 2], [1, 2, 3, 4, 5]))(
    "removes it, keeps what the others did, and names what they changed since (seed %i)",
    (seed) => {
      const { failed, counterexample, errorInstance } = runs(undoObject, seed);
      expect([failed, counterexample, errorInstance]).toEqual([false, null, null]);
    },
  );

  test("undone again gives the state before it, in the same order", () => {
    fc.assert(
      fc.property(writes, manager, (all, undone) => {
        const history = historyOf(all);
        const { now } = history;
        const { object, conflicts } = undoObject(history.stepsOf(undone), now, thingKind);
        if (conflicts.length > 0) return;
        history.write("undo", contentsOf(object));
        const again = undoObject(history.stepsOf("undo"), history.now, thingKind);
        expect(again.conflicts).toEqual([]);
        expect(same(again.object, now)).toBe(true);
      }),
      { seed: 1, numRuns },
    );
  });

  test("undone again after more writes of others keeps these too", () => {
    fc.assert(
      fc.property(writes, manager, writes, (all, undone, later) => {
        const history = historyOf(all);
        const { object, conflicts } = undoObject(history.stepsOf(undone), history.now, thingKind);
        if (conflicts.length > 0) return;
        history.write("undo", contentsOf(object));
        extended(history, later);
        judge(undoObject, history, "undo");
      }),
      { seed: 1, numRuns },
    );
  });

  test("of all writes together gives the state before the first", () => {
    fc.assert(
      fc.property(writes, (all) => {
        const history = historyOf(all);
        const { object, conflicts } = undoObject(history.steps.toReversed(), history.now, thingKind);
        expect([object, conflicts]).toEqual([undefined, []]);
      }),
      { seed: 1, numRuns },
    );
  });

  const faults: Readonly<Record<string, UndoFunction>> = {
    "conflicts are not reported": (...args) => ({ ...undoObject(...args), conflicts: [] }),
    "the oldest write is taken back first": (steps, ...args) => undoObject(steps.toReversed(), ...args),
    "only the newest write is taken back": (steps, ...args) => undoObject(steps.slice(0, 1), ...args),
    "the parts of lists and maps are not distinguished": (steps, now, kind) =>
      undoObject(steps, now, { ...kind, shape: { kind: "leaf" } }),
    "the object before the change replaces the current one": (steps, now, kind) => {
      const result = undoObject(steps, now, kind);
      return result.action === "update" ? { ...result, object: steps.at(-1)!.before } : result;
    },
    "nothing is taken back": (_, now, kind) => undoObject([], now, kind),
  };

  test.each(Object.entries(faults))("is found to be wrong if %s", (_, faulty) => {
    expect(runs(faulty, 1, 300).failed).toBe(true);
  });
});
