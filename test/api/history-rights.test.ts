import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { ManualClock, RBAC, configMap, namespace, ok, refTo, role, roleBinding, user } from "./support.ts";
import type { PolicyRule } from "./support.ts";
import { keepsAll, maps, namesIn, secrets, threeVersions } from "./history-support.ts";

const users = ["reader", "named", "lister", "nobody", "keeper", "secretive", "admin-role", "second"];
const clock = new ManualClock();
const server = useServer({ ...keepsAll, clock, users: users.map((name) => ({ name, groups: [] })) });
const inDefault = `${RBAC}/namespaces/default`;

async function grant(name: string, ...rules: readonly PolicyRule[]): Promise<void> {
  await ok(server.admin.post(`${inDefault}/roles`, role(name, rules)));
  await bind(name, refTo("Role", name));
}

async function bind(name: string, to: ReturnType<typeof refTo>): Promise<void> {
  await ok(server.admin.post(`${inDefault}/rolebindings`, roleBinding(name, to, [user(name)])));
}

const rule = (verbs: readonly string[], resources: readonly string[], resourceNames?: readonly string[]) => ({
  apiGroups: [""],
  verbs,
  resources,
  ...(resourceNames && { resourceNames }),
});

let versions: readonly string[] = [];
let secretVersion = "";

beforeAll(async () => {
  versions = await threeVersions(server.admin, "shared");
  await ok(server.admin.post(maps, configMap("gone")));
  await ok(server.admin.post(maps, configMap("hidden")));
  for (const name of ["gone", "hidden"]) await ok(server.admin.delete(`${maps}/${name}`));
  const secret = (value: string) => ({ metadata: { name: "password" }, stringData: { value } });
  secretVersion = (await ok(server.admin.post(secrets, secret("first")))).body.metadata.resourceVersion;
  await ok(server.admin.patch(`${secrets}/password`, { stringData: { value: "second" } }));
  await ok(server.admin.post(secrets, { metadata: { name: "trashed" } }));
  await ok(server.admin.delete(`${secrets}/trashed`));
  await grant("reader", rule(["get", "list", "watch"], ["configmaps"]));
  await grant("named", rule(["get"], ["configmaps"], ["shared", "gone"]));
  await grant("lister", rule(["list"], ["configmaps"]));
  await grant("keeper", rule(["get", "list", "watch"], ["secrets", "secrets/history"]));
  await grant("secretive", rule(["get", "list", "watch"], ["secrets"]));
  await bind("admin-role", refTo("ClusterRole", "admin"));
});

const statusFor = async (name: string, path: string) => (await server.as(name).get(path)).status;

describe("the history of an object is readable by who may get it now", () => {
  test.each([
    ["reader", 200],
    ["named", 200],
    ["lister", 403],
    ["nobody", 403],
  ])("for %s its versions and its state in the past are answered with %d", async (name, status) => {
    expect(await statusFor(name, `${maps}/shared/history?contents=true`)).toBe(status);
    expect(await statusFor(name, `${maps}/shared?at=${versions[0]}`)).toBe(status);
  });

  test.each([
    ["reader", 200],
    ["named", 403],
    ["lister", 200],
    ["nobody", 403],
  ])("for %s a past list and the deleted objects are answered with %d", async (name, status) => {
    expect(await statusFor(name, `${maps}?at=${versions[0]}`)).toBe(status);
    expect(await statusFor(name, `${maps}?deleted=true`)).toBe(status);
  });

  test("the error for a denied history names the right to get the object", async () => {
    const { body } = await server.as("nobody").refusal("GET", `${maps}/shared/history`);
    expect(body.message).toContain('User "nobody" cannot get resource "configmaps" in API group ""');
  });

  test("a right that the user has now counts, not one of the past", async () => {
    expect(await statusFor("second", `${maps}/shared?at=${versions[0]}`)).toBe(403);
    await grant("second", rule(["get"], ["configmaps"], ["shared"]));
    expect(await statusFor("second", `${maps}/shared?at=${versions[0]}`)).toBe(200);
    expect(await statusFor("second", `${maps}/shared/history`)).toBe(200);
    await ok(server.admin.delete(`${inDefault}/rolebindings/second`));
    expect(await statusFor("second", `${maps}/shared/history`)).toBe(403);
  });

  test("a view of the past or of deleted objects has those that the user may get now", async () => {
    const named = server.as("named");
    expect(namesIn(await ok(named.get(`${maps}?at=${versions[2]}&view=mine`)))).toEqual(["shared"]);
    expect(namesIn(await ok(named.get(`${maps}?deleted=true&view=mine`)))).toEqual(["gone"]);
    expect(namesIn(await ok(server.admin.get(`${maps}?deleted=true`)))).toEqual(["gone", "hidden"]);
  });
});

