import { expect, test } from "vitest";
import { configMap, ok, RBAC, refTo, role, roleBinding, user } from "../api/support.ts";
import { keepsAll, maps, secrets, threeVersions } from "../api/history-support.ts";
import { useServer } from "../support/use-server.ts";

const server = useServer({ ...keepsAll, users: [] });
const reference = (name: string) =>
  ({ apiVersion: "v1", kind: "ConfigMap", name, namespace: "default" }) as const;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test("client.history has the versions of an object, newest first, with their objects on request", async () => {
  const versions = await threeVersions(server.admin, "lib");
  await ok(server.admin.delete(`${maps}/lib`));
  const listed = await all(server.server.client.history(reference("lib"), { contents: true }));
  expect(listed.slice(1).map(({ resourceVersion }) => resourceVersion)).toEqual(versions.toReversed());
  expect(listed).toMatchObject([
    { verb: "delete", deleted: true, object: { data: { step: "3" } }, previousVersion: versions[2] },
    { verb: "apply", deleted: false, object: { data: { step: "3" } }, manager: "applier", user: "admin" },
    { verb: "patch", object: { data: { step: "2" } } },
    { verb: "create", object: { data: { step: "1" } }, previousVersion: undefined },
  ]);
  expect(Date.parse(listed[0]!.time!)).toBeGreaterThan(Date.now() - 3_600_000);
});

test("client.history yields more versions than a page has, without objects unless they are requested", async () => {
  await ok(server.admin.post(maps, configMap("many")));
  for (let step = 0; step < 120; step++)
    await server.server.client.patch(reference("many"), { data: { step: String(step) } });
  const listed = await all(server.server.client.history(reference("many")));
  expect([listed.length, listed[0]!.object, listed[0]!.verb]).toEqual([121, undefined, "patch"]);
  expect(new Set(listed.map(({ resourceVersion }) => resourceVersion)).size).toBe(121);
  expect(new Set(listed.map(({ auditId }) => auditId)).size).toBe(121);
});

test("client.history of a user needs the right to get the object, and for a Secret that to its history", async () => {
  await ok(server.admin.post(maps, configMap("guarded")));
  await ok(server.admin.post(secrets, { metadata: { name: "guarded" } }));
  const eve = server.server.as("eve");
  const secret = { ...reference("guarded"), kind: "Secret" } as const;
  const refused = (subject: typeof secret | ReturnType<typeof reference>, message: string) =>
    expect(all(eve.history(subject))).rejects.toThrow(message);
  await refused(reference("guarded"), 'User "eve" cannot get resource "configmaps"');
  const inDefault = `${RBAC}/namespaces/default`;
  const rules = [{ apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get"] }];
  await ok(server.admin.post(`${inDefault}/roles`, role("reads", rules)));
  const binding = roleBinding("reads", refTo("Role", "reads"), [user("eve")]);
  await ok(server.admin.post(`${inDefault}/rolebindings`, binding));
  expect((await all(eve.history(reference("guarded")))).length).toBe(1);
  await refused(secret, 'User "eve" cannot get resource "secrets/history"');
});

test("client.history of what isn't kept or never existed is NotFound", async () => {
  const { client } = server.server;
  const lease = {
    apiVersion: "coordination.platform.io/v1",
    kind: "Lease",
    name: "x",
    namespace: "default",
  } as const;
  await expect(all(client.history(lease))).rejects.toThrow("--history-retention");
  await expect(all(client.history(reference("never")))).rejects.toThrow('configmaps "never" not found');
});
