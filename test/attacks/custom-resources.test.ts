import { describe, expect, it } from "vitest";
import { definition, definitions, group, version, whenServed } from "../api/custom-resources/support.ts";
import { until } from "../api/support.ts";
import { type Answer } from "../support/api.ts";
import { effort } from "../support/effort.ts";
import { useServer } from "../support/use-server.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const server = useServer();

let made = 0;

/** Creates a definition of a new kind with the version `v1`. */
async function define(
  v1: object,
): Promise<{ readonly answer: Answer; readonly path: () => Promise<string> }> {
  const plural = `attacks${++made}`;
  const object = definition({ scope: "Cluster", versions: [version("v1", v1)] }, plural, `Attack${made}`);
  const answer = await server.admin.post(definitions, object);
  return { answer, path: () => whenServed(server.admin, object) };
}

const withSpec = (spec: object) => ({
  schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
});
const create = (path: string, spec: unknown) =>
  server.admin.post(path, {
    apiVersion: `${group}/v1`,
    kind: `Attack${/\d+$/.exec(path)![0]}`,
    metadata: { name: "a" },
    spec,
  });
const named = <T>(count: number, each: (index: number) => T) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, each(index)]));
const fields = ({ body }: Answer): string[] =>
  body.details.causes.map(({ field }: { readonly field: string }) => field);
const aTable = { accept: "application/json;as=Table;v=v1;g=meta.platform.io" };

/**
 * Runs an action that once blocked the thread for ten seconds or more, or used gigabytes. Other requests wait at most as long as the action.
 * Limits processor time, which other programs don't increase; it includes the client's.
 */
async function cheaply<T>(work: () => Promise<T>, milliseconds = 5000): Promise<T> {
  const spent = cpuStopwatch();
  const result = await work();
  expect(spent()).toBeLessThan(milliseconds);
  expect((await server.admin.get("/readyz")).status).toBe(200);
  expect((await server.admin.get("/api/v1/namespaces/default")).status).toBe(200);
  return result;
}

describe("an extreme schema", () => {
  it("of one megabyte is served", async () => {
    const spec = {
      type: "object",
      properties: named(12_000, () => ({ type: "string", title: "x".repeat(50) })),
    };
    const { answer, path } = await cheaply(() => define(withSpec(spec)));
    expect(answer.status).toBe(201);
    expect((await create(await path(), { f11999: "here" })).body.spec).toEqual({ f11999: "here" });
  });

  it("that is nested 1,000 deep is 400", async () => {
    let spec: object = { type: "string" };
    for (let depth = 0; depth < 500; depth++) spec = { type: "object", properties: { a: spec } };
    const { answer } = await cheaply(() => define(withSpec(spec)));
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining("nested deeper")]);
  });

  it.each([
    ["objects", (inner: object) => ({ type: "object", properties: { a: inner } })],
    ["lists", (inner: object) => ({ type: "array", items: inner })],
    ["maps", (inner: object) => ({ type: "object", additionalProperties: inner })],
  ])("of deep %s is served or rejected in limited time", async (_, wrap) => {
    let spec: object = { type: "string" };
    for (let depth = 0; depth < 400; depth++) spec = wrap(spec);
    const { answer } = await cheaply(() => define(withSpec(spec)));
    expect([201, 400, 422]).toContain(answer.status);
  });

  it("of nested alternatives is rejected in limited time", async () => {
    const nested = (depth: number): object => {
      if (depth === 0) return { type: "string" };
      const inner = nested(depth - 1);
      return { anyOf: [{ ...inner, not: { required: ["x"] } }, inner] };
    };
    const rules = { type: "object", ...nested(12), properties: { a: { type: "string" } } };
    const { answer } = await cheaply(() => define(withSpec(rules)));
    expect([400, 413, 422]).toContain(answer.status);
  });

  it("that refers to itself is 422 with the field of the reference", async () => {
    const { answer } = await define(withSpec({ type: "object", $ref: "#" }));
    expect(answer.status).toBe(422);
    expect(fields(answer)).toContain("spec.validation.openAPIV3Schema.properties[spec].$ref");
  });

  const count = effort(100, 2000);

  it(`of ${count} versions is served, and so are the documents of all versions`, async () => {
    const versions = Array.from({ length: count }, (_, index) =>
      version(`v${index + 1}`, { storage: index === 0, schema: { openAPIV3Schema: { type: "object" } } }),
    );
    const object = definition({ scope: "Cluster", versions }, "manies", "Many");
    await cheaply(async () => {
      expect((await server.admin.post(definitions, object)).status).toBe(201);
      await whenServed(server.admin, object);
      expect((await server.admin.get(`/apis/${group}/v${count}/manies`)).status).toBe(200);
      expect((await server.admin.get("/openapi/v2")).status).toBe(200);
    }, 12_000);
    await server.admin.delete(`${definitions}/manies.${group}`);
  });
});

