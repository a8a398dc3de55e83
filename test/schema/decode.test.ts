import { describe, expect, it, test } from "vitest";
import { fieldFaults } from "../../src/resources/input/input.ts";
import { checkFields } from "../../src/schema/check.ts";
import { decode, TypeFault } from "../../src/schema/decode.ts";
import { fillFieldDefaults } from "../../src/schema/defaults.ts";
import { FieldReport, invalidError } from "../../src/schema/faults.ts";
import { inOrder } from "../../src/schema/order.ts";
import { struct } from "../../src/schema/meta.ts";
import { decodeScalar } from "../../src/schema/scalars.ts";
import { bool, bytes, field, int64, json, list, map, string, time } from "../../src/schema/types.ts";
import { platform } from "../../src/vocabulary/platform.ts";

const Part = struct("Part", "A part.", {
  size: field(1, int64, "Size.").default(5),
  name: field(2, string, "Name."),
});
const Needy = struct("Needy", "A whole that needs its names.", {
  name: field(1, string, "Name.").required(),
  parts: field(
    2,
    list(struct("NeedyPart", "A part.", { name: field(1, string, "Name.").required() })),
    "Parts.",
  ),
  mode: field(3, string, "Mode.").oneOf("Fast", "Slow"),
});
const Whole = struct("Whole", "A whole.", {
  name: field(1, string, "Name."),
  on: field(2, bool, "On."),
  maybe: field(3, bool, "Maybe.").nullable(),
  tags: field(4, map(string), "Tags."),
  parts: field(5, list(Part), "Parts."),
  raw: field(6, bytes, "Raw."),
  at: field(7, time, "At.").emitEmpty(),
  blobs: field(8, map(bytes), "Blobs."),
});

describe("decode", () => {
  test.each<[string, unknown, object]>([
    [
      "declared fields in declared order",
      { tags: { a: "b" }, name: "n" },
      { name: "n", tags: { a: "b" }, at: null },
    ],
    [
      "zero values are dropped unless the field is nullable",
      { name: "", on: false, maybe: false, tags: {}, parts: [] },
      { maybe: false, at: null },
    ],
    ["null counts as absent", { name: null, parts: null, maybe: null }, { at: null }],
    [
      "null within a list or map is the zero value",
      { parts: [null], tags: { a: null }, blobs: { b: null } },
      { tags: { a: "" }, parts: [{}], at: null, blobs: { b: "" } },
    ],
    [
      "times are converted to UTC with seconds",
      { at: "2020-01-02T03:04:05.678+01:00" },
      { at: "2020-01-02T02:04:05Z" },
    ],
    ["line breaks in base64 are removed", { raw: "eHh4\neHh4" }, { raw: "eHh4eHh4", at: null }],
  ])("%s", (_what, given, expected) => {
    const { value, unknownFields } = decode(Whole, given);
    expect(JSON.stringify(value)).toBe(JSON.stringify(expected));
    expect(unknownFields).toEqual([]);
  });

  test("unknown fields are dropped and reported with their paths", () => {
    const { value, unknownFields } = decode(Whole, {
      x: 1,
      parts: [{ y: 2 }, { name: "p", z: { deep: 1 } }],
      tags: { t: "u" },
    });
    expect(unknownFields.toSorted()).toEqual(["parts[0].y", "parts[1].z", "x"]);
    expect(value).toEqual({ tags: { t: "u" }, parts: [{}, { name: "p" }], at: null });
  });

  test("at most 1000 unknown fields are reported; a last message says that there are more", () => {
    const unknown = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, 1] as const));
    const exact = decode(Whole, unknown(1000));
    expect(exact.unknownFields).toHaveLength(1000);
    expect(exact.moreUnknownFields).toBe(false);
    expect(fieldFaults([], exact).at(-1)).toBe('unknown field "x999"');
    const cut = decode(Whole, { ...unknown(999), parts: [{ y: 1 }, { z: 1 }] });
    expect(cut.unknownFields).toHaveLength(1000);
    expect(cut.moreUnknownFields).toBe(true);
    const faults = fieldFaults(["name"], cut);
    expect(faults).toHaveLength(1002);
    expect(faults[0]).toBe('duplicate field "name"');
    expect(faults.at(-1)).toBe("and more unknown fields");
  });

  test.each<[given: unknown, message: string]>([
    ["text", "expected an object, got a string"],
    [{ parts: {} }, "parts: expected a list, got an object"],
    [{ parts: [{ size: 1.5 }] }, "parts[0].size: expected a 64-bit integer, got 1.5"],
    [{ parts: [{ size: 2n ** 64n }] }, "parts[0].size: expected a 64-bit integer, got 18446744073709551616"],
    [{ tags: { a: 1 } }, "tags.a: expected a string, got a number"],
    [{ raw: "?" }, "raw: expected base64 text (RFC 4648, padded)"],
    [{ at: "yesterday" }, 'at: expected an RFC 3339 time, got "yesterday"'],
    [{ on: "true" }, "on: expected a boolean, got a string"],
  ])("a value of a wrong type is rejected with its path, case %#", (given, message) => {
    expect(() => decode(Whole, given)).toThrow(TypeFault);
    expect(() => decode(Whole, given)).toThrow(message);
  });

  test("the input isn't changed, and names of Object.prototype are ordinary keys", () => {
    const given = Object.freeze(
      JSON.parse('{"name":"n","tags":{"__proto__":"p","constructor":"c"},"__proto__":1}') as object,
    );
    const { value, unknownFields } = decode(Whole, given);
    expect(JSON.stringify(value["tags"])).toBe('{"__proto__":"p","constructor":"c"}');
    expect(unknownFields).toEqual(["__proto__"]);
  });
});

