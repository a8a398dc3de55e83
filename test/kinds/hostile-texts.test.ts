import { describe, expect, it } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { resolveString } from "../../src/schema/check.ts";
import { TypeFault } from "../../src/schema/decode.ts";
import type { Kind } from "../../src/schema/kind.ts";
import type { Field, ScalarName, StructType, Type } from "../../src/schema/types.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { effort } from "../support/effort.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";
import { judgeNew } from "./support.ts";

type JsonObject = Record<string, unknown>;

/** Length of each text in characters; quadratic code takes tens of seconds for it. */
const length = 200_000;
const maxCpuMs = 1500;
const maxDepth = 12;

const repeated = [
  "a",
  "0",
  "-",
  ".",
  "/",
  ":",
  "['",
  " ",
  "\\",
  "%",
  "=",
  ",",
  "a.",
  "a-",
  "1/",
  "::",
  "{",
  "$(",
  "\n",
  "é",
];
const texts = repeated.map((part) => part.repeat(Math.ceil(length / part.length)) + "!");

/** Scalar types whose JSON values are strings. */
const textual: ReadonlySet<ScalarName> = new Set([
  "string",
  "bytes",
  "time",
  "microTime",
  "duration",
  "quantity",
  "intOrString",
]);

/** Returns a value that a sibling field of the tested field probably accepts. */
function plainScalar({ type, facts }: Field): unknown {
  if (type.shape !== "scalar") return undefined;
  const words = facts.oneOf ?? facts.knownValues;
  if (words !== undefined) return resolveString(words[0]!, platform);
  if (type.name === "string") return "a";
  if (type.name === "bool") return true;
  if (type.name === "int32" || type.name === "int64") return 1;
  return undefined;
}

/** Returns a small object of a kind with `text` in one field. */
type Place = (text: string) => JsonObject;

/** Finds the fields of kinds that accept a string; the fields of each struct once. */
class PlaceFinder {
  private readonly seen = new Set<string>();

  /** @param siblings whether sibling scalar fields are set too; the validation can depend on them. */
  constructor(private readonly siblings: boolean) {}

  struct(type: StructType, put: (value: JsonObject) => JsonObject, depth = 0): Place[] {
    if (depth > maxDepth) return [];
    const entries = Object.entries(type.fields);
    const beside = this.siblings
      ? Object.fromEntries(entries.map(([name, field]) => [name, plainScalar(field)]))
      : {};
    return entries.flatMap(([name, field]) => {
      const key = `${type.groupVersion.group.base}/${type.groupVersion.version} ${type.name}.${name}`;
      if (this.seen.has(key)) return [];
      this.seen.add(key);
      return this.below(field.type, (value) => put({ ...beside, [name]: value }), depth + 1);
    });
  }

  private below(type: Type, put: (value: unknown) => JsonObject, depth: number): Place[] {
    switch (type.shape) {
      case "scalar":
        return textual.has(type.name) ? [put] : [];
      case "list":
        return this.below(type.element, (value) => put([value]), depth);
      case "map":
        return [
          (text) => put({ [text]: type.value.shape === "scalar" ? "a" : {} }),
          ...this.below(type.value, (value) => put({ a: value }), depth),
        ];
      case "struct":
        return this.struct(type, put, depth);
      case "union":
        return Object.values(type.forms).flatMap((form) => this.below(form.type, put, depth));
    }
  }
}

/** Without the sibling fields in the long form only. */
const finders = effort([true], [true, false]).map((siblings) => new PlaceFinder(siblings));
const cases = builtInKinds
  .map((kind: Kind) => {
    const places = finders.flatMap((finder) => finder.struct(kind.type, (value) => value));
    return [`${kind.group.base}/${kind.version} ${kind.name}`, kind, places] as const;
  })
  .filter(([, , places]) => places.length > 0);

describe("validation of a long text of repeated characters takes at most 1.5 s of CPU time", () => {
  it("covers the fields of all kinds", () => {
    expect(cases.flatMap(([, , places]) => places).length).toBeGreaterThan(1000);
  });

  it.each(cases)("%s", (_name, kind, places) => {
    const slow: string[] = [];
    for (const place of places) {
      for (const [index, text] of texts.entries()) {
        const value = place(text);
        const elapsedMs = cpuStopwatch();
        try {
          judgeNew(kind, value);
        } catch (error) {
          if (!(error instanceof TypeFault)) throw error;
        }
        const ms = elapsedMs();
        if (ms > maxCpuMs)
          slow.push(
            `${JSON.stringify(repeated[index])} takes ${Math.round(ms)} ms in ${JSON.stringify(place("text"))}`,
          );
      }
    }
    expect(slow).toEqual([]);
  });
});
