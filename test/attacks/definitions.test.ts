import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { definition, definitions, order, served, version } from "../api/custom-resources/support.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

/** What one request may cost the server and this test together, in milliseconds of processor time. */
const requestMs = 2500;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ enabledControllers: [] });
});
afterAll(() => server.close());

const text = { type: "string" };
const schemaOf = (spec: object) => ({
  schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
});
const defined = (spec: object, plural: string, more: object = {}) =>
  definition({ versions: [version("v1", { ...schemaOf(spec), ...more })] }, plural, `Kind${plural}`);
const objectOf = (plural: string, spec: object) => ({ ...order("x", spec), kind: `Kind${plural}` });

/** Asks, and holds what that cost and whether others are still answered. */
async function bounded(ask: () => Promise<Answer>): Promise<Answer> {
  const used = cpuStopwatch();
  const answer = await ask();
  expect(used()).toBeLessThan(requestMs);
  expect((await server.admin.get("/readyz")).status).toBe(200);
  return answer;
}

const placesOf = ({ body }: Answer): string[] =>
  (body.details?.causes ?? []).map(({ field }: { field: string }) => field);

/** A schema of so many levels. */
function nested(levels: number, wrap: (inner: object) => object): object {
  let schema: object = text;
  for (let level = 0; level < levels; level++) schema = wrap(schema);
  return schema;
}