describe("extreme defaults", () => {
  it("of 400 KB for each list item are rejected, not multiplied", async () => {
    const items = {
      type: "object",
      properties: named(10_000, () => ({ type: "string", default: "0123456789" })),
    };
    const { path } = await define(withSpec({ type: "array", items }));
    const at = await path();
    const list = Array.from({ length: 1000 }, () => ({}));
    expect((await cheaply(() => create(at, list))).status).toBe(413);
    expect((await create(at, list.slice(0, 2))).body.spec[1].f9999).toBe("0123456789");
  });

  it("instead of null for 190,000 items of 1 KB are rejected too", async () => {
    const items = { type: "string", default: "x".repeat(1000) };
    const { path } = await define(withSpec({ type: "array", items }));
    const at = await path();
    expect(
      (
        await cheaply(() =>
          create(
            at,
            Array.from({ length: 190_000 }, () => null),
          ),
        )
      ).status,
    ).toBe(413);
  });

  it("within defaults are set at every depth", async () => {
    let spec: object = { type: "string", default: "deep" };
    for (let depth = 0; depth < 80; depth++) {
      spec = {
        type: "object",
        default: {},
        properties: { a: spec, ...named(20, () => ({ type: "string" })) },
      };
    }
    const { answer, path } = await cheaply(() => define(withSpec(spec)));
    expect(answer.status).toBe(201);
    const { status, text } = await create(await path(), undefined);
    expect([status, text]).toEqual([201, expect.stringContaining('{"a":"deep"}')]);
  });

  it("that violate a pattern which doesn't compile are rejected for the pattern", async () => {
    const { answer } = await define(withSpec({ type: "string", pattern: "(", default: "a" }));
    expect(answer.status).toBe(422);
    expect(fields(answer)).toEqual(["spec.validation.openAPIV3Schema.properties[spec].pattern"]);
  });
});

describe("extreme patterns", () => {
  it("that cause backtracking elsewhere are matched in linear time", async () => {
    const { path } = await define(withSpec({ type: "string", pattern: "^(x+x+)+y$" }));
    const at = await path();
    const answer = await cheaply(() => create(at, "x".repeat(300_000)));
    expect([answer.status, fields(answer)]).toEqual([422, ["spec"]]);
  });

  it("of many instructions reject long strings and check short ones", async () => {
    const { answer, path } = await define(
      withSpec({ type: "string", pattern: `^${"(a|b)?".repeat(4000)}$` }),
    );
    expect(answer.status).toBe(201);
    const at = await path();
    const long = await cheaply(() => create(at, "ab".repeat(500_000)));
    expect([long.status, fields(long)]).toEqual([422, ["spec"]]);
    expect(long.body.message).toContain("running out of cost budget");
    expect((await create(at, "abba")).status).toBe(201);
  });

  it.each([
    ["20,000 large ones", named(20_000, (index) => ({ type: "string", pattern: `(a{900}b${index})?` }))],
    ["a single one of 300 KB", { f0: { type: "string", pattern: "(a|b)?".repeat(50_000) } }],
  ])("are limited in a definition: %s", async (_, properties) => {
    const { answer } = await cheaply(() => define(withSpec({ type: "object", properties })), 10_000);
    expect(answer.status).toBe(422);
    expect(fields(answer)).toEqual([
      expect.stringMatching(/properties\[spec\]\.properties\[f\d+\]\.pattern$/),
    ]);
  });
});