const context = { vocabulary: platform, enabled: () => false, subresource: "" };

test("the result shares no object with the input, JSON of any form included", () => {
  const Any = struct("Any", "Any.", { value: field(1, json, "Any JSON.") });
  const input = { value: { list: [{ a: 1 }] } };
  const { value } = decode(Any, input).value as typeof input;
  expect(value).toEqual(input.value);
  expect(value).not.toBe(input.value);
  expect(value.list[0]).not.toBe(input.value.list[0]);
});

test("defaults are set for absent fields at every depth", () => {
  const value = { parts: [{ name: "a" }, { name: "b", size: 7 }] };
  fillFieldDefaults(Whole, value, context);
  expect(value).toEqual({
    parts: [
      { name: "a", size: 5 },
      { name: "b", size: 7 },
    ],
  });
});

test("checkFields reports each missing required field and each value that isn't allowed", () => {
  const report = FieldReport.start();
  checkFields(Needy, { parts: [{}], mode: "Middling" }, report, context);
  expect(report.faults.map(({ field: at, reason }) => [at, reason])).toEqual([
    ["name", "FieldValueRequired"],
    ["parts[0].name", "FieldValueRequired"],
    ["mode", "FieldValueNotSupported"],
  ]);
});

test("inOrder sorts fields as declared and keys by name, and drops undeclared fields", () => {
  const given = { parts: [{ name: "p", size: 1 }], tags: { b: "2", a: "1" }, name: "n", stray: 1 };
  expect(JSON.stringify(inOrder(Whole, given))).toBe(
    '{"name":"n","tags":{"a":"1","b":"2"},"parts":[{"size":1,"name":"p"}]}',
  );
});

test("FieldReport adds paths and values to messages and stops after 257 faults", () => {
  const report = FieldReport.start();
  report
    .at("data")
    .key("a b")
    .invalid({ big: 2n ** 70n }, "is odd");
  expect(report.faults[0]).toEqual({
    reason: "FieldValueInvalid",
    field: "data[a b]",
    message: 'Invalid value: {"big":1180591620717411303424}: is odd',
  });
  for (let i = 0; i < 1000; i++) report.at("items", i).required();
  const error = invalidError({ kind: "Whole", group: "", name: "w" }, report.faults);
  expect(error.code).toBe(422);
  expect(report.faults.length).toBe(257);
});

describe("times", () => {
  it.each([
    "2023-02-30T00:00:00Z",
    "2023-01-01T24:00:00Z",
    "2023-13-01T00:00:00Z",
    "2023-02-30T00:00:00+01:00",
    "9999-12-31T23:59:59-23:00",
    "0000-01-01T00:00:00+01:00",
  ])("the invalid time %s is rejected", (at) => {
    for (const type of ["time", "microTime"] as const) expect(decodeScalar(type, at)).toBeInstanceOf(Error);
  });

  it("a leap day is accepted", () => {
    expect(decodeScalar("time", "2024-02-29T23:59:59+01:00")).toBe("2024-02-29T22:59:59Z");
  });
});
