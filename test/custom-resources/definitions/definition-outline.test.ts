import { expect, test } from "vitest";
import { partsOf } from "../../../src/custom-resources/definitions/compressed-definition.ts";

function parts(definition: object): unknown {
  const { outline, schemas } = partsOf(Buffer.from(JSON.stringify(definition)));
  return [outline, ...schemas].map((part) => JSON.parse(part.toString()) as unknown);
}

const version = (name: string, openAPIV3Schema: object) => ({
  name,
  served: true,
  schema: { openAPIV3Schema },
});

test("a definition's outline is the definition with empty schemas; the schemas are separate", () => {
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
  const versions = [version("v1", {}), version("v2", {}), { name: "v3" }];
  const outline = { ...definition, spec: { ...definition.spec, versions } };
  expect(parts(definition)).toEqual([outline, tricky, {}]);
});

test("a definition that ends within a schema is no definition", () => {
  expect(() => partsOf(Buffer.from('{"openAPIV3Schema":{"a":{}'))).toThrow("ends within a schema");
  expect(() => partsOf(Buffer.from('{"openAPIV3Schema":{"a'))).toThrow("ends within a text");
});
