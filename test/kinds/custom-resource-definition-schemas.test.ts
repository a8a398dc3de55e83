import { describe, expect, it } from "vitest";
import type { Part } from "./pod-support.ts";
import { withVersion, judge } from "./custom-resource-definition-support.ts";

const withSchema = (schema: Part): Part => withVersion({ schema: { openAPIV3Schema: schema } });
const withProperty = (schema: Part): Part => withSchema({ type: "object", properties: { a: schema } });

describe("CustomResourceDefinition schemas", () => {
  const root = "spec.versions[0].schema.openAPIV3Schema";
  const text = { type: "string" };

  it.each([
    ["type object only", { type: "object" }],
    ["properties", { type: "object", properties: { spec: { type: "object", properties: { a: text } } } }],
    [
      "additionalProperties",
      { type: "object", properties: { a: { type: "object", additionalProperties: text } } },
    ],
    ["preserve-unknown-fields", { type: "object", "x-platform-preserve-unknown-fields": true }],
    [
      "int-or-string with anyOf",
      {
        type: "object",
        properties: {
          a: { "x-platform-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        },
      },
    ],
    [
      "int-or-string with allOf",
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
      "restrictions of metadata.name",
      {
        type: "object",
        properties: { metadata: { type: "object", properties: { name: { type: "string", maxLength: 5 } } } },
      },
    ],
    [
      "oneOf with required and properties",
      {
        type: "object",
        properties: { a: text },
        oneOf: [{ required: ["a"] }, { properties: { a: { minLength: 2 } } }],
      },
    ],
    [
      "a list of type map",
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
      "a list of type set",
      { type: "object", properties: { a: { type: "array", "x-platform-list-type": "set", items: text } } },
    ],
    [
      "an embedded resource",
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
    [
      "a validation rule",
      { type: "object", "x-platform-validations": [{ rule: "self.a > 1", message: "no" }] },
    ],
  ])("accepts %s", (_title, schema) => {
    expect(judge(withSchema(schema))).toEqual([]);
  });

  it.each([
    ["a root without type", {}, [".type: Required"]],
    ["another type at the root", { type: "string" }, [".type: Invalid"]],
    [
      "additionalProperties at the root",
      { type: "object", additionalProperties: text },
      [".additionalProperties: Forbidden"],
    ],
    [
      "nullable metadata",
      { type: "object", properties: { metadata: { type: "object", nullable: true } } },
      [".properties[metadata]: Forbidden"],
    ],
    ["nullable at the root", { type: "object", nullable: true }, [".nullable: Forbidden"]],
    [
      "a default for kind",
      { type: "object", properties: { kind: { type: "string", default: "X" } } },
      [".properties[kind].default: Forbidden"],
    ],
    [
      "a type other than string for kind",
      { type: "object", properties: { kind: { type: "object" } } },
      [".properties[kind].type: Invalid"],
    ],
    [
      "properties of metadata other than name and generateName",
      {
        type: "object",
        properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
      },
      [".properties[metadata]: Forbidden"],
    ],
    [
      "a property in anyOf that is not defined outside",
      { type: "object", anyOf: [{ properties: { a: { minLength: 1 } } }] },
      [".properties[a]: Required"],
    ],
    [
      "metadata inside not",
      { type: "object", properties: { metadata: { type: "object" } }, not: { properties: { metadata: {} } } },
      [".not.properties[metadata]: Forbidden"],
    ],
  ])("rejects %s", (_title, schema, faults) => {
    expect(judge(withSchema(schema))).toEqual(faults.map((fault) => root + fault));
  });

  it.each([
    ["no type", { description: "x" }, [".type: Required"]],
    ["an unknown type", { type: "text" }, [".type: NotSupported"]],
    ["type null", { type: "null" }, [".type: Forbidden"]],
    ["id", { ...text, id: "x" }, [".id: Forbidden"]],
    ["$ref", { ...text, $ref: "#/x" }, [".$ref: Forbidden"]],
    ["definitions", { ...text, definitions: { x: text } }, [".definitions: Forbidden"]],
    ["dependencies", { type: "object", dependencies: { x: ["y"] } }, [".dependencies: Forbidden"]],
    [
      "patternProperties",
      { type: "object", patternProperties: { x: text } },
      [".patternProperties: Forbidden"],
    ],
    ["uniqueItems", { type: "array", items: text, uniqueItems: true }, [".uniqueItems: Forbidden"]],
    ["items as a list", { type: "array", items: [text] }, [".items: Forbidden"]],
    ["items without a type", { type: "array", items: {} }, [".items.type: Required"]],
    [
      "both properties and additionalProperties",
      { type: "object", properties: { b: text }, additionalProperties: text },
      [".additionalProperties: Forbidden"],
    ],
    [
      "properties and additionalProperties false",
      { type: "object", properties: { b: text }, additionalProperties: false },
      [".additionalProperties: Forbidden"],
    ],
    ["a type inside anyOf", { ...text, anyOf: [{ type: "string" }] }, [".anyOf[0].type: Forbidden"]],
    [
      "a default inside not",
      { ...text, not: { default: "a" } },
      [".not.default: Forbidden", ".not.default: Forbidden"],
    ],
    [
      "preserve-unknown-fields inside oneOf",
      { type: "object", oneOf: [{ "x-platform-preserve-unknown-fields": true }] },
      [".oneOf[0].x-platform-preserve-unknown-fields: Forbidden"],
    ],
    [
      "preserve-unknown-fields false",
      { type: "object", "x-platform-preserve-unknown-fields": false },
      [".x-platform-preserve-unknown-fields: Invalid"],
    ],
    ["an array without items", { type: "array" }, [".items: Required"]],
    ["a map type on a string", { ...text, "x-platform-map-type": "atomic" }, [".type: Invalid"]],
    [
      "an unknown map type",
      { type: "object", "x-platform-map-type": "x" },
      [".x-platform-map-type: NotSupported"],
    ],
    ["a list type on a string", { ...text, "x-platform-list-type": "set" }, [".type: Invalid"]],
    [
      "an unknown list type",
      { type: "array", items: text, "x-platform-list-type": "x" },
      [".x-platform-list-type: NotSupported"],
    ],
    [
      "list-map-keys without list-type map",
      { type: "array", items: text, "x-platform-list-map-keys": ["k"] },
      [".x-platform-list-type: Required"],
    ],
    [
      "list-type map without list-map-keys",
      { type: "array", items: { type: "object" }, "x-platform-list-type": "map" },
      [".x-platform-list-map-keys: Required"],
    ],
    [
      "list-type map with string items",
      { type: "array", items: text, "x-platform-list-type": "map", "x-platform-list-map-keys": ["k"] },
      [".items.type: Invalid"],
    ],
    [
      "list-type map without items",
      { type: "array", "x-platform-list-type": "map", "x-platform-list-map-keys": ["k"] },
      [".items: Required", ".items: Required"],
    ],
    [
      "duplicate and undefined list-map-keys",
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
      "an optional list-map-key without a default",
      {
        type: "array",
        items: { type: "object", properties: { k: text } },
        "x-platform-list-type": "map",
        "x-platform-list-map-keys": ["k"],
      },
      [".items.properties[k].default: Required"],
    ],
    [
      "a nullable list-map-key of type object",
      {
        type: "array",
        items: { type: "object", required: ["k"], properties: { k: { type: "object", nullable: true } } },
        "x-platform-list-type": "map",
        "x-platform-list-map-keys": ["k"],
      },
      [".items.properties[k].type: Invalid", ".items.properties[k].nullable: Forbidden"],
    ],
    [
      "list-type set with items of a granular object",
      { type: "array", items: { type: "object" }, "x-platform-list-type": "set" },
      [".items.x-platform-map-type: Invalid"],
    ],
    [
      "an embedded resource without properties",
      { type: "object", "x-platform-embedded-resource": true },
      [".properties: Required"],
    ],
    [
      "a blank validation rule",
      { ...text, "x-platform-validations": [{ rule: " " }] },
      [".x-platform-validations[0].rule: Required"],
    ],
    [
      "a rule with a line break and no message",
      { ...text, "x-platform-validations": [{ rule: "a &&\nb" }] },
      [".x-platform-validations[0].message: Required"],
    ],
    [
      "a message with a line break",
      { ...text, "x-platform-validations": [{ rule: "a", message: "a\nb" }] },
      [".x-platform-validations[0].message: Invalid"],
    ],
  ])("rejects the property schema: %s", (_title, schema, faults) => {
    const prefix = `${root}.properties[a]`;
    expect(
      judge(withProperty(schema)).filter(
        (fault) => !fault.startsWith(`${prefix}.type: Required`) || faults.includes(".type: Required"),
      ),
    ).toEqual(faults.map((fault) => prefix + fault));
  });

  it("with the status subresource, anyOf and additionalProperties at the root are rejected", () => {
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

  it("a schema with 20,000 properties is validated without errors", () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, text]));
    const narrowed = Object.fromEntries(Object.keys(properties).map((name) => [name, { minLength: 1 }]));
    expect(judge(withSchema({ type: "object", properties, allOf: [{ properties: narrowed }] }))).toEqual([]);
  });
});
