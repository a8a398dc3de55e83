import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runTypes, typesFlags } from "../../src/cli/types/types.ts";
import { definitionOf } from "../../src/index.ts";
import { definition, served, version } from "../api/custom-resources/support.ts";
import { Order } from "../extensions/order-kind.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { read } from "../tidy/source-files.ts";
import { blockOf } from "../support/pages.ts";
import { plinthHere } from "../support/program-here.ts";

const folder = temporaryFolder();
const file = (name: string) => path.join(folder.path, name);
afterAll(() => folder.remove());

/** Runs the command in this process, with a text as standard input; by default for a project without the package. */
async function types(words: readonly string[], input = "", client = "--client=false") {
  let output = "";
  let errors = "";
  const code = await runTypes(
    [client, ...words],
    {},
    {
      readInput: () => Promise.resolve(Buffer.from(input)),
      writeOutput: (text) => (output += text),
      writeError: (text) => (errors += text),
    },
  );
  return { code, output, errors };
}

const root = path.resolve(import.meta.dirname, "../..");

/** What the compiler finds wrong in a module, with every strict check. */
function compile(text: string): string {
  const name = file("compiled.ts");
  writeFileSync(name, text);
  const words = [
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--target",
    "es2022",
  ];
  const { stdout, error } = spawnSync(
    process.execPath,
    [path.join(root, "node_modules/typescript/bin/tsc"), ...words, "--types", "", name],
    { encoding: "utf8", cwd: folder.path },
  );
  if (error !== undefined) throw error;
  return stdout;
}

/** A definition whose only version has these properties in its `spec`. */
const withSpec = (properties: object, more: object = {}, of = "kubernetes") => ({
  apiVersion: `apiextensions.${of === "kubernetes" ? "k8s" : "platform"}.io/v1`,
  kind: "CustomResourceDefinition",
  ...definition({
    versions: [
      version("v1", {
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["spec"],
            properties: { spec: { type: "object", properties, ...more } },
          },
        },
      }),
    ],
  }),
});

const input = (...objects: readonly object[]) => objects.map((one) => JSON.stringify(one)).join("\n---\n");

describe("the type of a value", () => {
  const preserve = { "x-kubernetes-preserve-unknown-fields": true };
  test.each<[string, object, string]>([
    ["a text", { type: "string" }, "a?: string;"],
    ["an integer", { type: "integer" }, "a?: number;"],
    ["a number", { type: "number" }, "a?: number;"],
    ["a boolean", { type: "boolean" }, "a?: boolean;"],
    ["a closed set", { type: "string", enum: ["x", 'y"', 1, null] }, String.raw`a?: "x" | "y\"" | 1 | null;`],
    ["an integer or a text", { "x-kubernetes-int-or-string": true }, "a?: number | string;"],
    ["a nullable one", { type: "string", nullable: true }, "a?: string | null;"],
    ["a list", { type: "array", items: { type: "string" } }, "a?: string[];"],
    [
      "a list of a closed set",
      { type: "array", items: { type: "string", enum: ["x", "y"] } },
      'a?: Array<"x" | "y">;',
    ],
    ["a map", { type: "object", additionalProperties: { type: "integer" } }, "a?: Record<string, number>;"],
    ["a map of anything", { type: "object", additionalProperties: true }, "a?: Record<string, unknown>;"],
    ["anything", preserve, "a?: unknown;"],
    ["an object without members", { type: "object" }, "a?: Record<string, never>;"],
    [
      "an object that is kept",
      { type: "object", ...preserve, properties: { b: { type: "string" } } },
      "a?: {\n      b?: string;\n      [member: string]: unknown;\n    };",
    ],
    [
      "an object of its own kind",
      { type: "object", "x-kubernetes-embedded-resource": true, ...preserve },
      "a?: {\n      apiVersion: string;\n      kind: string;\n      metadata?: ObjectMeta;\n      [member: string]: unknown;\n    };",
    ],
  ])("%s", async (_, schema, expected) => {
    const { code, output, errors } = await types(["-f", "-"], input(withSpec({ a: schema })));
    expect([code, errors]).toEqual([0, ""]);
    expect(output).toContain(`  spec: {\n    ${expected}\n  };\n`);
  });

  test("supports the schema extensions of both vocabularies", async () => {
    const schema = { "x-platform-int-or-string": true };
    const { output } = await types(["-f", "-"], input(withSpec({ a: schema }, {}, "platform")));
    expect(output).toContain("a?: number | string;");
  });

  test("is unknown below the maximum depth", async () => {
    let schema: object = { type: "string" };
    for (let at = 0; at < 90; at++) schema = { type: "object", properties: { a: schema } };
    const { code, output } = await types(["-f", "-"], input(withSpec({ a: schema })));
    expect(code).toBe(0);
    expect(output).toContain("a?: unknown;");
    expect(output.split("\n").length).toBeLessThan(250);
    expect(compile(output)).toBe("");
  });
});

