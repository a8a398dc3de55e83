import { afterEach, expect, test } from "vitest";
import { StatusError } from "../../src/base/status-error.ts";
import { TestServer } from "../support/api.ts";
import { configMap, ok } from "../api/support.ts";

const path = "/api/v1/namespaces/default/configmaps";
let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Refuses the deletion of protected objects; after its first decision the object is changed by `interfere`. */
async function startGuarded(interfere: () => Promise<unknown>) {
  const seen: (string | undefined)[] = [];
  let changes = 0;
  server = await TestServer.start({
    admissionPlugins: [
      {
        name: "guard",
        concerns: (operation, { resource }) => operation === "DELETE" && resource.name === "configmaps",
        async validate({ live }) {
          seen.push(live?.metadata.labels?.["protected"]);
          if (live?.metadata.labels?.["protected"] === "true")
            throw new StatusError("Forbidden", "this object is protected");
          if (changes++ === 0) await interfere();
        },
      },
    ],
  });
  return seen;
}

test("C-4.13-04 admission checks a deletion again when the object has changed since the first check", async () => {
  const seen = await startGuarded(() =>
    ok(server!.admin.patch(`${path}/it`, { metadata: { labels: { protected: "true" } } })),
  );
  await ok(server!.admin.post(path, configMap("it")));
  const refused = await server!.admin.delete(`${path}/it`);
  expect([refused.status, refused.body.message, seen]).toEqual([
    403,
    expect.stringContaining("this object is protected"),
    [undefined, "true"],
  ]);
  expect((await server!.admin.get(`${path}/it`)).status).toBe(200);
});

test("an allowed deletion succeeds when the object changes in the meantime", async () => {
  const seen = await startGuarded(() => ok(server!.admin.patch(`${path}/it`, { data: { a: "b" } })));
  await ok(server!.admin.post(path, configMap("it")));
  expect((await server!.admin.delete(`${path}/it`)).status).toBe(200);
  expect(seen).toEqual([undefined, undefined]);
  expect((await server!.admin.get(`${path}/it`)).status).toBe(404);
});
