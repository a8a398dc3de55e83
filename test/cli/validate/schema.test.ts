import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { runSchema, schemaFlags } from "../../../src/cli/schema/schema.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { rangeDefinition, writeFiles } from "./support.ts";

interface EditorSchema {
  readonly allOf: readonly {
    readonly if: { readonly properties: Readonly<Record<"apiVersion" | "kind", { readonly const: string }>> };
    readonly then: { readonly $ref: string };
  }[];
  readonly definitions: Readonly<Record<string, object>>;
}

async function schema(words: readonly string[]): Promise<string> {
  let output = "";
  await runSchema(
    words,
    {},
    {
      readInput: () => Promise.reject(new Error("no input")),
      writeOutput: (text) => (output += text),
      writeError: () => undefined,
    },
  );
  return output;
}

test("plinth schema writes a schema that chooses by apiVersion and kind, with custom kinds, and a file for each kind", async () => {
  const folder = temporaryFolder();
  try {
    writeFiles(folder.path, { "range.yaml": rangeDefinition });
    const out = path.join(folder.path, "schemas");
    expect(await schema([`--with=${folder.path}`, `--output=${out}`, "--release=1.33"])).toBe("");
    const all = JSON.parse(readFileSync(path.join(out, "all.json"), "utf8")) as EditorSchema;
    const rule = (apiVersion: string, kind: string) =>
      all.allOf.find(
        ({ if: { properties } }) =>
          properties.apiVersion.const === apiVersion && properties.kind.const === kind,
      )!;
    const definitionOf = (ref: string) => all.definitions[ref.replace("#/definitions/", "")];
    const range = definitionOf(rule("example.com/v1", "Range").then.$ref);
    expect(range).toHaveProperty("properties.spec");
    expect((range as { properties: { spec: object } }).properties.spec).toMatchObject({
      required: ["max"],
      additionalProperties: false,
      properties: { mode: { enum: ["open", "closed"] } },
    });
    const deployment = definitionOf(rule("apps/v1", "Deployment").then.$ref);
    expect(deployment).toMatchObject({ type: "object", additionalProperties: false });
    const references = new Set<string>();
    JSON.stringify(all, (name, value: unknown) => {
      if (name === "$ref" && typeof value === "string") references.add(value);
      return value;
    });
    expect([...references].filter((one) => definitionOf(one) === undefined)).toEqual([]);
    expect(readdirSync(out)).toEqual(
      expect.arrayContaining(["all.json", "deployment-apps-v1.json", "pod-v1.json", "range-example-v1.json"]),
    );
    const ofKind = JSON.parse(readFileSync(path.join(out, "configmap-v1.json"), "utf8")) as EditorSchema;
    expect(Object.keys(ofKind.definitions).toSorted()).toEqual([
      "io.k8s.api.core.v1.ConfigMap",
      "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
      "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry",
      "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
      "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
      "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
    ]);
    expect(ofKind).toMatchObject({ $ref: "#/definitions/io.k8s.api.core.v1.ConfigMap" });
  } finally {
    folder.remove();
  }
});

test("plinth schema refuses a release that there isn't", async () => {
  await expect(schema(["--release=2"])).rejects.toThrow('--release: "2" is not one of 1.26');
  expect(schemaFlags.map(({ name }) => name)).not.toContain("filename");
});
