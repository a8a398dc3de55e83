import { expect, test } from "vitest";
import { FieldReport } from "../../src/schema/faults.ts";

/** Returns a list that counts how often its item is read. */
function countedList(): { list: object[]; reads: () => number } {
  let reads = 0;
  const item = {
    get name() {
      reads++;
      return "a";
    },
  };
  return { list: [item], reads: () => reads };
}

test("a list that many faults show is formatted once, so that their cost doesn't grow with its length", () => {
  const report = FieldReport.start();
  const { list, reads } = countedList();
  for (let n = 0; n < 100; n++) report.at("scopes").invalid(list, `fault ${n}`);
  const once = countedList();
  FieldReport.start().invalid(once.list, "");
  expect(reads()).toBe(once.reads());
  expect(report.faults.at(-1)!.message).toBe('Invalid value: [{"name":"a"}]: fault 99');
});

test("faults of different values show each its own, also in separate reports", () => {
  const report = FieldReport.start();
  const separate = report.separate();
  report.invalid(["a"], "x");
  separate.invalid(["b"], "x");
  report.invalid({ c: 1 }, "x");
  report.invalid(null, "x");
  report.invalid("d", "x");
  report.addAll(separate);
  expect(report.faults.map(({ message }) => message)).toEqual([
    'Invalid value: ["a"]: x',
    'Invalid value: {"c":1}: x',
    "Invalid value: null: x",
    'Invalid value: "d": x',
    'Invalid value: ["b"]: x',
  ]);
});
