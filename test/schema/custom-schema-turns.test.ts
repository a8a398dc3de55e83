import { expect, test } from "vitest";
import type { JsonValue } from "../../src/base/json/value.ts";
import { nextTurn } from "../../src/base/turns/yielding.ts";
import { checkFields } from "../../src/schema/check.ts";
import { checkValue } from "../../src/schema/custom/check.ts";
import { OldValue } from "../../src/schema/custom/old-value.ts";
import { parseSchema } from "../../src/schema/custom/schema-node.ts";
import { FieldReport } from "../../src/schema/faults.ts";
import { CustomResourceDefinition } from "../../src/kinds/apiextensions/custom-resource-definition.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const prefix = "x-platform-";
const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Finishes a report, and requires that other work had its turns meanwhile: none took half of the processor time. */
async function finishInTurns(report: FieldReport): Promise<void> {
  const usedMs = cpuStopwatch();
  let isDone = false;
  let longest = 0;
  const others = (async () => {
    while (!isDone) {
      const waitedMs = cpuStopwatch();
      await nextTurn();
      longest = Math.max(longest, waitedMs());
    }
  })();
  await report.finish();
  isDone = true;
  await others;
  expect(usedMs()).toBeGreaterThan(50);
  expect(longest).toBeLessThan(usedMs() / 2);
}

const list = (items: object, facts: object = {}) => ({ type: "array", items, ...facts });
const objectWith = (part: object) => ({ type: "object", properties: { part } });

interface LongCheck {
  readonly schema: object;
  readonly value: JsonValue;
  readonly old?: JsonValue;
}

const word = { type: "string" };
const longChecks: Readonly<Record<string, LongCheck>> = {
  "many alternatives for each item": {
    schema: objectWith(list({ ...word, anyOf: repeat(1000, (index) => ({ pattern: `^v${index}$` })) })),
    value: { part: repeat(5000, () => "x") },
  },
  "many combined schemas for each item": {
    schema: objectWith(list({ ...word, allOf: repeat(1000, (index) => ({ maxLength: 5 + index })) })),
    value: { part: repeat(5000, () => "x") },
  },
  "exclusive alternatives of one value": {
    schema: objectWith({ oneOf: repeat(500, (index) => ({ items: { maxLength: 5 + index } })) }),
    value: { part: repeat(5000, () => "x") },
  },
  "a negation of a large schema": {
    schema: objectWith({ not: { allOf: repeat(500, (index) => ({ items: { maxLength: 5 + index } })) } }),
    value: { part: repeat(5000, () => "x") },
  },
  "a set with many items": {
    schema: objectWith(list(word, { [`${prefix}list-type`]: "set" })),
    value: { part: repeat(400_000, (index) => `item ${index}`) },
  },
  "the comparison with a large old value": {
    schema: objectWith(list({ type: "object", [`${prefix}preserve-unknown-fields`]: true })),
    value: { part: repeat(100_000, (index) => ({ a: [index], b: { c: "text" } })) },
    old: { part: repeat(100_000, (index) => ({ a: [index], b: { c: "text" } })) },
  },
};

test.for(Object.entries(longChecks))("other work has its turns during %s", async ([, check]) => {
  const node = parseSchema(check.schema, prefix);
  const report = FieldReport.start("1.37");
  const old = check.old === undefined ? undefined : OldValue.of(check.old);
  report.defer((own) => checkValue(node, check.value, own, old));
  await finishInTurns(report);
});

test("other work has its turns while the schema of a definition is checked", async () => {
  const properties = Object.fromEntries(
    repeat(40_000, (index) => [`p${index}`, { type: "string", default: "x" }] as const),
  );
  const junctors = repeat(5000, (index) => ({ properties: { [`p${index}`]: { maxLength: index } } }));
  const schema = { type: "object", properties: { spec: { type: "object", properties, allOf: junctors } } };
  const report = FieldReport.start("1.37");
  const names = { plural: "wides", singular: "wide", kind: "Wide", listKind: "WideList" };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } };
  const spec = { group: "big.example", scope: "Cluster", names, versions: [version] };
  const definition = { metadata: { name: "wides.big.example" }, spec };
  const context = { vocabulary: platform, enabled: () => true, subresource: "", release: "1.37" } as const;
  checkFields(CustomResourceDefinition.type, definition, report, context);
  await finishInTurns(report);
  expect(report.faults).toEqual([]);
});

test("the faults of deferred checks come where the checks were deferred", async () => {
  const report = FieldReport.start();
  report.at("a").required();
  report.at("b").defer(async (own) => {
    await nextTurn();
    own.required();
  });
  report.at("c").required();
  report.at("d").defer((own) => own.required());
  expect(() => report.faults).toThrow("deferred checks have not run");
  await report.finish();
  expect(report.faults.map(({ field }) => field)).toEqual(["a", "b", "c", "d"]);
});

test("checks that are finished at once never pause, however long they take", () => {
  const report = FieldReport.start();
  const anyOf = repeat(1000, (index) => ({ pattern: `^once${index}$` }));
  const node = parseSchema(objectWith(list({ ...word, anyOf })), prefix);
  report.defer((own) => checkValue(node, { part: repeat(500, () => "x") }, own));
  report.finishAtOnce();
  expect(report.faults.length).toBeGreaterThan(100);
});
