import { describe, expect, test } from "vitest";
import { storeOf } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { Subscribed, subscriptionPath } from "./subscriptions-support.ts";
import { clusterRoleBinding, configMap, namesIn, ok, RBAC, refTo, until, user } from "./support.ts";
import { at, maps, roleFor, secrets, tenancy, workspaces, workspacesOf } from "./workspaces-support.ts";

const server = useServer({
  users: [{ name: "omar" }],
  runtimeConfig: `${tenancy}/v1alpha1=true`,
});
const admin = () => server.admin;
const { create, admit } = workspacesOf(admin);

describe("a branch", () => {
  test("begins with the state of its base at a resource version; afterwards each is independent", async () => {
    await create("base");
    await ok(admin().post(at("base", maps), configMap("a", { v: "1" })));
    const then = (await ok(admin().post(at("base", maps), configMap("b", { v: "1" })))).body.metadata
      .resourceVersion;
    await ok(admin().patch(at("base", `${maps}/a`), { data: { v: "2" } }));
    await create("branch", { from: { workspace: "base", resourceVersion: then } });
    const data = async (where: string) =>
      Object.fromEntries(
        (await ok(admin().get(at(where, maps)))).body.items.map(
          (one: { metadata: { name: string }; data: { v: string } }) => [one.metadata.name, one.data.v],
        ),
      );
    expect(await data("branch")).toEqual({ a: "1", b: "1" });
    await ok(admin().patch(at("branch", `${maps}/a`), { data: { v: "3" } }));
    await ok(admin().delete(at("branch", `${maps}/b`)));
    await ok(admin().post(at("branch", maps), configMap("c", { v: "4" })));
    expect(await data("branch")).toEqual({ a: "3", c: "4" });
    // The mark of what the branch has hidden is no object.
    expect((await admin().get(at("branch", `${maps}/b%02`))).status).toBe(404);
    expect(await data("base")).toEqual({ a: "2", b: "1" });
    await create("twig", { from: { workspace: "branch" } });
    expect(await data("twig")).toEqual({ a: "3", c: "4" });
    await ok(admin().delete(`${workspaces}/branch`));
    await until(
      () => admin().get(`${workspaces}/branch`),
      ({ status }) => status === 404,
    );
    expect(await data("twig")).toEqual({ a: "3", c: "4" });
  });

  test("a source that can't be used is refused with the field", async () => {
    const refusal = async (from: object) => {
      const { status, body } = await admin().post(workspaces, {
        metadata: { name: "wrong" },
        spec: { from },
      });
      return [status, body.details.causes.map((one: { field: string }) => one.field)];
    };
    expect(await refusal({ workspace: "missing" })).toEqual([422, ["spec.from.workspace"]]);
    expect(await refusal({ workspace: "wrong" })).toEqual([422, ["spec.from.workspace"]]);
    expect(await refusal({ resourceVersion: "99999999" })).toEqual([422, ["spec.from.resourceVersion"]]);
    expect(await refusal({ resourceVersion: "x" })).toEqual([422, ["spec.from.resourceVersion"]]);
    expect(await refusal({ workspace: "twig", resourceVersion: "2" })).toEqual([
      422,
      ["spec.from.resourceVersion"],
    ]);
    expect(await refusal({ time: "2020-01-01T00:00:00Z" })).toEqual([422, ["spec.from.time"]]);
    const again = await admin().post(workspaces, { metadata: { name: "base" } });
    expect([again.status, again.body.reason]).toEqual([409, "AlreadyExists"]);
  });

  test("shows what came from the base only to those who may get it there now", async () => {
    await ok(admin().post(secrets, { metadata: { name: "root-key" }, stringData: { key: "secret" } }));
    await ok(admin().post(maps, configMap("root-map", { v: "1" })));
    await create("preview", { from: {}, admins: [{ kind: "User", name: "omar" }] });
    await admit("enter-preview", ["omar"], ["preview"]);
    const omar = server.as("omar");
    const hidden = at("preview", `${secrets}/root-key`);
    const seen = async () => namesIn(await ok(omar.get(at("preview", secrets))));
    expect(await seen()).toEqual([]);
    expect((await omar.get(hidden)).status).toBe(404);
    // Neither by a write that answers with the object, nor by what another one changed.
    expect((await omar.patch(hidden, { metadata: { labels: { x: "y" } } })).status).toBe(404);
    expect((await omar.delete(hidden)).status).toBe(404);
    expect((await omar.post(at("preview", secrets), { metadata: { name: "root-key" } })).status).toBe(409);
    await ok(admin().patch(hidden, { metadata: { labels: { x: "y" } } }));
    expect((await omar.get(hidden)).status).toBe(404);
    expect(await seen()).toEqual([]);
    const asAdmin = { headers: { "Impersonate-User": "boss", "Impersonate-Group": "system:masters" } };
    expect((await omar.get(hidden, asAdmin)).status).toBe(404);
    // A token that its administrator makes for an account of the base.
    const account = at("preview", "/api/v1/namespaces/default/serviceaccounts/helper");
    await ok(
      omar.post(at("preview", "/api/v1/namespaces/default/serviceaccounts"), {
        metadata: { name: "helper" },
      }),
    );
    await ok(
      omar.post(
        at("preview", `${RBAC}/clusterrolebindings`),
        clusterRoleBinding("helper", refTo("ClusterRole", "cluster-admin"), [
          { kind: "ServiceAccount", namespace: "default", name: "helper" },
        ]),
      ),
    );
    const token = (
      await ok(
        omar.post(`${account}/token`, {
          apiVersion: "authentication.platform.io/v1",
          kind: "TokenRequest",
          spec: {},
        }),
      )
    ).body.status.token;
    expect((await server.as(token).get(hidden)).status).toBe(404);
    // Watches, too.
    const watching = await omar.watch(at("preview", `${secrets}?watch=1&resourceVersion=0`));
    await ok(admin().patch(hidden, { metadata: { labels: { x: "z" } } }));
    await ok(omar.post(at("preview", secrets), { metadata: { name: "own" } }));
    expect(await watching.next()).toMatchObject({ object: { metadata: { name: "own" } } });
    watching.close();
    const stream = new Subscribed(
      await omar.open("GET", at("preview", subscriptionPath(["v1/secrets"])), {}),
    );
    await ok(admin().patch(hidden, { metadata: { labels: { x: "q" } } }));
    await ok(omar.post(at("preview", secrets), { metadata: { name: "own-2" } }));
    const seenInStream = await stream.through(({ object }) => object?.metadata?.name === "own-2");
    expect(JSON.stringify(seenInStream)).not.toContain("root-key");
    stream.close();
    await ok(omar.delete(at("preview", `${secrets}/own-2`)));
    // Objects of its own are visible, and those of the base as soon as one may get them there.
    expect(await seen()).toEqual(["own"]);
    await roleFor(
      admin(),
      "secrets-reader",
      [],
      [{ verbs: ["get"], apiGroups: [""], resources: ["secrets"] }],
    );
    const binding = clusterRoleBinding("omar-reads", refTo("ClusterRole", "secrets-reader"), [user("omar")]);
    await ok(admin().post(`${RBAC}/clusterrolebindings`, binding));
    expect(await seen()).toEqual(["own", "root-key"]);
    await ok(admin().delete(`${RBAC}/clusterrolebindings/omar-reads`));
    expect(await seen()).toEqual(["own"]);
    await ok(admin().delete(`${secrets}/root-key`));
    await ok(admin().delete(`${maps}/root-map`));
  });
});

test("a branch of a deleted workspace keeps what that one began with", async () => {
  await create("root-of-all");
  const map = await ok(admin().post(at("root-of-all", maps), configMap("old", { v: "1" })));
  expect(map.status).toBe(201);
  await create("middle", { from: { workspace: "root-of-all" } });
  await create("last", { from: { workspace: "middle" } });
  await ok(admin().delete(`${workspaces}/middle`));
  await until(
    () => admin().get(`${workspaces}/middle`),
    ({ status }) => status === 404,
  );
  await ok(admin().patch(at("root-of-all", `${maps}/old`), { data: { v: "2" } }));
  await storeOf(server).compact(Number.MAX_SAFE_INTEGER);
  expect((await ok(admin().get(at("last", `${maps}/old`)))).body.data).toEqual({ v: "1" });
});
