import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { fieldText, fits, objectIn, parseText, withField } from "../../console/src/model/form-values.ts";
import {
  fieldsOf,
  kindSchema,
  topFields,
  type FieldType,
  type KindSchema,
} from "../../console/src/model/schema.ts";
import { useServer } from "../support/use-server.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const server = useServer({ vocabulary: "kubernetes" });

const schemaOf = async (path: string, kind: string): Promise<KindSchema> => {
  const { body } = await server.admin.get(`/openapi/v3/${path}`);
  const [, group = "", version = ""] = /^(?:api|apis\/([^/]+))\/(.+)$/.exec(path)!;
  return kindSchema(body, { group, version, kind })!;
};
const kindsOf = (fields: ReturnType<typeof fieldsOf>) =>
  Object.fromEntries(fields.map(({ name, type }) => [name, type.kind]));
const section = ({ schema, schemas }: KindSchema, name: string) => {
  const { type } = fieldsOf(schema, schemas).find((field) => field.name === name)!;
  return { schema: type.kind === "section" ? type.schema : {}, schemas };
};

describe("the fields of a schema", () => {
  it("of a built-in kind have types, descriptions and defaults, without those of the server", async () => {
    const deployment = await schemaOf("apis/apps/v1", "Deployment");
    const top = topFields(deployment);
    expect(kindsOf(top)).toEqual({ metadata: "section", spec: "section" });
    const { type } = top[0]!;
    expect(type.kind === "section" && kindsOf(fieldsOf(type.schema, deployment.schemas))).toEqual({
      annotations: "map",
      finalizers: "list",
      labels: "map",
    });
    const { schema, schemas } = section(deployment, "spec");
    const spec = fieldsOf(schema, schemas);
    expect(kindsOf(spec)).toMatchObject({ paused: "boolean", replicas: "integer", template: "section" });
    expect(spec.find(({ name }) => name === "selector")).toMatchObject({ isRequired: true });
    expect(spec.find(({ name }) => name === "replicas")!.description).not.toBe("");
    const strategy = section({ schema, schemas }, "strategy");
    const rolling = section(strategy, "rollingUpdate");
    expect(kindsOf(fieldsOf(rolling.schema, schemas))).toMatchObject({ maxSurge: "integer-or-text" });
    const quota = await schemaOf("api/v1", "ResourceQuota");
    const hard = section(quota, "spec");
    expect(kindsOf(fieldsOf(hard.schema, hard.schemas))).toMatchObject({ hard: "map", scopes: "list" });
  });

  it("may refer to themselves, to nothing, and be thousands", () => {
    const loop = { $ref: "#/components/schemas/loop" };
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`field${at}`, loop]));
    const schemas = { loop, wide: { type: "object", properties } };
    const wide = { properties: { child: { $ref: "#/components/schemas/wide" }, none: { $ref: "#/x" } } };
    const usedMs = cpuStopwatch();
    const [child, none] = fieldsOf(wide, schemas);
    expect(child!.type.kind).toBe("section");
    expect(none!.type.kind).toBe("yaml");
    expect(fieldsOf(schemas.wide, schemas)).toHaveLength(20_000);
    expect(usedMs()).toBeLessThan(1000);
  });

  it("that a form can't show are edited as YAML", () => {
    const properties = {
      objects: { type: "array", items: { type: "object", properties: { a: { type: "string" } } } },
      any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      mapOfObjects: { type: "object", additionalProperties: { type: "object" } },
      untyped: {},
      choice: { type: "string", enum: ["a", "b"] },
      numbers: { type: "array", items: { type: "integer" } },
    };
    expect(kindsOf(fieldsOf({ properties }, {}))).toEqual({
      objects: "yaml",
      any: "yaml",
      mapOfObjects: "yaml",
      untyped: "yaml",
      choice: "choice",
      numbers: "list",
    });
  });
});

describe("the text of a field", () => {
  it.each<[FieldType, string, unknown]>([
    [{ kind: "text" }, "5", "5"],
    [{ kind: "integer" }, "5", 5],
    [{ kind: "number" }, "1.5", 1.5],
    [{ kind: "integer-or-text" }, "25%", "25%"],
    [{ kind: "integer-or-text" }, "25", 25],
    [{ kind: "quantity" }, "500m", "500m"],
    [{ kind: "boolean" }, "false", false],
    [{ kind: "list", item: "text" }, "a\nb", ["a", "b"]],
    [{ kind: "list", item: "integer" }, "1\n2", [1, 2]],
    [{ kind: "integer" }, "", undefined],
    [{ kind: "list", item: "text" }, "", undefined],
  ])("of type %o, %j, is the value %j, and back", (type, text, value) => {
    expect(parseText(type, text)).toEqual({ value });
    expect(fieldText(value)).toBe(text);
    expect(fits(type, value)).toBe(true);
  });

  it.each<[FieldType, string, string]>([
    [{ kind: "integer" }, "x", "x is not a number"],
    [{ kind: "integer" }, "1.5", "1.5 is not an integer"],
    [{ kind: "integer" }, "9007199254740993", "too large"],
    [{ kind: "number" }, " ", "is not a number"],
    [{ kind: "list", item: "integer" }, "1\nx", "x is not a number"],
  ])("of type %o, %j, is refused", (type, text, message) => {
    expect(parseText(type, text)).toEqual({ error: expect.stringContaining(message) as string });
  });

  it("isn't used for values of another type than the schema's", () => {
    expect(fits({ kind: "text" }, 5)).toBe(false);
    expect(fits({ kind: "list", item: "text" }, ["a\nb"])).toBe(false);
    expect(fits({ kind: "map" }, { a: {} })).toBe(false);
    expect(fits({ kind: "section", schema: {} }, "text")).toBe(false);
  });
});

describe("a field that is set in YAML", () => {
  const text = "# a comment\nspec:\n  paused: false # another\n  name: 'a'\n";

  it("keeps comments and other fields, and creates the objects above it", () => {
    const changed = withField(text, ["spec", "strategy", "type"], "Recreate");
    expect(changed).toBe(`${text}  strategy:\n    type: Recreate\n`);
    expect(withField(changed, ["spec", "strategy", "type"], undefined)).toBe(text);
  });

  it.each([true, 5, "5", "true", "null", "a: b", "a\nb", ["x", "5"], { "a.b/c": "1" }, ""])(
    "reads as %j",
    (value) => {
      for (const start of [text, "spec:\n", "spec: {}\n", "spec: x\n", "{}\n"]) {
        const changed = parse(withField(start, ["spec", "name"], value)) as { spec: { name: unknown } };
        expect(changed.spec.name).toEqual(value);
      }
    },
  );

  it("is removed with the objects that become empty", () => {
    expect(parse(withField("a: 1\nb: { c: { d: 1 } }\n", ["b", "c", "d"], undefined))).toEqual({ a: 1 });
    expect(withField("a: 1\n", ["b", "c"], undefined)).toBe("a: 1\n");
  });
});

it("a YAML text is an object, unless it has an error or its aliases expand to too many values", () => {
  expect(objectIn("a: &x [1]\nb: *x\n")).toEqual({ a: [1], b: [1] });
  for (const text of ["a: [", "a: : b", "- 1", "text", "", "a: 1\n---\nb: 2", "a: *unknown"]) {
    expect(objectIn(text)).toBeUndefined();
  }
  const levels = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}]`);
  expect(objectIn(["a0: &a0 [1]", ...levels].join("\n"))).toBeUndefined();
});
