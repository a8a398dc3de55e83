import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/base/json/value.ts";
import { checkValue } from "../../src/schema/custom/check.ts";
import { OldValue } from "../../src/schema/custom/old-value.ts";
import { parseSchema } from "../../src/schema/custom/schema-node.ts";
import { FieldReport } from "../../src/schema/faults.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const prefix = "x-platform-";
const members = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`member-${index}`, index]));
const schemaOf = (rules: object) =>
  parseSchema({ type: "object", [`${prefix}preserve-unknown-fields`]: true, ...rules }, prefix);

/** Validates a value in limited time and returns the faults. */
function faultsOf(rules: object, value: JsonValue, old?: JsonValue): readonly string[] {
  const report = FieldReport.start("1.37");
  const usedMs = cpuStopwatch();
  const schema = schemaOf(rules);
  report.defer((own) => checkValue(schema, value, own, old === undefined ? undefined : OldValue.of(old)));
  report.finishAtOnce();
  expect(usedMs()).toBeLessThan(10_000);
  return report.faults.map(({ message }) => message);
}

const outOfBudget = [expect.stringContaining("cost budget")];

test("the members of a large object count for every combined schema", () => {
  const rules = { allOf: Array.from({ length: 20_000 }, () => ({ minProperties: 1 })) };
  expect(faultsOf(rules, members(50_000))).toEqual(outOfBudget);
  expect(faultsOf(rules, members(50))).toEqual([]);
});

test("the members of a large object count for every allowed value", () => {
  const rules = { properties: { a: { enum: Array.from({ length: 20_000 }, () => ({})) } } };
  expect(faultsOf(rules, { a: members(50_000) })).toEqual(outOfBudget);
  expect(faultsOf(rules, { a: {} })).toEqual([]);
  expect(faultsOf({ properties: { a: { enum: [members(1000)] } } }, { a: members(1000) })).toEqual([]);
});

test("a large object is compared with its old one once for all combined schemas", () => {
  const rules = {
    properties: { a: { type: "object", allOf: Array.from({ length: 1000 }, () => ({ required: ["x"] })) } },
  };
  const value = { a: { large: members(50_000) }, other: 1 };
  expect(faultsOf(rules, value, { ...structuredClone(value), other: 2 })).toEqual([]);
  const old = { a: { large: members(50_000), other: 1 } };
  expect(faultsOf(rules, value, old).length).toBeGreaterThan(200);
});

test("the keys of old items of a list map count as work", () => {
  const keys = Array.from({ length: 2000 }, (_, index) => `key-${index}`);
  const items = { type: "object", [`${prefix}preserve-unknown-fields`]: true };
  const list = { type: "array", [`${prefix}list-type`]: "map", [`${prefix}list-map-keys`]: keys, items };
  const value = (other: number, length: number) => ({ l: Array.from({ length }, () => ({})), other });
  const rules = { properties: { l: list } };
  expect(faultsOf(rules, value(1, 1), value(2, 20_000))).toEqual(outOfBudget);
  expect(faultsOf(rules, value(1, 20_000), value(2, 1))).toEqual(outOfBudget);
  expect(faultsOf(rules, value(1, 1), value(2, 2))).toEqual([]);
});
