import { afterEach, expect, test } from "vitest";
import type { CreateServerOptions, Decision, NamedAuthenticator, NamedAuthorizer } from "../../src/index.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServer } from "../../src/index.ts";
import { TestServer } from "../support/api.ts";

/** `docs/extensions.md` says where each extension stands; here it is shown. */
let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function started(options: CreateServerOptions): Promise<TestServer> {
  return (server = await TestServer.start(options));
}

const maps = "/api/v1/namespaces/default/configmaps";

const asAnybody = (name: string): NamedAuthenticator => ({
  name,
  authenticate: () => ({
    user: { name, uid: "1", groups: ["guests"], extra: { from: ["test"] } },
    method: "ignored",
    cacheable: false,
  }),
});

test("authenticators are called in order after the built-in methods and before anonymous", async () => {
  const { admin } = await started({ authenticators: [asAnybody("first"), asAnybody("second")] });
  const who = async (api: typeof admin) => (await api.get(maps)).body.message as string | undefined;
  expect(await who(admin)).toBeUndefined();
  expect(await who(server!.as("unknown"))).toContain('User "first" cannot list');
  expect(await who(server!.as(undefined))).toContain('User "first" cannot list');
});

const deciding = (name: string, verdict: Decision["verdict"]): NamedAuthorizer => ({
  name,
  authorize: () => ({ verdict, reason: `${name} said so`, evaluationError: "" }),
});

test("an authorizer named before RBAC in the modes can deny a request that RBAC allows", async () => {
  await started({
    authorizers: [deciding("gate", "deny")],
    authorizationModes: ["gate", "RBAC"],
  });
  const refused = await server!.as(undefined).get("/version");
  expect([refused.status, refused.body.message]).toEqual([
    403,
    'forbidden: User "system:anonymous" cannot get path "/version": gate said so',
  ]);
  expect((await server!.admin.get("/version")).status).toBe(200);
});

test("an authorizer that no mode names is last and can allow a request without other decision", async () => {
  await started({ authorizers: [deciding("last", "allow")] });
  expect((await server!.as(undefined).get(maps)).status).toBe(200);
});

test("an authorizer after RBAC can't deny a request that RBAC allows", async () => {
  await started({ authorizers: [deciding("last", "deny")] });
  expect((await server!.as(undefined).get("/version")).status).toBe(200);
  expect((await server!.as(undefined).get(maps)).body.message).toContain("last said so");
});

test("admission plugins run in order and may be disabled by name", async () => {
  const seen: string[] = [];
  const plugin = (name: string) => ({
    name,
    concerns: () => true,
    mutate: ({ object }: { object: { metadata: { name?: string; labels?: object } } | undefined }) => {
      seen.push(name);
      if (object !== undefined) Object.assign((object.metadata.labels ??= {}), { [name]: "was-here" });
    },
  });
  const { admin } = await started({
    admissionPlugins: [plugin("one"), plugin("two"), plugin("off")],
    disabledAdmissionPlugins: ["off"],
  });
  const made = await admin.post(maps, { metadata: { name: "m" } });
  expect(seen.slice(0, 2)).toEqual(["one", "two"]);
  expect(seen).not.toContain("off");
  expect(made.body.metadata.labels).toEqual({ one: "was-here", two: "was-here" });
});

test("the server starts when an admission plugin rejects everything", async () => {
  const refuse = () => {
    throw new Error("no");
  };
  const { admin } = await started({
    admissionPlugins: [{ name: "No", concerns: () => true, mutate: refuse }],
  });
  expect((await admin.get(maps)).status).toBe(200);
  expect((await admin.post(maps, { metadata: { name: "m" } })).status).toBe(500);
});

test("rules that an admission plugin adds to a role are checked for escalation", async () => {
  const { admin } = await started({
    authenticators: [asAnybody("eve")],
    admissionPlugins: [
      {
        name: "Generous",
        concerns: (_, { resource }) => resource.name === "roles",
        mutate: ({ object }) => {
          object!["rules"] = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
        },
      },
    ],
  });
  const group = "rbac.authorization.platform.io";
  const rbac = `/apis/${group}/v1`;
  await admin.post(`${rbac}/namespaces/default/rolebindings`, {
    metadata: { name: "eve" },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "role-writer" },
    subjects: [{ apiGroup: group, kind: "User", name: "eve" }],
  });
  await admin.post(`${rbac}/clusterroles`, {
    metadata: { name: "role-writer" },
    rules: [{ verbs: ["create"], apiGroups: [group], resources: ["roles"] }],
  });
  const refused = await server!.as("eve").post(`${rbac}/namespaces/default/roles`, {
    metadata: { name: "r" },
    rules: [],
  });
  expect(refused.status).toBe(403);
  expect(refused.body.message).toContain("is attempting to grant RBAC permissions not currently held");
});

test("controllers run unless they are turned off by name, and get the objects of added kinds", async () => {
  const begun: string[] = [];
  const controller = (name: string) => ({
    name,
    start: () => {
      begun.push(name);
      return { close: () => Promise.resolve() };
    },
  });
  await started({
    controllers: [controller("one"), controller("two")],
    enabledControllers: ["*", "-two"],
  });
  expect(begun).toEqual(["one"]);
});

test("a store passed as option can be shared and is not closed by the server", async () => {
  const store = createMemoryStore({ clock: systemClock });
  const first = await createServer({ port: false, storage: store });
  const second = await createServer({ port: false, storage: store });
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "m", namespace: "default" } as const;
  await first.client.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "m", namespace: "default" },
    data: { a: "b" },
  });
  expect((await second.client.get(reference)).data).toEqual({ a: "b" });
  await first.close();
  await second.close();
  expect(await store.get("/core/configmaps/default/m")).toBeDefined();
  await store.close();
});
