import { describe, expect, test } from "vitest";
import { effort } from "../support/effort.ts";
import { deepClone, type JsonObject, type JsonValue } from "../../src/base/json/value.ts";
import { checkValue } from "../../src/schema/custom/check.ts";
import { fillMembers } from "../../src/schema/custom/fill.ts";
import { pruneMembers } from "../../src/schema/custom/read.ts";
import { parseSchema, type SchemaNode } from "../../src/schema/custom/schema-node.ts";
import { FieldReport } from "../../src/schema/faults.ts";
import { Dice } from "../support/dice.ts";
import { expectedOf, faultsOf, type Schema } from "./schema-model.ts";
import { objectSchema, objectValue } from "./random-schemas.ts";

const prefix = "x-platform-";
/** Each seed is a schema with a few values. */
const seeds = effort(1000, 3000);
const valuesOfSeed = 4;
const maxDepth = 3;

function pruned(node: SchemaNode, object: JsonObject): { object: JsonObject; dropped: number } {
  let dropped = 0;
  const support = { unknown: () => void dropped++, metadata: (value: JsonValue) => value };
  return { object: pruneMembers(node, object, [], support), dropped };
}

function filled(node: SchemaNode, object: JsonObject): JsonObject {
  const copy = deepClone(object);
  expect(fillMembers(node, copy)).toBe(true);
  return copy;
}

function placesOfFaults(node: SchemaNode, object: JsonObject): string[] {
  const report = FieldReport.start();
  report.defer((own) => checkValue(node, object, own));
  report.finishAtOnce();
  // Repeated items name the members around them as keys.
  return report.faults.map(({ field }) => (field ?? "").replaceAll(/\[([^\d\]][^\]]*)\]/g, ".$1"));
}

interface Sample {
  readonly seed: number;
  readonly schema: Schema;
  readonly node: SchemaNode;
  /** As a client sends it. */
  readonly sent: JsonObject;
  /** Pruned and with defaults. */
  readonly object: JsonObject;
}

function* samples(noise: number): Generator<Sample> {
  for (let seed = 1; seed <= seeds; seed++) {
    const dice = new Dice(seed);
    const schema = objectSchema(dice, maxDepth);
    const node = parseSchema(schema, prefix);
    for (let index = 0; index < valuesOfSeed; index++) {
      const sent = objectValue(dice, schema, noise);
      yield { seed, schema, node, sent, object: filled(node, pruned(node, sent).object) };
    }
  }
}

describe("random structural schemas", () => {
  test("pruning and defaulting again changes nothing", () => {
    for (const { seed, node, sent, object } of samples(0.1)) {
      const once = pruned(node, sent).object;
      expect(pruned(node, once), `seed ${seed}`).toEqual({ object: once, dropped: 0 });
      expect(filled(node, object), `seed ${seed}`).toEqual(object);
      expect(pruned(node, object), `seed ${seed}`).toEqual({ object, dropped: 0 });
    }
  });

  test("the stored object has the declared and preserved fields of the request, and the defaults", () => {
    for (const { seed, schema, sent, object } of samples(0.1)) {
      const about = `seed ${seed}: ${JSON.stringify(schema)} of ${JSON.stringify(sent)}`;
      expect(object, about).toEqual(expectedOf(schema, sent));
    }
  });

  test("a value is accepted exactly when a simple JSON Schema validator accepts it", () => {
    const counts = { accepted: 0, refused: 0 };
    for (const { seed, schema, node, object } of samples(0.05)) {
      const expected = faultsOf(schema, object, "");
      const found = placesOfFaults(node, object);
      if (expected.length === 0) counts.accepted++;
      else counts.refused++;
      const about = `seed ${seed}: ${JSON.stringify(schema)} of ${JSON.stringify(object)}: ${String(expected)}`;
      expect(found.length > 0, about).toBe(expected.length > 0);
    }
    // The samples have enough accepted and rejected values.
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(seeds / 2);
  });

  test("exactly the fields that violate the schema are reported", () => {
    let compared = 0;
    for (const { seed, schema, node, object } of samples(0.1)) {
      // Faults of combined schemas are reported for the parent.
      if (/"(?:allOf|anyOf|oneOf|not)":/.test(JSON.stringify(schema))) continue;
      compared++;
      const unique = (places: readonly string[]): string[] => [...new Set(places)].toSorted();
      const about = `seed ${seed}: ${JSON.stringify(schema)} of ${JSON.stringify(object)}`;
      expect(unique(placesOfFaults(node, object)), about).toEqual(unique(faultsOf(schema, object, "")));
    }
    expect(compared).toBeGreaterThan(seeds / 4);
  });
});
