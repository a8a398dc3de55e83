import { describe, expect, it } from "vitest";
import type { Part } from "./pod-support.ts";
import { withVersion, judge } from "./custom-resource-definition-support.ts";

const withSchema = (schema: Part): Part => withVersion({ schema: { openAPIV3Schema: schema } });
const withProperty = (schema: Part): Part => withSchema({ type: "object", properties: { a: schema } });

describe("schemas", () => {
  const root = "spec.versions[0].schema.openAPIV3Schema";
  const text = { type: "string" };

  it.each([
    ["a bare object", { type: "object" }],
    ["members", { type: "object", properties: { spec: { type: "object", properties: { a: text } } } }],
    ["free members", { type: "object", properties: { a: { type: "object", additionalProperties: text } } }],
    ["anything", { type: "object", "x-platform-preserve-unknown-fields": true }],
    [
      "an integer or a text",
      {
        type: "object",
        properties: {
          a: { "x-platform-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        },
      },
    ],
    [
      "the same in another way",
      {
        type: "object",
        properties: {
          a: {
            "x-platform-int-or-string": true,
            allOf: [{ anyOf: [{ type: "integer" }, { type: "string" }] }, { pattern: "a" }],
          },
        },
      },
    ],
    [
      "names",
      {
        type: "object",
        properties: { metadata: { type: "object", properties: { name: { type: "string", maxLength: 5 } } } },
      },
    ],
    [
      "narrowing",
      {
        type: "object",
        properties: { a: text },
        oneOf: [{ required: ["a"] }, { properties: { a: { minLength: 2 } } }],
      },
    ],
    [
      "a list by keys",
      {
        type: "object",
        properties: {
          a: {
            type: "array",
            "x-platform-list-type": "map",
            "x-platform-list-map-keys": ["k", "d"],
            items: {
              type: "object",
              required: ["k"],
              properties: { k: text, d: { type: "integer", default: 1 } },
            },
          },
        },
      },
    ],
    [
      "a set of texts",
      { type: "object", properties: { a: { type: "array", "x-platform-list-type": "set", items: text } } },
    ],
    [
      "an embedded object",
      {
        type: "object",
        properties: {
          a: {
            type: "object",
            "x-platform-embedded-resource": true,
            "x-platform-preserve-unknown-fields": true,
          },
        },
      },
    ],
    ["an expression", { type: "object", "x-platform-validations": [{ rule: "self.a > 1", message: "no" }] }],
  ])("%s: right", (_title, schema) => {
    expect(judge(withSchema(schema))).toEqual([]);
  });

  it.each([
    ["no type at the root", {}, [".type: Required"]],
    ["another type at the root", { type: "string" }, [".type: Invalid"]],
    [
      "free members at the root",
      { type: "object", additionalProperties: text },
      [".additionalProperties: Forbidden"],
    ],
    [
      "metadata that may be null",
      { type: "object", properties: { metadata: { type: "object", nullable: true } } },
      [".properties[metadata]: Forbidden"],
    ],
    ["null at the root", { type: "object", nullable: true }, [".nullable: Forbidden"]],
    [
      "a default of the kind",
      { type: "object", properties: { kind: { type: "string", default: "X" } } },
      [".properties[kind].default: Forbidden"],
    ],
    [
      "another type of the kind",
      { type: "object", properties: { kind: { type: "object" } } },
      [".properties[kind].type: Invalid"],
    ],
    [
      "metadata of one's own",
      {
        type: "object",
        properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
      },
      [".properties[metadata]: Forbidden"],
    ],
    [
      "what isn't defined outside",
      { type: "object", anyOf: [{ properties: { a: { minLength: 1 } } }] },
      [".properties[a]: Required"],
    ],
    [
      "metadata inside",
      { type: "object", properties: { metadata: { type: "object" } }, not: { properties: { metadata: {} } } },
      [".not.properties[metadata]: Forbidden"],
    ],
  ])("%s: refused", (_title, schema, faults) => {
    expect(judge(withSchema(schema))).toEqual(faults.map((fault) => root + fault));
  });

  it.each([
    ["no type", { description: "x" }, [".type: Required"]],
    ["another type", { type: "text" }, [".type: NotSupported"]],
    ["null", { type: "null" }, [".type: Forbidden"]],
    ["an identifier", { ...text, id: "x" }, [".id: Forbidden"]],
    ["a reference", { ...text, $ref: "#/x" }, [".$ref: Forbidden"]],
    ["definitions", { ...text, definitions: { x: text } }, [".definitions: Forbidden"]],
    ["dependencies", { type: "object", dependencies: { x: ["y"] } }, [".dependencies: Forbidden"]],
    [
      "patterns of names",
      { type: "object", patternProperties: { x: text } },
      [".patternProperties: Forbidden"],
    ],
    ["unique items", { type: "array", items: text, uniqueItems: true }, [".uniqueItems: Forbidden"]],
    ["a list of items", { type: "array", items: [text] }, [".items: Forbidden"]],
    ["items without type", { type: "array", items: {} }, [".items.type: Required"]],
    [
      "free and named members",
      { type: "object", properties: { b: text }, additionalProperties: text },
      [".additionalProperties: Forbidden"],
    ],
    [
      "no free members beside named ones",
      { type: "object", properties: { b: text }, additionalProperties: false },
      [".additionalProperties: Forbidden"],
    ],
    ["a type inside", { ...text, anyOf: [{ type: "string" }] }, [".anyOf[0].type: Forbidden"]],
    [
      "a default inside",
      { ...text, not: { default: "a" } },
      [".not.default: Forbidden", ".not.default: Forbidden"],
    ],
    [
      "a mark inside",
      { type: "object", oneOf: [{ "x-platform-preserve-unknown-fields": true }] },
      [".oneOf[0].x-platform-preserve-unknown-fields: Forbidden"],
    ],
    [
      "a mark that is false",
      { type: "object", "x-platform-preserve-unknown-fields": false },
      [".x-platform-preserve-unknown-fields: Invalid"],
    ],
    ["a list without items", { type: "array" }, [".items: Required"]],
    ["a map type of a text", { ...text, "x-platform-map-type": "atomic" }, [".type: Invalid"]],
    [
      "another map type",
      { type: "object", "x-platform-map-type": "x" },
      [".x-platform-map-type: NotSupported"],
    ],
    ["a list type of a text", { ...text, "x-platform-list-type": "set" }, [".type: Invalid"]],
    [
      "another list type",
      { type: "array", items: text, "x-platform-list-type": "x" },
      [".x-platform-list-type: NotSupported"],
    ],
    [
      "keys without a map",
      { type: "array", items: text, "x-platform-list-map-keys": ["k"] },
      [".x-platform-list-type: Required"],
    ],
    [
      "a map without keys",
      { type: "array", items: { type: "object" }, "x-platform-list-type": "map" },
      [".x-platform-list-map-keys: Required"],
    ],
    [
      "a map of texts",
      { type: "array", items: text, "x-platform-list-type": "map", "x-platform-list-map-keys": ["k"] },
      [".items.type: Invalid"],
    ],
    [
      "a map without items",
      { type: "array", "x-platform-list-type": "map", "x-platform-list-map-keys": ["k"] },
      [".items: Required", ".items: Required"],
    ],
    [
      "keys that aren't there, twice",
      {
        type: "array",
        items: { type: "object" },
        "x-platform-list-type": "map",
        "x-platform-list-map-keys": ["k", "k"],
      },
      [
        ".x-platform-list-map-keys: Invalid",
        ".x-platform-list-map-keys: Invalid",
        ".x-platform-list-map-keys: Invalid",
      ],
    ],
    [
      "a key that may be missing",
      {
        type: "array",
        items: { type: "object", properties: { k: text } },
        "x-platform-list-type": "map",
        "x-platform-list-map-keys": ["k"],
      },
      [".items.properties[k].default: Required"],
    ],
    [
      "a key that is no scalar, and may be null",
      {
        type: "array",
        items: { type: "object", required: ["k"], properties: { k: { type: "object", nullable: true } } },
        "x-platform-list-type": "map",
        "x-platform-list-map-keys": ["k"],
      },
      [".items.properties[k].type: Invalid", ".items.properties[k].nullable: Forbidden"],
    ],
    [
      "a set of objects",
      { type: "array", items: { type: "object" }, "x-platform-list-type": "set" },
      [".items.x-platform-map-type: Invalid"],
    ],
    [
      "an embedded object of nothing",
      { type: "object", "x-platform-embedded-resource": true },
      [".properties: Required"],
    ],
    [
      "an expression of spaces",
      { ...text, "x-platform-validations": [{ rule: " " }] },
      [".x-platform-validations[0].rule: Required"],
    ],
    [
      "a long expression without message",
      { ...text, "x-platform-validations": [{ rule: "a &&\nb" }] },
      [".x-platform-validations[0].message: Required"],
    ],
    [
      "a message of two lines",
      { ...text, "x-platform-validations": [{ rule: "a", message: "a\nb" }] },
      [".x-platform-validations[0].message: Invalid"],
    ],
  ])("a property with %s: refused", (_title, schema, faults) => {
    const prefix = `${root}.properties[a]`;
    expect(
      judge(withProperty(schema)).filter(
        (fault) => !fault.startsWith(`${prefix}.type: Required`) || faults.includes(".type: Required"),
      ),
    ).toEqual(faults.map((fault) => prefix + fault));
  });

  it("says nothing of the whole that the status has no part in", () => {
    const judgeRoot = (schema: Part) =>
      judge(
        withVersion({
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", ...schema } },
        }),
      );
    expect(judgeRoot({ properties: {}, required: ["spec"], description: "x" })).toEqual([]);
    expect(judgeRoot({ anyOf: [{ required: ["a"] }] })).toEqual([`${root}: Invalid`]);
    expect(judgeRoot({ additionalProperties: text })).toEqual([
      `${root}: Invalid`,
      `${root}.additionalProperties: Forbidden`,
    ]);
  });

  it("are judged in time that is linear in their size", () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, text]));
    const narrowed = Object.fromEntries(Object.keys(properties).map((name) => [name, { minLength: 1 }]));
    expect(judge(withSchema({ type: "object", properties, allOf: [{ properties: narrowed }] }))).toEqual([]);
  });
});