describe("validation errors", () => {
  it("list only a few values of a huge enum", async () => {
    const values = Array.from({ length: 50_000 }, (_, index) => `value-${index}`);
    const { path } = await define(withSpec({ type: "array", items: { type: "string", enum: values } }));
    const at = await path();
    const answer = await cheaply(() =>
      create(
        at,
        Array.from({ length: 1000 }, () => "other"),
      ),
    );
    expect([answer.status, fields(answer)[0]]).toEqual([422, "spec[0]"]);
    expect(answer.bytes.length).toBeLessThan(4_000_000);
    expect(answer.body.details.causes[0].message).toMatch(/"value-0", "value-1".* and \d+ more$/);
    expect((await create(at, ["value-49999"])).status).toBe(201);
  });

  /** Rules whose check takes long for one value, and a value that follows them. */
  const expensive: readonly (readonly [what: string, items: object, value: unknown])[] = [
    [
      "alternatives",
      { type: "string", oneOf: Array.from({ length: 2000 }, (_, at) => ({ maxLength: at })) },
      "x".repeat(1999),
    ],
    [
      "an enumeration",
      { type: "string", enum: Array.from({ length: 50_000 }, (_, at) => `v${at}`) },
      "v49999",
    ],
    [
      "required names",
      {
        type: "object",
        required: Array.from({ length: 10_000 }, () => "a"),
        properties: { a: { type: "string" } },
      },
      { a: "" },
    ],
  ];
  // The budget of one request takes a second and more.
  it.each(expensive.slice(0, effort(2, undefined)))(
    "that multiply with the values of an object stop at a limit: %s",
    async (_, items, value) => {
      const { path } = await define(withSpec({ type: "array", items }));
      const at = await path();
      const count = Math.min(90_000, Math.floor(2_500_000 / JSON.stringify(value).length));
      const answer = await cheaply(() =>
        create(
          at,
          Array.from({ length: count }, () => value),
        ),
      );
      expect(answer.status).toBe(422);
      expect(fields(answer)).toEqual([expect.stringMatching(/^spec\[\d+\]$/)]);
      expect(answer.body.message).toContain("running out of cost budget");
      expect((await create(at, [value])).status).toBe(201);
    },
  );
});

describe("extreme printer columns", () => {
  const free = { type: "object", "x-platform-preserve-unknown-fields": true };
  const columns = (...paths: readonly string[]) => ({
    ...withSpec(free),
    additionalPrinterColumns: paths.map((jsonPath, at) => ({ name: `c${at}`, type: "string", jsonPath })),
  });

  it.each([
    ["wildcards below wildcards", `.spec${"..*".repeat(30)}.nothing`],
    ["filters of everything", ".spec[?(@..*..*..* == 1)]"],
    ["unions", `.spec${"[*,*,*,*]".repeat(10)}.nothing`],
    ["comparisons of the largest values", ".spec..*[?(@ == @)].nothing"],
    ["filters within filters", `.spec${"[?(@".repeat(500)}${")]".repeat(500)}`],
    ["an endless path", `.${"a.".repeat(100_000)}`],
    ["an endless filter", `.spec${"[?(@".repeat(20_000)}${")]".repeat(20_000)}`],
  ])("with %s are empty, in limited time", async (_, jsonPath) => {
    const { answer, path } = await cheaply(() => define(columns(jsonPath)));
    expect(answer.status).toBe(201);
    const at = await path();
    let deep: unknown = 1;
    for (let depth = 0; depth < 60; depth++) deep = { a: deep, b: "x".repeat(1000) };
    const list = Array.from({ length: 150_000 }, () => 1);
    expect((await create(at, { deep, list })).status).toBe(201);
    const table = await cheaply(() => server.admin.get(at, aTable));
    expect([table.status, table.body.rows[0].cells]).toEqual([200, ["a", null]]);
  });

  it("are all printed when there are 10,000", async () => {
    const { path } = await cheaply(() => define(columns(...Array.from({ length: 10_000 }, () => ".spec.a"))));
    const at = await path();
    await create(at, { a: "here" });
    const { body } = await cheaply(() => server.admin.get(at, aTable));
    expect(new Set(body.rows[0].cells)).toEqual(new Set(["a", "here"]));
  });

  it("that each search the whole object stop at a budget for the row when there are 10,000", async () => {
    const { path } = await define(columns(...Array.from({ length: 10_000 }, () => ".spec..*..nothing")));
    const at = await path();
    await create(at, { list: Array.from({ length: 100_000 }, () => 1) });
    const { body } = await cheaply(() => server.admin.get(at, aTable));
    expect(new Set(body.rows[0].cells)).toEqual(new Set(["a", null]));
  });
});