test(
  "names, descriptions and what must be given make a module that compiles",
  { timeout: 60_000 },
  async () => {
    const object = withSpec(
      {
        "a-b": { type: "string", description: "Ends */ here\nand\u2028goes on." },
        class: { type: "string", enum: ["x\u2028", "`${y}`"] },
        __proto__x: { type: "string" },
        "1": { type: "integer", description: "One line." },
        "new\nline": { type: "boolean" },
      },
      { required: ["a-b"] },
    );
    const { output } = await types(["-f", "-"], input(object));
    expect(output).toContain(
      '    /**\n     * Ends *\\/ here\n     * and\n     * goes on.\n     */\n    "a-b": string;',
    );
    expect(output).toContain('    /** One line. */\n    "1"?: number;');
    const use = `const one: OrderV1 = {
    apiVersion: "shop.example.com/v1", kind: "Order", metadata: { name: "a" }, spec: { "a-b": "x" },
  };
  // @ts-expect-error a-b is required
  const two: OrderV1 = { ...one, spec: {} };
  // @ts-expect-error there is no such member
  const three: OrderV1 = { ...one, spec: { "a-b": "x", other: 1 } };
  export const all = [one, two, three];`;
    expect(compile(`${output}\n${use}`)).toBe("");
  },
);

test(
  "a version is an interface; kinds of the same name have that of their group",
  { timeout: 60_000 },
  async () => {
    const versions = [version("v1"), version("v2beta1", { storage: false })];
    const one = { ...withSpec({}), spec: definition({ versions }).spec };
    const other = structuredClone(withSpec({}));
    other.metadata.name = "orders.bakery.example.com";
    other.spec.group = "bakery.example.com";
    const { output } = await types(["-f", "-"], input(one, other));
    const names = [...output.matchAll(/export interface (\w+)/g)].map(([, name]) => name);
    expect(names).toEqual(["OrderV1BakeryExampleCom", "OrderV1ShopExampleCom", "OrderV2beta1"]);
    expect((await types(["-f", "-"], input(other, one))).output).toBe(output);
    expect(compile(output)).toBe("");
  },
);

test("the definition of a declared kind gives the type of its objects", { timeout: 60_000 }, async () => {
  const { output } = await types(["-f", "-"], input(definitionOf(Order)));
  expect(output).toContain('state?: "Open" | "Sent";');
  const use = `export const order: OrderV1 = {
    apiVersion: "shop.example.com/v1", kind: "Order", metadata: {}, customer: "ada", lines: [{ item: "tea" }], weight: 2,
  };`;
  expect(compile(`${output}\n${use}`)).toBe("");
});