describe("the history of Secrets", () => {
  const requests = [
    `${secrets}/password/history?contents=true`,
    `${secrets}/password?at=VERSION`,
    `${secrets}?at=VERSION`,
    `${secrets}?deleted=true`,
  ];

  test.each(requests)(
    "%s needs a right of its own, which no default role but cluster-admin has",
    async (request) => {
      const path = request.replace("VERSION", secretVersion);
      for (const name of ["secretive", "admin-role"]) {
        const { status, body } = await server.as(name).refusal("GET", path);
        expect([name, status, body.message]).toEqual([
          name,
          403,
          expect.stringMatching(/cannot (get|list) resource "secrets\/history" in API group ""/),
        ]);
      }
      expect(await statusFor("keeper", path)).toBe(200);
      expect((await server.admin.get(path)).status).toBe(200);
    },
  );

  test("a watch from the past needs the right too", async () => {
    const path = `${secrets}?watch=true&at=${secretVersion}`;
    expect((await server.as("secretive").refusal("GET", path)).status).toBe(403);
    const watch = await server.as("keeper").watch(`${secrets}?at=${secretVersion}`);
    expect((await watch.next()).type).toBe("MODIFIED");
    watch.close();
  });

  test("exact lists, chunks and watches without the parameter at don't reach it", async () => {
    const chunk = await ok(server.as("keeper").get(`${secrets}?limit=1&at=${secretVersion}`));
    await ok(server.admin.post(secrets, { metadata: { name: "more" } }));
    const next = await ok(server.as("secretive").get(`${secrets}?limit=1`));
    for (const value of ["third", "fourth"]) {
      await ok(server.admin.patch(`${secrets}/password`, { stringData: { value } }));
      await clock.advance(3 * 60 * 60_000);
    }
    const tokens = [chunk, next].map(({ body }) => String(body.metadata.continue ?? ""));
    expect(tokens[1]).not.toBe("");
    const old = [
      `resourceVersion=${secretVersion}&resourceVersionMatch=Exact`,
      `resourceVersion=${secretVersion}&watch=true`,
      `continue=${tokens[1]}&limit=1`,
    ];
    for (const query of old)
      expect([query, (await server.as("secretive").refusal("GET", `${secrets}?${query}`)).status]).toEqual([
        query,
        410,
      ]);
    expect(await statusFor("keeper", `${secrets}?at=${secretVersion}`)).toBe(200);
    // The client of the library has the same rights.
    const collection = { apiVersion: "v1", kind: "Secret", namespace: "default" } as const;
    const watched = (name: string) =>
      new Promise<string>((resolve) =>
        server.server.as(name).watch(
          { ...collection, resourceVersion: secretVersion },
          ({ object }) => resolve(object.metadata.name!),
          (error) => resolve(error.message),
        ),
      );
    expect(await watched("secretive")).toContain('cannot watch resource "secrets/history"');
    expect(await watched("keeper")).toBe("password");
  });
});

test("a namespace has its history below its name", async () => {
  await ok(server.admin.post("/api/v1/namespaces", namespace("short")));
  const { body } = await ok(server.admin.get("/api/v1/namespaces/short/history"));
  expect(body.items[0]).toMatchObject({ verb: "create", metadata: { name: "short" } });
});
