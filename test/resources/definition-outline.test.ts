import { expect, test } from "vitest";
import { outlineOf } from "../../src/resources/definition-outline.ts";
import type { Entry } from "../../src/storage/store.ts";

function outline(definition: object): unknown {
  const body = Buffer.from(JSON.stringify(definition));
  return outlineOf({ key: "k", body, header: Buffer.alloc(0) } as unknown as Entry);
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
  const entry = (text: string) =>
    ({ key: "k", body: Buffer.from(text), header: Buffer.alloc(0) }) as unknown as Entry;
  expect(() => outlineOf(entry('{"openAPIV3Schema":{"a":{}'))).toThrow("ends within a schema");
  expect(() => outlineOf(entry('{"openAPIV3Schema":{"a'))).toThrow("ends within a text");
});
