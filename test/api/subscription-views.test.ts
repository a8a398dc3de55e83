import { beforeAll, expect, test } from "vitest";
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
