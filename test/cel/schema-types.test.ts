import { describe, expect, test } from "vitest";
import { bind, compile } from "../../src/cel/compile.ts";
import { SchemaTypes } from "../../src/cel/types/schema-types.ts";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { CustomResourceDefinition } from "../../src/kinds/apiextensions/custom-resource-definition.ts";
import { struct } from "../../src/schema/meta.ts";
import {
  bytes,
  duration,
  field,
  int64,
  intOrString,
  list,
  map,
  string,
  time,
} from "../../src/schema/types.ts";
import type { CelType } from "../../src/cel/types/types.ts";

const Example = struct("Example", "A struct with fields of many types.", {
  bytes: field(1, bytes, ""),
  time: field(2, time, ""),
  duration: field(3, duration, ""),
  number: field(4, int64, ""),
  either: field(5, intOrString, ""),
  names: field(6, list(string), ""),
  byName: field(7, map(int64), ""),
  "with-dash": field(8, string, ""),
});

const self = {
  bytes: "AQI=",
  time: "2023-01-01T00:00:00Z",
  duration: "1h",
  number: 5,
  either: "50%",
  names: ["a"],
  byName: { a: 1 },
  "with-dash": "x",
};

function outcome(expression: string, type: CelType): unknown {
  const environment = { variables: new Map([["self", type]]) };
  const { program, faults } = compile(expression, environment);
  if (program === undefined) return faults[0]!.message;
  const result = program.evaluate(bind(environment, { self }), 1000);
  return result.outcome === "value" ? result.value : result.message;
}

describe("values of a declared type", () => {
  const type = new SchemaTypes("converted").of(Example);

  test.each([
    "self.bytes == b'\\x01\\x02' && size(self.bytes) == 2",
    "self.time.getFullYear() == 2023 && self.duration == duration('60m')",
    "self.number == 5 && self.either == '50%' && self.names == ['a'] && self.byName['a'] == 1",
    "self.with__dash__dash == 'x' && has(self.bytes)",
  ])("%s", (expression) => expect(outcome(expression, type)).toBe(true));

  test.each([
    ["self.nope == 1", "undefined field 'nope'"],
    ["self.number == 'x'", "found no matching overload for '_==_' applied to '(int, string)'"],
    ["self.names.all(n, n > 1)", "found no matching overload for '_>_' applied to '(string, int)'"],
    ["self.byName.a.b == 1", "type 'int' does not support field selection"],
  ])("%s: %s", (expression, why) => expect(outcome(expression, type)).toBe(why));
});

describe("values in their JSON form", () => {
  test("bytes, times and durations are strings", () => {
    const type = new SchemaTypes("plain").of(Example);
    expect(outcome("self.bytes == 'AQI=' && timestamp(self.time).getFullYear() == 2023", type)).toBe(true);
  });

  test("types with hundreds of fields and recursive types are supported", () => {
    const types = new SchemaTypes("plain");
    const pod = types.of(Pod.type);
    expect(outcome("self.spec.containers.all(c, c.imag != '')", pod)).toBe("undefined field 'imag'");
    expect(outcome("has(self.spec) && self.spec.hostNetwork", pod)).toBe(false);
    const definition = types.of(CustomResourceDefinition.type);
    const deep = "self.spec.versions[0].schema.openAPIV3Schema.properties['a'].properties['b'].items";
    expect(outcome(`${deep} == 1 || true`, definition)).toBe(true);
  });
});