describe("a hostile definition", () => {
  it("of a schema of 1 MB is served, and so are its objects", async () => {
    const properties: Record<string, object> = {};
    for (let index = 0; index < 7000; index++) {
      properties[`member${index}`] = { ...text, description: "d".repeat(100) };
    }
    const large = defined({ type: "object", properties }, "larges");
    expect(JSON.stringify(large).length).toBeGreaterThan(900_000);
    const path = await served(server.admin, large);
    const answer = await bounded(() => server.admin.post(path, objectOf("larges", { member5999: "a" })));
    expect([answer.status, answer.body.spec]).toEqual([201, { member5999: "a" }]);
  });

  it("of more than a request may have is refused by its size", async () => {
    const properties = { big: { ...text, description: "d".repeat(4_000_000) } };
    const answer = await bounded(() =>
      server.admin.post(definitions, defined({ type: "object", properties }, "hugest")),
    );
    expect([413, 422]).toContain(answer.status);
  });

  it.each([
    ["objects", (inner: object) => ({ type: "object", properties: { a: inner } })],
    ["lists", (inner: object) => ({ type: "array", items: inner })],
    ["maps", (inner: object) => ({ type: "object", additionalProperties: inner })],
  ])("of a deep schema of %s is served or refused, and its objects too", async (what, wrap) => {
    const plural = `deep${what}`;
    const answer = await bounded(() => server.admin.post(definitions, defined(nested(400, wrap), plural)));
    expect([201, 400, 422]).toContain(answer.status);
  });

  it("of combined schemas within each other costs each of them once", async () => {
    const spec = nested(12, (inner) => ({ anyOf: [{ ...inner, not: { required: ["x"] } }, inner] }));
    const rules = { type: "object", ...spec, properties: { a: text } };
    const answer = await bounded(() => server.admin.post(definitions, defined(rules, "combined")));
    expect([400, 413, 422]).toContain(answer.status);
  });

  it("by references that name themselves is refused at each of them", async () => {
    const spec = { type: "object", properties: { a: { $ref: "#/definitions/a" } } };
    const answer = await bounded(() => server.admin.post(definitions, defined(spec, "cyclic")));
    expect(answer.status).toBe(422);
    expect(placesOf(answer).join(" ")).toContain("properties[a].$ref");
  });

  it("by defaults that multiply is refused, or its objects are no larger than an object may be", async () => {
    // Each level holds eight times the one below: 8 to the power of 12 texts.
    let value: unknown = "x".repeat(10);
    let spec: object = { ...text, default: value };
    for (let level = 0; level < 12; level++) {
      const members = Array.from({ length: 8 }, (_, index) => [`m${index}`, spec] as const);
      if (JSON.stringify(members).length > 1_000_000) break;
      value = {};
      spec = { type: "object", default: value, properties: Object.fromEntries(members) };
    }
    const made = await bounded(() => server.admin.post(definitions, defined(spec, "multiplying")));
    expect([201, 413, 422]).toContain(made.status);
    if (made.status !== 201) return;
    const path = `/apis/shop.example.com/v1/namespaces/default/multiplying`;
    await expect.poll(async () => (await server.admin.get(path)).status).toBe(200);
    const { status } = await bounded(() => server.admin.post(path, objectOf("multiplying", {})));
    expect([201, 413, 422]).toContain(status);
  });

  it("by defaults of items, of which an object has many, can't make it larger than an object may be", async () => {
    const item = {
      type: "object",
      properties: { a: { ...text, default: "x".repeat(800_000) } },
    };
    const path = await served(
      server.admin,
      defined({ type: "object", properties: { list: { type: "array", items: item } } }, "swelling"),
    );
    const list = Array.from({ length: 50_000 }, () => ({}));
    const { status, body } = await bounded(() => server.admin.post(path, objectOf("swelling", { list })));
    expect([status, body.reason]).toEqual([413, "RequestEntityTooLarge"]);
  });

  it("by patterns that backtrack elsewhere takes time in proportion to the text", async () => {
    const spec = { type: "object", properties: { a: { ...text, pattern: "^(a+)+$" } } };
    const path = await served(server.admin, defined(spec, "backtracking"));
    const value = `${"a".repeat(50_000)}b`;
    const answer = await bounded(() => server.admin.post(path, objectOf("backtracking", { a: value })));
    expect([answer.status, placesOf(answer)]).toEqual([422, ["spec.a"]]);
  });

  it("by 10,000 columns makes no table that others wait for", async () => {
    const additionalPrinterColumns = Array.from({ length: 10_000 }, (_, index) => ({
      name: `c${index}`,
      type: "string",
      jsonPath: `.spec.m${index}`,
    }));
    const object = defined({ type: "object", "x-platform-preserve-unknown-fields": true }, "columned", {
      additionalPrinterColumns,
    });
    const made = await bounded(() => server.admin.post(definitions, object));
    expect([201, 413, 422]).toContain(made.status);
    if (made.status !== 201) return;
    const path = "/apis/shop.example.com/v1/namespaces/default/columned";
    await expect.poll(async () => (await server.admin.get(path)).status).toBe(200);
    await server.admin.post(path, objectOf("columned", { m1: "a" }));
    const accept = "application/json;as=Table;v=v1;g=meta.platform.io";
    const table = await bounded(() => server.admin.get(path, { accept }));
    expect([table.status, table.body.rows[0].cells.length]).toEqual([200, 10_001]);
  });

  it("by paths of columns that match everything shows no more than a cell", async () => {
    const additionalPrinterColumns = [{ name: "All", type: "string", jsonPath: ".spec.list[*].list[*].a" }];
    const path = await served(
      server.admin,
      defined({ type: "object", "x-platform-preserve-unknown-fields": true }, "starry", {
        additionalPrinterColumns,
      }),
    );
    const list = Array.from({ length: 300 }, () => ({
      list: Array.from({ length: 300 }, () => ({ a: "x" })),
    }));
    await server.admin.post(path, objectOf("starry", { list }));
    const accept = "application/json;as=Table;v=v1;g=meta.platform.io";
    const table = await bounded(() => server.admin.get(path, { accept }));
    expect(table.body.rows).toHaveLength(1);
  });

  it.each([
    ["the core group", { group: "" }],
    ["a built-in group", { group: "apps" }],
    ["a protected group", { group: "authorization.platform.io" }],
    ["a path", { group: "../api" }],
  ])("under the name of %s is refused", async (_what, spec) => {
    const object = defined({ type: "object" }, "shadows");
    const name = `shadows.${spec.group}`;
    const answer = await bounded(() =>
      server.admin.post(definitions, { ...object, metadata: { name }, spec: { ...object.spec, ...spec } }),
    );
    expect([400, 422]).toContain(answer.status);
    expect((await server.admin.get("/apis/apps/v1/deployments")).status).toBe(200);
  });

  it("that changes all the time holds up neither its objects nor others", async () => {
    const path = await served(server.admin, defined({ type: "object", properties: { a: text } }, "restless"));
    const at = `${definitions}/restless.shop.example.com`;
    let ended = false;
    let changes = 0;
    const change = async (): Promise<void> => {
      while (!ended) {
        const additionalPrinterColumns = [{ name: `C${changes++}`, type: "string", jsonPath: ".spec.a" }];
        const { status } = await server.admin.patch(
          at,
          [{ op: "add", path: "/spec/versions/0/additionalPrinterColumns", value: additionalPrinterColumns }],
          "json",
        );
        expect([200, 409]).toContain(status);
      }
    };
    const changing = [change(), change(), change()];
    const used = cpuStopwatch();
    const statuses = new Set<number>();
    for (let index = 0; index < 100; index++) {
      statuses.add(
        (
          await server.admin.post(path, {
            ...objectOf("restless", { a: "b" }),
            metadata: { name: `o${index}` },
          })
        ).status,
      );
      statuses.add((await server.admin.get("/api/v1/namespaces/default")).status);
    }
    ended = true;
    await Promise.all(changing);
    expect([...statuses].toSorted()).toEqual([200, 201]);
    expect(changes).toBeGreaterThan(20);
    expect(used() / (changes + 200)).toBeLessThan(100);
  });
});
