import { describe, expect, test } from "vitest";
import type { Answer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import {
  clusterRole,
  clusterRoleBinding,
  configMap,
  namesIn,
  ok,
  RBAC,
  refTo,
  until,
  user,
} from "./support.ts";
import { at, maps, roleFor, secrets, tenancy, workspaces, workspacesOf } from "./workspaces-support.ts";

const server = useServer({
  users: ["mara", "devi", "omar"].map((name) => ({ name })),
  runtimeConfig: `${tenancy}/v1alpha1=true`,
});
const admin = () => server.admin;
const { create, admit } = workspacesOf(admin);

describe("a workspace", () => {
  test("has default objects, and objects of its own", async () => {
    const made = await create("one");
    expect(made.status).toMatchObject({ phase: "Ready", url: `${server.server.url}/clusters/one` });
    expect(namesIn(await ok(admin().get(at("one", "/api/v1/namespaces"))))).toEqual([
      "default",
      "platform-node-lease",
      "platform-public",
      "platform-system",
    ]);
    await ok(admin().post(at("one", maps), configMap("a", { x: "1" })));
    expect((await admin().get(`${maps}/a`)).status).toBe(404);
    expect((await ok(admin().get(at("one", `${maps}/a`)))).body.data).toEqual({ x: "1" });
    await create("other");
    expect((await admin().get(at("other", `${maps}/a`))).status).toBe(404);
  });

  test("has controllers: a namespace gets its account, and is deleted with its content", async () => {
    await create("controlled");
    await ok(admin().post(at("controlled", "/api/v1/namespaces"), { metadata: { name: "shop" } }));
    const account = at("controlled", "/api/v1/namespaces/shop/serviceaccounts/default");
    await until(
      () => admin().get(account),
      ({ status }) => status === 200,
    );
    await ok(admin().delete(at("controlled", "/api/v1/namespaces/shop")));
    await until(
      () => admin().get(at("controlled", "/api/v1/namespaces/shop")),
      ({ status }) => status === 404,
    );
  });

  test("its owned objects are collected by its own controllers, and those of the server don't process them", async () => {
    await create("collected");
    const path = at("collected", maps);
    const collected = async () => {
      const { text } = await ok(admin().get("/metrics"));
      return /^workqueue_adds_total\{name="garbagecollector"\} (\d+)$/m.exec(text)?.[1];
    };
    const owner = (await ok(admin().post(path, configMap("owner")))).body;
    const { uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    const before = await collected();
    await ok(admin().post(path, { metadata: { name: "owned", ownerReferences } }));
    await ok(admin().delete(`${path}/owner`));
    await until(
      () => admin().get(`${path}/owned`),
      ({ status }) => status === 404,
    );
    expect(await collected()).toBe(before);
  });

  test("a watch shows its changes only", async () => {
    await create("watched");
    const { body } = await ok(admin().get(at("watched", maps)));
    const watching = await admin().watch(
      at("watched", `${maps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`),
    );
    await ok(admin().post(maps, configMap("w-outside", {})));
    await ok(admin().post(at("one", maps), configMap("w-other", {})));
    await ok(admin().post(at("watched", maps), configMap("w-inside", {})));
    expect(await watching.next()).toMatchObject({
      type: "ADDED",
      object: { metadata: { name: "w-inside" } },
    });
    watching.close();
    await ok(admin().delete(`${maps}/w-outside`));
  });

  test("has kinds of its own, and documents with its path", async () => {
    await create("kinds");
    const definition = {
      metadata: { name: "toys.acme.dev" },
      spec: {
        group: "acme.dev",
        scope: "Namespaced",
        names: { plural: "toys", singular: "toy", kind: "Toy" },
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
        ],
      },
    };
    const definitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions";
    await ok(admin().post(at("kinds", definitions), definition));
    const toys = "/apis/acme.dev/v1/namespaces/default/toys";
    await until(
      () => admin().get(at("kinds", toys)),
      ({ status }) => status === 200,
    );
    await ok(
      admin().post(at("kinds", toys), { apiVersion: "acme.dev/v1", kind: "Toy", metadata: { name: "t" } }),
    );
    expect((await admin().get(toys)).status).toBe(404);
    expect((await admin().get(at("one", toys))).status).toBe(404);
    const index = (await ok(admin().get(at("kinds", "/openapi/v3")))).body.paths;
    const { serverRelativeURL: url } = index["apis/acme.dev/v1"];
    expect(url).toMatch(/^\/clusters\/kinds\/openapi\/v3\/apis\/acme\.dev\/v1\?hash=/);
    expect((await ok(admin().get(url))).body.paths).toBeDefined();
    const groups = (await ok(admin().get(at("kinds", "/apis")))).body.groups;
    expect(groups.map((one: { name: string }) => one.name)).toContain("acme.dev");
    expect(groups.map((one: { name: string }) => one.name)).not.toContain(tenancy);
  });

  test("that is deleted ends its watches and loses its objects, also for one of the same name", async () => {
    await create("gone");
    await ok(admin().post(at("gone", maps), configMap("a", {})));
    const watching = await admin().watch(at("gone", `${maps}?watch=1&resourceVersion=0`));
    await watching.next();
    await ok(admin().delete(`${workspaces}/gone`));
    await watching.toEnd();
    await until(
      () => admin().get(`${workspaces}/gone`),
      ({ status }) => status === 404,
    );
    expect((await admin().get(at("gone", maps))).status).toBe(404);
    await create("gone");
    expect(namesIn(await ok(admin().get(at("gone", maps))))).toEqual([]);
  });

  test("expires", async () => {
    const refused = await admin().post(workspaces, {
      metadata: { name: "short" },
      spec: { expirationSeconds: 3 },
    });
    expect([refused.status, refused.body.details.causes[0].field]).toEqual([422, "spec.expirationSeconds"]);
  });
});

describe("entering a workspace", () => {
  test("needs the verb access; inside, its own roles decide", async () => {
    await create("rights");
    await create("shut");
    const devi = server.as("devi");
    const refused = await devi.get(at("rights", maps));
    expect([refused.status, refused.body.message]).toEqual([
      403,
      `workspaces.${tenancy} "rights" is forbidden: User "devi" cannot access resource "workspaces" in API group "${tenancy}" at the cluster scope`,
    ]);
    // Whether a workspace exists is no secret of theirs either.
    expect((await devi.get(at("nothing", maps))).status).toBe(403);
    expect((await admin().get(at("nothing", maps))).status).toBe(404);
    await admit("enter-rights", ["devi"], ["rights"]);
    const inside = await devi.get(at("rights", maps));
    expect([inside.status, inside.body.message]).toMatchObject([
      403,
      expect.stringContaining('cannot list resource "configmaps"'),
    ]);
    await ok(
      admin().post(
        at("rights", `${RBAC}/clusterroles`),
        clusterRole("reader", [{ verbs: ["list"], apiGroups: [""], resources: ["configmaps"] }]),
      ),
    );
    const binding = clusterRoleBinding("reader", refTo("ClusterRole", "reader"), [user("devi")]);
    await ok(admin().post(at("rights", `${RBAC}/clusterrolebindings`), binding));
    expect((await devi.get(at("rights", maps))).status).toBe(200);
    expect((await devi.get(maps)).status).toBe(403);
    expect((await devi.get(at("shut", maps))).status).toBe(403);
  });

  test("its administrators may do everything in it, and nothing elsewhere", async () => {
    await create("ruled", { admins: [{ kind: "User", name: "mara" }] });
    await admit("enter-ruled", ["mara"], ["ruled"]);
    const mara = server.as("mara");
    await ok(mara.post(at("ruled", secrets), { metadata: { name: "s" }, stringData: { a: "b" } }));
    const everything = clusterRole("all", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
    await ok(mara.post(at("ruled", `${RBAC}/clusterroles`), everything));
    expect((await mara.post(`${RBAC}/clusterroles`, everything)).status).toBe(403);
    // Impersonation is within the workspace too.
    const asMaster = { headers: { "Impersonate-User": "x", "Impersonate-Group": "system:masters" } };
    expect((await mara.get(at("ruled", secrets), asMaster)).status).toBe(200);
    expect((await mara.get(secrets, asMaster)).status).toBe(403);
  });

  test("tokens of its accounts are worth nothing elsewhere", async () => {
    await create("tokens");
    await create("foreign");
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    await until(
      () => admin().get(at("tokens", account)),
      ({ status }) => status === 200,
    );
    const tokenFor = async (path: string) =>
      (
        await ok(
          admin().post(`${path}/token`, {
            apiVersion: "authentication.platform.io/v1",
            kind: "TokenRequest",
            spec: {},
          }),
        )
      ).body.status.token as string;
    const own = server.as(await tokenFor(at("tokens", account)));
    const outer = server.as(await tokenFor(account));
    const who = (answer: Answer) => [answer.status, answer.body.message];
    expect(who(await own.get(at("tokens", maps)))).toMatchObject([
      403,
      expect.stringContaining('User "system:serviceaccount:default:default" cannot list'),
    ]);
    expect((await own.get(at("foreign", maps))).status).toBe(401);
    expect((await own.get(maps)).status).toBe(401);
    // The accounts of the server are not those of a workspace, whatever they may do.
    await roleFor(admin(), "enter-all", [], [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
    await ok(
      admin().post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("all-accounts", refTo("ClusterRole", "enter-all"), [
          { kind: "ServiceAccount", namespace: "default", name: "default" },
        ]),
      ),
    );
    expect((await outer.get(maps)).status).toBe(200);
    expect(who(await outer.get(at("tokens", maps)))).toMatchObject([
      403,
      expect.stringContaining("in their own workspace"),
    ]);
    await ok(admin().delete(`${RBAC}/clusterrolebindings/all-accounts`));
    // Of a workspace that is made again.
    await ok(admin().delete(`${workspaces}/tokens`));
    await until(
      () => admin().get(`${workspaces}/tokens`),
      ({ status }) => status === 404,
    );
    await create("tokens");
    expect((await own.get(at("tokens", maps))).status).toBe(401);
  });

  test("its path is read once, in every spelling", async () => {
    await create("spelled");
    await ok(admin().post(at("spelled", maps), configMap("only", {})));
    const inside = async (path: string) => namesIn(await ok(admin().get(path)));
    expect(await inside(`/%63lusters/spelled${maps}`)).toEqual(["only"]);
    expect(await inside(`/clusters%2Fspelled%2Fapi/v1/namespaces/default/configmaps`)).toEqual(["only"]);
    for (const path of [
      `//clusters/spelled${maps}`,
      `/clusters//spelled${maps}`,
      `/clusters/spelled/clusters/one${maps}`,
      `/clusters/Spelled${maps}`,
      `/clusters/spelled%252Fx${maps}`,
      "/clusters",
      "/clusters/",
    ])
      expect([path, (await admin().get(path)).status]).toEqual([path, 404]);
    expect((await admin().get("/clusters/spelled%ZZ/api")).status).toBe(400);
    expect((await admin().get("/clusters/spelled")).status).toBe(200);
  });
});

test("a workspace connects to no pod, service or node, whose addresses its administrators could write", async () => {
  await create("connecting");
  const services = "/api/v1/namespaces/default/services";
  await ok(
    admin().post(at("connecting", services), { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } }),
  );
  await ok(admin().post(at("connecting", "/api/v1/nodes"), { metadata: { name: "n" } }));
  for (const path of [
    `${services}/s/proxy/`,
    "/api/v1/nodes/n/proxy/",
    "/api/v1/namespaces/default/pods/p/log",
  ]) {
    const { status, body } = await admin().get(at("connecting", path));
    expect([path, status, body.message]).toEqual([path, 403, expect.stringContaining("no connections")]);
  }
});