describe("names of definitions", () => {
  it.each([
    ["the core group", ""],
    ["a built-in group", "apps"],
    ["a protected group", "authorization.platform.io"],
    ["a path", "../api"],
  ])("in %s are rejected", async (_, own) => {
    const object = definition({ group: own }, "shadows", "Shadow");
    const answer = await server.admin.post(definitions, { ...object, metadata: { name: `shadows.${own}` } });
    expect([400, 422]).toContain(answer.status);
    expect((await server.admin.get("/apis/apps/v1/deployments")).status).toBe(200);
  });

  // Deleting such a definition once deleted these objects: all cluster roles of a server.
  it.each([
    ["scheduling.platform.io", "priorityclasses", "PriorityClass", "PriorityClassList"],
    ["networking.platform.io", "ingresses", "Ingress", "IngressList"],
    ["rbac.authorization.platform.io", "clusterroles", "ClusterRole", "ClusterRoleList"],
    [
      "apiextensions.platform.io",
      "customresourcedefinitions",
      "CustomResourceDefinition",
      "CustomResourceDefinitionList",
    ],
  ])("of built-in kinds in %s don't shadow the built-in kinds", async (own, plural, kind, listKind) => {
    const { spec } = definition({ group: own, scope: "Cluster" }, plural, kind);
    const annotations = { "api-approved.platform.io": "unapproved, an attack" };
    const metadata = { name: `${plural}.${own}`, annotations };
    const names = async () => {
      const { items } = (await server.admin.get(`/apis/${own}/v1/${plural}`)).body;
      return (items as { metadata: { name: string } }[]).map((item) => item.metadata.name);
    };
    const before = (await names()).filter((name) => name !== metadata.name);
    expect((await server.admin.post(definitions, { metadata, spec })).status).toBe(201);
    const at = `${definitions}/${metadata.name}`;
    // Its controller has judged the names.
    await until(
      () => server.admin.get(at),
      ({ body }) => body.status?.conditions?.length > 0,
    );
    const { status, body } = await server.admin.get(`/apis/${own}/v1/${plural}`);
    expect([status, body.kind]).toEqual([200, listKind]);
    const resources = await server.admin.get(`/apis/${own}/v1`);
    const found = resources.body.resources.filter(({ name }: { name: string }) => name === plural);
    expect(found).toHaveLength(1);
    expect((await server.admin.delete(at)).status).toBe(200);
    // Deleting a definition deletes only its own objects, before it is gone itself.
    await until(
      () => server.admin.get(at),
      ({ status: code }) => code === 404,
    );
    expect((await names()).filter((name) => name !== metadata.name)).toEqual(before);
  });

  it.each(["namespaces", "status", "watch", "scale"])(
    "that are path segments don't change the paths: %s",
    async (plural) => {
      const object = definition(
        { scope: "Cluster", versions: [version("v1", withSpec({ type: "string" }))] },
        plural,
        `K${plural}`,
      );
      expect((await server.admin.post(definitions, object)).status).toBe(201);
      expect((await server.admin.get("/api/v1/namespaces/default")).body.kind).toBe("Namespace");
      expect((await server.admin.get("/readyz")).status).toBe(200);
      await server.admin.delete(`${definitions}/${plural}.${group}`);
    },
  );
});
