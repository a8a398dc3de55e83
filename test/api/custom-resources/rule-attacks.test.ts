import { expect, test } from "vitest";
import { ok } from "../support.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, definitions, order, served, version } from "./support.ts";

const server = useServer({ enabledControllers: [] });

const rules = (...expressions: readonly string[]) => ({
  "x-platform-validations": expressions.map((rule) => ({ rule })),
});
const schemaOf = (spec: object) =>
  version("v1", { schema: { openAPIV3Schema: { type: "object", properties: { spec } } } });

/** Number of event loop turns of other work while the server works in this process. */
async function turnsDuring<T>(work: Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const result = await work;
  clearInterval(timer);
  return { result, turns };
}

test("a definition with 5,000 rules is validated without blocking the event loop", async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 5000 }, (_, index) => [
      `f${index}`,
      { type: "string", maxLength: 10, ...rules(`self.startsWith('a${index}') || self == oldSelf`) },
    ]),
  );
  const { result, turns } = await turnsDuring(
    server.admin.post(definitions, definition({ versions: [schemaOf({ type: "object", properties })] })),
  );
  expect(result.status).toBe(201);
  expect(turns).toBeGreaterThan(20);
  await ok(server.admin.delete(`${definitions}/orders.shop.example.com`));
});

test.each([
  ["an expression that nests deep", `${"(".repeat(5000)}true${")".repeat(5000)}`],
  ["an expression of a long chain", Array.from({ length: 15_000 }, () => "true").join(" && ")],
  ["an expression that is too long", `'${"x".repeat(100_001)}' == ''`],
  ["hostile text", "\u0000\ud800"],
  ["a name that isn't the schema's", "self.__proto__ == self.constructor"],
])("%s is accepted or rejected with its field", async (_, rule) => {
  const spec = { type: "object", properties: { a: { type: "string" } }, ...rules(rule) };
  const { status, body } = await server.admin.post(definitions, definition({ versions: [schemaOf(spec)] }));
  if (status === 201) await ok(server.admin.delete(`${definitions}/orders.shop.example.com`));
  else {
    const fields = body.details.causes.map(({ field }: { field: string }) => field);
    expect([status, fields[0]]).toEqual([422, expect.stringContaining("x-platform-validations[0].rule")]);
  }
});

test("the largest and a negative limit don't break the cost estimate", async () => {
  const list = (maxItems: string) =>
    JSON.stringify(
      definition({
        versions: [
          schemaOf({
            type: "array",
            maxItems: "LIMIT",
            items: { type: "integer" },
            ...rules("self.all(a, a > 0)"),
          }),
        ],
      }),
    ).replace('"LIMIT"', maxItems);
  for (const limit of ["9007199254740991", "-5"]) {
    const { status } = await server.admin.ask("POST", definitions, {
      raw: list(limit),
      contentType: "application/json",
    });
    expect([201, 422]).toContain(status);
    if (status === 201) await ok(server.admin.delete(`${definitions}/orders.shop.example.com`));
  }
});

test("an object of 190,000 values with a rule each is validated within the cost budget and the memory limit", async () => {
  const items = { type: "integer", ...rules("self >= 0") };
  const spec = { type: "array", maxItems: 200_000, items };
  const orders = await served(server.admin, definition({ versions: [schemaOf(spec)] }));
  const before = process.memoryUsage().heapUsed;
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().heapUsed)), 5);
  const { result, turns } = await turnsDuring(
    server.admin.post(
      orders,
      order(
        "many",
        Array.from({ length: 190_000 }, () => 1),
      ),
    ),
  );
  clearInterval(timer);
  expect(result.status).toBe(201);
  expect(turns).toBeGreaterThan(5);
  expect(most - before).toBeLessThan(200 * 1024 * 1024);
  const wrong = await server.admin.post(
    orders,
    order(
      "wrong",
      Array.from({ length: 190_000 }, () => -1),
    ),
  );
  expect([wrong.status, wrong.body.details.causes.length]).toEqual([422, 257]);
});
