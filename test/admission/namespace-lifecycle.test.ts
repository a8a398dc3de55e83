import { expect, test } from "vitest";
import { namespace, ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";

const server = useServer({ enabledControllers: [] });

const maps = (where: string) => `/api/v1/namespaces/${where}/configmaps`;
const map = { metadata: { name: "it" } };

test("C-4.13-67 C-4.13-69 NamespaceLifecycle is on by default, and a request in a missing namespace returns 404", async () => {
  const { status, body } = await server.admin.post(maps("missing"), map);
  expect([status, body.reason, body.details]).toEqual([
    404,
    "NotFound",
    expect.objectContaining({ kind: "namespaces", name: "missing" }),
  ]);
  const off = await TestServer.start({
    enabledControllers: [],
    disabledAdmissionPlugins: ["NamespaceLifecycle"],
  });
  try {
    await ok(off.admin.post(maps("missing"), map));
  } finally {
    await off.close();
  }
});

test("C-4.13-68 a create in a terminating namespace returns 403, and updates and deletes are allowed", async () => {
  await ok(server.admin.post("/api/v1/namespaces", namespace("ending")));
  await ok(server.admin.post(maps("ending"), map));
  await ok(server.admin.delete("/api/v1/namespaces/ending"));
  const { status, body } = await server.admin.post(maps("ending"), { metadata: { name: "late" } });
  expect([status, body.reason]).toEqual([403, "Forbidden"]);
  expect(body.details.causes).toEqual([expect.objectContaining({ reason: "NamespaceTerminating" })]);
  await ok(server.admin.patch(`${maps("ending")}/it`, { data: { a: "b" } }));
  await ok(server.admin.delete(`${maps("ending")}/it`));
});

test.each([
  ["C-4.13-70", "default"],
  ["C-4.13-71", "platform-system"],
  ["C-4.13-72", "platform-public"],
])("%s the deletion of the namespace %s returns 403", async (_, name) => {
  const path = `/api/v1/namespaces/${name}`;
  const { status, body } = await server.admin.delete(path);
  expect([status, body.reason]).toEqual([403, "Forbidden"]);
  expect((await server.admin.get(path)).body.metadata.deletionTimestamp).toBeUndefined();
});
