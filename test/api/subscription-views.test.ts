import { beforeAll, expect, test } from "vitest";
import { storeConfigMaps } from "../support/stored-config-maps.ts";
import { useServer } from "../support/use-server.ts";
import { RBAC, configMap, namespace, ok } from "./support.ts";
import { shown, subscribe } from "./subscriptions-support.ts";
import { createGrant } from "./views-support.ts";

const server = useServer({ users: [{ name: "ann" }] });
const maps = "/api/v1/namespaces/seen/configmaps";
const secrets = "/api/v1/namespaces/seen/secrets";
/** More than one page of objects that a grant makes visible. */
const many = 400;
const mine = { view: "mine" };

beforeAll(async () => {
  await ok(server.admin.post("/api/v1/namespaces", namespace("seen")));
  for (let index = 0; index < many; index++) {
    await ok(server.admin.post(maps, configMap(`m${index}`, { text: "x".repeat(2000) })));
  }
  await ok(server.admin.post(secrets, { metadata: { name: "s" } }));
});

const grantTo = (name: string, resources: string[]) =>
  createGrant(server.admin, {
    name,
    namespace: "seen",
    kind: "Role",
    rules: [{ verbs: ["get"], apiGroups: [""], resources }],
    subject: { kind: "User", apiGroup: "rbac.authorization.platform.io", name: "ann" },
  });

test("a subscription with view=mine needs no right to watch, and follows the grants of all its resource types", async () => {
  const watches = ["configmaps", "secrets", "configmaps?namespace=seen"];
  expect((await server.as("ann").refusal("GET", "/subscriptions?watch=configmaps")).status).toBe(403);
  const stream = await subscribe(server.as("ann"), watches, mine);
  expect(stream.status).toBe(200);
  const [bookmark] = await stream.state();
  expect(bookmark).toMatchObject({ type: "BOOKMARK", initialEventsEnd: true });
  await grantTo("both", ["configmaps", "secrets"]);
  const added = await stream.messages(2 * many + 1);
  const lines = new Set(added.map(shown));
  expect(lines.size).toBe(2 * many + 1);
  expect(lines).toContain("ADDED 1 s");
  const complete = added.flatMap(({ resumeAfter }) => resumeAfter ?? []);
  expect(complete).toHaveLength(1);
  expect(added.at(-1)!.resumeAfter).toBe(complete[0]);
  await ok(server.admin.post("/api/v1/namespaces/default/configmaps", configMap("hidden")));
  await ok(server.admin.post(maps, configMap("new")));
  expect((await stream.messages(2)).map(shown)).toEqual(["ADDED 0 new", "ADDED 2 new"]);
  const revoked = await server.admin.delete(`${RBAC}/namespaces/seen/rolebindings/both`);
  expect(revoked.status).toBe(200);
  const deleted = await stream.messages(2 * many + 3);
  expect(new Set(deleted.map(({ type }) => type))).toEqual(new Set(["DELETED"]));
  stream.close();
  const rest = await subscribe(server.as("ann"), watches, { ...mine, resourceVersion: complete[0]! });
  const again = (await rest.messages(2 * many + 5)).map(shown);
  const isAdded = (line: string) => line.startsWith("ADDED");
  expect(again.filter(isAdded).toSorted()).toEqual(["ADDED 0 new", "ADDED 2 new"]);
  expect(new Set(again.filter((line) => !isAdded(line))).size).toBe(2 * many + 3);
  rest.close();
});

test("the initial state of a subscription with view=mine has exactly the visible objects", async () => {
  await grantTo("secrets-only", ["secrets"]);
  const stream = await subscribe(server.as("ann"), ["configmaps", "secrets"], mine);
  expect((await stream.state()).slice(0, -1).map(shown)).toEqual(["ADDED 1 s"]);
  stream.close();
});

test("a subscription with view=mine sends a grant of more than one page for each of its resource types", async () => {
  const watches = ["secrets?namespace=seen", "configmaps?namespace=seen", "configmaps"];
  const stream = await subscribe(server.as("ann"), watches, mine);
  const before = await stream.state();
  await ok(server.admin.post("/api/v1/namespaces", namespace("pages")));
  await storeConfigMaps(
    server,
    "pages",
    Array.from({ length: 700 }, (_, index) => ({ name: `p${index}` })),
  );
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps", "secrets"] }];
  const subject = { kind: "User", apiGroup: "rbac.authorization.platform.io", name: "ann" };
  await createGrant(server.admin, { name: "all", namespace: "", kind: "ClusterRole", rules, subject });
  const objects = (await ok(server.admin.get(`${maps}?limit=500`))).body["items"].length as number;
  const all = (await ok(server.admin.get("/api/v1/configmaps"))).body["items"].length as number;
  const added = await stream.messages(1 + objects + all - (before.length - 1));
  expect(new Set(added.map(shown)).size).toBe(added.length);
  expect(added.filter(({ resumeAfter }) => resumeAfter !== undefined)).toEqual([added.at(-1)]);
  await ok(server.admin.post(maps, configMap("later")));
  expect((await stream.messages(2)).map(shown)).toEqual(["ADDED 1 later", "ADDED 2 later"]);
  stream.close();
  await ok(server.admin.delete(`${RBAC}/clusterrolebindings/all`));
});

test("a subscription that is resumed at any position of a change of grants gets the removals and additions of the change", async () => {
  await ok(server.admin.post("/api/v1/namespaces", namespace("turns")));
  const inTurns = "/api/v1/namespaces/turns/configmaps";
  for (const name of ["a1", "a2", "b1", "b2"]) await ok(server.admin.post(inTurns, configMap(name)));
  const rulesFor = (...resourceNames: string[]) => [
    { verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames },
  ];
  const subject = { kind: "User", apiGroup: "rbac.authorization.platform.io", name: "ann" };
  const grant = { name: "some", namespace: "turns", kind: "Role", subject } as const;
  await createGrant(server.admin, { ...grant, rules: rulesFor("a1", "a2") });
  const watches = ["configmaps?namespace=turns", "configmaps"];
  const stream = await subscribe(server.as("ann"), watches, mine);
  const state = await stream.state();
  await ok(server.admin.patch(`${RBAC}/namespaces/turns/roles/some`, { rules: rulesFor("b1", "b2") }));
  const messages = await stream.messages(8);
  stream.close();
  const cacheOf = (list: readonly (typeof messages)[number][], cache: Set<string>) => {
    for (const { type, watch, object } of list) {
      if (type === "BOOKMARK" || object.metadata.namespace !== "turns") continue;
      if (type === "ADDED" || type === "MODIFIED") cache.add(`${watch} ${object.metadata.name}`);
      if (type === "DELETED") cache.delete(`${watch} ${object.metadata.name}`);
    }
    return [...cache].toSorted();
  };
  const expected = ["0 b1", "0 b2", "1 b1", "1 b2"];
  expect(cacheOf(messages, new Set(cacheOf(state, new Set())))).toEqual(expected);
  for (let count = 1; count <= messages.length; count++) {
    const received = [...state, ...messages.slice(0, count)];
    const cache = new Set(cacheOf(received, new Set()));
    const resourceVersion = received.findLast(({ resumeAfter }) => resumeAfter !== undefined)!.resumeAfter!;
    const resumed = await subscribe(server.as("ann"), watches, { ...mine, resourceVersion });
    if (cacheOf([], cache).join() !== expected.join() || count < messages.length)
      expect(cacheOf(await resumed.messages(8), cache)).toEqual(expected);
    resumed.close();
  }
});