test("with -o each definition has a file; other objects are left out", async () => {
  const source = file("source");
  mkdirSync(source);
  writeFileSync(path.join(source, "a.yaml"), input(withSpec({}), { apiVersion: "v1", kind: "ConfigMap" }));
  const list = { apiVersion: "v1", kind: "List", items: [definitionOf(Order, { vocabulary: "kubernetes" })] };
  list.items[0] = { ...list.items[0]!, metadata: { name: "others.shop.example.com" } };
  writeFileSync(path.join(source, "b.json"), JSON.stringify(list));
  const to = file("to/types");
  expect(await types(["-f", source, "-o", to])).toEqual({ code: 0, output: "", errors: "" });
  expect(readdirSync(to)).toEqual(["orders.shop.example.com.ts", "others.shop.example.com.ts"]);
  expect(readFileSync(path.join(to, "orders.shop.example.com.ts"), "utf8")).toContain(
    "export interface OrderV1 {",
  );
});

describe("invalid input is reported with its file and field, and the rest is written, for", () => {
  const wrong = (change: (object: ReturnType<typeof withSpec>) => object) => change(withSpec({}));
  const schema = "spec.versions[0].schema.openAPIV3Schema";
  test.each<[string, object, string]>([
    ["an older version", { ...withSpec({}), apiVersion: "apiextensions.k8s.io/v1beta1" }, "apiVersion: "],
    ["no group", wrong((one) => ({ ...one, spec: { ...one.spec, group: 1 } })), "spec.group: must be a text"],
    [
      "no versions",
      wrong((one) => ({ ...one, spec: { ...one.spec, versions: [] } })),
      "spec.versions: must be",
    ],
    ["a name with a path", { ...withSpec({}), metadata: { name: "../../x" } }, "metadata.name: "],
    [
      "a wrong type",
      withSpec({ a: { type: "text" } }),
      `${schema}.properties[spec].properties[a].type: "text"`,
    ],
    [
      "a schema that is none",
      withSpec({ a: 1 }),
      `${schema}.properties[spec].properties[a]: must be a schema`,
    ],
    ["items that are none", withSpec({ a: { type: "array", items: [] } }), ".properties[a].items: must be"],
    ["a reference", withSpec({ a: { $ref: "#/x" } }), ".properties[a].$ref: "],
    ["a wrong mark", withSpec({ a: { nullable: "yes" } }), ".properties[a].nullable: must be true or false"],
  ])("%s", async (_, object, message) => {
    const { code, output, errors } = await types(["-f", "-"], input(object, definitionOf(Order)));
    expect(code).toBe(1);
    expect(errors).toMatch(/^-: document 1( \(CustomResourceDefinition \S+\))?: /);
    expect(errors).toContain(message);
    expect(output).toContain("export interface OrderV1 {");
  });

  test("a missing file, one without definitions, and a duplicate definition", async () => {
    const missing = await types(["-f", file("missing.yaml")]);
    expect(missing).toEqual({
      code: 1,
      output: "",
      errors: `${file("missing.yaml")}: there is no such file or folder\n`,
    });
    expect(await types(["-f", "-"], "{}")).toMatchObject({
      code: 1,
      errors: "there is no CustomResourceDefinition\n",
    });
    const twice = await types(["-f", "-"], input(withSpec({}), withSpec({})));
    expect(twice.errors).toContain("metadata.name: orders.shop.example.com is also in -: document 1");
  });

  test("wrong usage is exit code 2", async () => {
    expect(await plinthHere("types", "-f", "x.yaml", "--server=https://127.0.0.1:1")).toMatchObject({
      code: 2,
    });
    expect(await plinthHere("types", "--nothing")).toMatchObject({ code: 2 });
  });
});

describe("from a running server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    await served(server.admin, definition());
    writeFileSync(file("config"), server.server.kubeconfig());
  });
  afterAll(() => server.close());

  test("the types are those of the definition's file", async () => {
    const asked = await types(["--kubeconfig", file("config")]);
    expect([asked.code, asked.errors]).toEqual([0, ""]);
    const manifest = {
      apiVersion: "apiextensions.platform.io/v1",
      kind: "CustomResourceDefinition",
      ...definition(),
    };
    expect(asked.output).toBe((await types(["-f", "-"], input(manifest))).output);
    expect(asked.output).toContain("export interface OrderV1 {");
  });
});

