import fc, { type Arbitrary } from "fast-check";
import { resolveString } from "../../src/schema/check.ts";
import type { Field, ScalarName, StructType, Type } from "../../src/schema/types.ts";
import { platform } from "../../src/vocabulary/platform.ts";

/** Depth from which on only what must be there is made, so that types that hold themselves end. */
const maxDepth = 4;

/** Any JSON value of a declared struct, in any form that a client might send. */
export function arbitraryStruct(type: StructType, depth = 0): Arbitrary<Record<string, unknown>> {
  const entries = Object.entries(type.fields).filter(([name]) => name !== "kind" && name !== "apiVersion");
  const members = Object.fromEntries(
    entries.map(([name, field]) => [
      name,
      fc.constant(undefined).chain(() => arbitraryField(field, depth + 1)),
    ]),
  );
  // Large structs are sparse, so that values stay small and every field has its turn.
  const keys = Object.keys(members);
  if (keys.length === 0) return fc.constant({});
  const most = depth >= maxDepth ? 1 : Math.max(2, Math.ceil(keys.length / (depth + 1)));
  return fc
    .subarray(keys, { maxLength: Math.min(most, keys.length) })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map((name) => [name, members[name]!]))));
}

function arbitraryField({ type, facts }: Field, depth: number): Arbitrary<unknown> {
  const words = facts.oneOf ?? facts.knownValues;
  if (words !== undefined && type.shape === "scalar") {
    return fc.constantFrom(...words.map((word) => resolveString(word, platform)));
  }
  return arbitraryValue(type, depth);
}

function arbitraryValue(type: Type, depth: number): Arbitrary<unknown> {
  switch (type.shape) {
    case "scalar":
      return arbitraryScalar(type.name);
    case "list":
      return depth > maxDepth
        ? fc.constant([])
        : fc.array(arbitraryValue(type.element, depth), { maxLength: 3 });
    case "map":
      return depth > maxDepth
        ? fc.constant({})
        : fc.dictionary(fc.string({ maxLength: 8 }), arbitraryValue(type.value, depth), { maxKeys: 3 });
    case "struct":
      return arbitraryStruct(type, depth);
    case "union":
      return fc.oneof(...Object.values(type.forms).map((form) => arbitraryValue(form.type, depth)));
  }
}

const seconds = fc
  .integer({ min: 0, max: 4_000_000_000 })
  .map((at) => `${new Date(at * 1000).toISOString().slice(0, 19)}Z`);

function arbitraryScalar(name: ScalarName): Arbitrary<unknown> {
  switch (name) {
    case "string":
      return fc.string({ maxLength: 12, unit: "grapheme" });
    case "bool":
      return fc.boolean();
    case "int32":
      return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    case "int64":
      return fc.maxSafeInteger();
    case "double":
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
    case "bytes":
      return fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    case "time":
      return seconds;
    case "microTime":
      return fc
        .tuple(seconds, fc.integer({ min: 0, max: 999_999 }))
        .map(([at, micros]) => `${at.slice(0, 19)}.${String(micros).padStart(6, "0")}Z`);
    case "duration":
      return fc.constantFrom("0s", "1h30m", "15s", "250ms", "-5m", "1.5s");
    case "quantity":
      return fc.constantFrom("0", "100m", "2Gi", "1.5", "12e6", "-3", "0.5Gi", 7);
    case "intOrString":
      return fc.oneof(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.string({ maxLength: 6 }));
    case "json":
      return fc.oneof(fc.boolean(), fc.integer(), fc.string({ maxLength: 6 }), jsonObject);
    case "object":
    case "fieldsV1":
      return jsonObject;
  }
}

const jsonObject = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 6 }),
  fc.oneof(fc.integer(), fc.string()),
  {
    minKeys: 1,
    maxKeys: 3,
    noNullPrototype: true,
  },
);
