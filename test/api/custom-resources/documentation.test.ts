import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { ok } from "../support.ts";
import { TestServer } from "../../support/api.ts";
import { definitions, whenServed, type definition } from "./support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ enabledControllers: [] });
});
afterAll(() => server.close());

test("docs/custom-resources.md: its definition is served, and its object is one of it", async () => {
  const page = readFileSync(new URL("../../../docs/custom-resources.md", import.meta.url), "utf8");
  const [defined, object] = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(
    ([, text]) => parse(text!) as ReturnType<typeof definition>,
  );
  await ok(server.admin.post(definitions, defined));
  const orders = await whenServed(server.admin, defined!);
  const { status, body, warnings } = await server.admin.post(orders, object);
  expect([status, body.spec, warnings]).toEqual([201, { color: "red", size: 3 }, []]);
  const without = await server.admin.post(orders, { ...object, spec: {} });
  expect([without.status, without.body.details.causes[0].field]).toEqual([422, "spec.size"]);
});