test("the types are declared to the client, each version of each kind", async () => {
  const versions = ["v1", "v2"].map((name) => version(name, { storage: name === "v2" }));
  const object = { ...withSpec({}), ...definition({ versions }) };
  const { output } = await types(["-f", "-"], input(object), "--client");
  expect(output.slice(output.indexOf("declare"))).toBe(`declare module "plinth" {
  interface CustomObjects {
    "shop.example.com/v1 Order": OrderV1;
    "shop.example.com/v2 Order": OrderV2;
  }
}
`);
});

test("docs/manifests.md has every flag, as the help does", async () => {
  const [, section = ""] = /\n## Types of custom kinds\n([^]*)$/.exec(read("docs/manifests.md")) ?? [];
  const { stdout } = await plinthHere("types", "--help");
  for (const { name, doc } of typesFlags) {
    expect(section).toContain(`\`--${name}\``);
    expect(section).toContain(doc);
    expect(stdout).toContain(`--${name}`);
  }
});

test("docs/custom-resources.md: its type is that of its definition", async () => {
  const yaml = blockOf("docs/custom-resources.md", "yaml definition");
  const ts = blockOf("docs/custom-resources.md", "ts");
  expect(ts).toContain("export interface OrderV1 {");
  const { output } = await types(["-f", "-"], yaml, "--client");
  expect(output).toContain(ts);
  expect(output).toContain(blockOf("docs/custom-resources.md", "ts client"));
});

test("docs/extensions.md: its program prints a definition with the type of its objects", async () => {
  const program = blockOf("docs/extensions.md", "ts");
  const library = pathToFileURL(path.join(root, "dist/index.js")).href;
  writeFileSync(file("program.mjs"), program.replace('"plinth"', JSON.stringify(library)));
  const { status, stdout, stderr } = spawnSync(process.execPath, [file("program.mjs")], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const { output } = await types(["-f", "-"], stdout);
  expect(output).toContain(
    "    /** Number of items. Default: 1. */\n    count?: number;\n    /** Name of the ordered item. */\n    item: string;",
  );
});

test("docs/extensions.md: a client with the types of the definition gets its objects", () => {
  const program = `${blockOf("docs/extensions.md", "ts").replace("definitionOf }", "createServer, definitionOf }")}
const server = await createServer({ port: false });
const { metadata, ...type } = definitionOf(Order);
await server.client.apply(definitionOf(Order));
const isServed = (one) => one.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
await server.client.waitFor({ ...type, name: metadata.name }, isServed);
await server.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
const one = { apiVersion: "shop.example.com/v1", kind: "Order", metadata: { name: "one", namespace: "shop" } };
await server.client.apply({ ...one, spec: { item: "tea" } });
${blockOf("docs/extensions.md", "ts client")}
console.log(order.spec.item, order.spec.count);
await server.close();
`;
  const library = pathToFileURL(path.join(root, "dist/index.js")).href;
  writeFileSync(file("client.mjs"), program.replace('"plinth"', JSON.stringify(library)));
  const { status, stdout, stderr } = spawnSync(process.execPath, [file("client.mjs")], { encoding: "utf8" });
  expect([status, stderr, stdout.split("\n").at(-2)]).toEqual([0, "", "tea 1"]);
});

const manifests =
  process.env["PLINTH_MANIFESTS"] ?? path.resolve(import.meta.dirname, "../../../shared/manifests");
const large = path.join(manifests, "kube-prometheus/setup");

// Skipped where the manifests aren't there: they are not part of the project.
test.skipIf(!existsSync(large))(
  "the definitions of kube-prometheus compile",
  { timeout: 120_000 },
  async () => {
    const { code, output, errors } = await types(["-f", large]);
    expect([code, errors]).toEqual([0, ""]);
    expect(output).toContain("export interface PrometheusV1 {");
    expect(compile(output)).toBe("");
  },
);
