import { expect, test } from "vitest";
import { outlineOf } from "../../../src/custom-resources/definitions/definition-outline.ts";

function outline(definition: object): unknown {
  return outlineOf(Buffer.from(JSON.stringify(definition)));
}

const version = (name: string, openAPIV3Schema: object) => ({
  name,
  served: true,
  schema: { openAPIV3Schema },
});

test("a definition's outline is the definition with empty schemas", () => {
  const tricky = {
    type: "object",
    description: 'quotes " and \\ and braces }{ and \\" before the end \\\\',
    properties: { openAPIV3Schema: { type: "object", default: { openAPIV3Schema: { "}": "\\" } } } },
  };
  const definition = {
    kind: "CustomResourceDefinition",
    metadata: {
      name: "a.example.com",
      annotations: { last: JSON.stringify(version("v1", tricky)), openAPIV3Schema: "{" },
      managedFields: [{ fieldsV1: { "f:schema": { "f:openAPIV3Schema": { "f:type": {} } } } }],
    },
    spec: { group: "example.com", versions: [version("v1", tricky), version("v2", {}), { name: "v3" }] },
    status: { storedVersions: ["v1"], conditions: [] },
  };
  expect(outline(definition)).toEqual({
    ...definition,
    spec: { ...definition.spec, versions: [version("v1", {}), version("v2", {}), { name: "v3" }] },
  });
});

test("a definition that ends within a schema is no definition", () => {
  expect(() => outlineOf(Buffer.from('{"openAPIV3Schema":{"a":{}'))).toThrow("ends within a schema");
  expect(() => outlineOf(Buffer.from('{"openAPIV3Schema":{"a'))).toThrow("ends within a text");
});
