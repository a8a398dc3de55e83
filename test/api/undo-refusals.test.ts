import { describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import {
  clusterRole,
  clusterRoleBinding,
  configMap,
  ok,
  RBAC,
  refTo,
  user,
  type PolicyRule,
} from "./support.ts";
import { changeBy, maps, undo, withUndos } from "./undo-support.ts";

const server = useServer({
  users: [{ name: "devi" }, { name: "reader" }, { name: "keeper" }],
  ...withUndos,
  keptHistory: ["configmaps=30d", "secrets=30d", "namespaces=30d"],
});
const admin = () => server.admin;

/** Gives a user rights. */
async function bindUser(name: string, role: string, rules: readonly PolicyRule[]): Promise<void> {
  const full = `${name}-${role}`;
  await ok(admin().post(`${RBAC}/clusterroles`, clusterRole(full, rules)));
  const binding = clusterRoleBinding(full, refTo("ClusterRole", full), [user(name)]);
  await ok(admin().post(`${RBAC}/clusterrolebindings`, binding));
}

describe("an undo is refused", () => {
  test.each([
    ["names nothing", {}, "spec.change", "must be set, or user or manager with from"],
    ["has no beginning", { user: "devi" }, "spec.from", "must be set with user or manager"],
    [
      "names a request and a manager",
      { change: "x", manager: "y" },
      "spec.manager",
      "may not be set with change",
    ],
    [
      "ends before it begins",
      { user: "devi", from: "2026-01-02T00:00:00Z", to: "2026-01-01T00:00:00Z" },
      "spec.to",
      "must not be before from",
    ],
  ])("when it %s", async (_, spec, field, message) => {
    const { status, body } = await undo(admin(), spec);
    expect(status).toBe(422);
    expect(body.details.causes).toMatchObject([{ field, message: expect.stringContaining(message) }]);
  });

  test.each([
    [
      "configmap",
      'spec.resources[0]: "configmap": the server has no such resource; did you mean configmaps?',
    ],
    [
      "pods",
      'spec.resources[0]: "pods": its history is not kept; the server keeps that of the resources in --history-retention',
    ],
  ])("when it names the resource %s", async (name, message) => {
    const { status, body } = await undo(admin(), { change: "x", resources: [name] });
    expect([status, body.message]).toEqual([400, message]);
  });

  test("when the history has no such change", async () => {
    const { status, body } = await undo(admin(), { change: "no-such-id" });
    expect([status, body.reason]).toEqual([404, "NotFound"]);
    expect(body.message).toContain('change "no-such-id": the history has no write with this audit id');
    expect(body.message).toContain("--history-retention");
  });

  test("when the server keeps no history", async () => {
    const other = await TestServer.start({ runtimeConfig: withUndos.runtimeConfig });
    try {
      const { status, body } = await undo(other.admin, { change: "x" });
      expect([status, body.message]).toEqual([
        400,
        "nothing can be undone, because no history is kept: start the server with --history-retention",
      ]);
    } finally {
      await other.close();
    }
  });

  test("when one of its objects can't be written, and writes none", async () => {
    await ok(admin().post(maps, configMap("r-a", { a: "1" }, {})));
    const change = await changeBy(admin(), "PATCH", `${maps}/r-a`, { data: { a: "2" } });
    await ok(admin().patch(`${maps}/r-a`, { immutable: true }));
    const { status, body } = await undo(admin(), { change });
    expect(status).toBe(422);
    expect(body.message).toMatch(
      /^update configmaps "r-a" in namespace "default": .*immutable.*; nothing was written$/,
    );
  });
});

describe("the rights of an undo", () => {
  const right = (resources: string[], verbs: string[]) => ({
    apiGroups: ["", "history.platform.io"],
    resources,
    verbs,
  });

  test("are those to create undos, to read the objects, and to make each write", async () => {
    await ok(admin().post(maps, configMap("r-b", { a: "1" })));
    const change = await changeBy(admin(), "PATCH", `${maps}/r-b`, { data: { a: "2" } });
    const devi = server.as("devi");
    const cannot = (verb: string, resource: string) => `User "devi" cannot ${verb} resource "${resource}"`;
    expect((await undo(devi, { change })).body.message).toContain(cannot("create", "undos"));
    await bindUser("devi", "undo", [right(["undos"], ["create"])]);
    const hidden = await undo(devi, { change });
    expect([hidden.status, hidden.body.message]).toEqual([
      404,
      expect.stringContaining("of an object that you may read"),
    ]);
    await bindUser("devi", "get", [right(["configmaps"], ["get"])]);
    const denied = await undo(devi, { change });
    expect([denied.status, denied.body.message]).toEqual([
      403,
      expect.stringContaining(cannot("update", "configmaps")),
    ]);
    await bindUser("devi", "update", [right(["configmaps"], ["update"])]);
    await ok(undo(devi, { change }));
  });

  test("to a part of the objects are not enough", async () => {
    const reader = server.as("reader");
    await bindUser("reader", "reads", [right(["undos"], ["create"]), right(["configmaps"], ["get"])]);
    const from = new Date().toISOString();
    await changeBy(admin(), "POST", maps, configMap("r-c"), "both");
    await changeBy(admin(), "POST", "/api/v1/namespaces", { metadata: { name: "r-space" } }, "both");
    const { status, body } = await undo(reader, { manager: "both", from });
    expect([status, body.message]).toEqual([
      403,
      "the change has 2 objects, of which you may not read 1; select others with resources and namespace",
    ]);
  });

  test("of Secrets include that to their history, and values are hidden", async () => {
    const secrets = "/api/v1/namespaces/default/secrets";
    await ok(admin().post(secrets, { metadata: { name: "r-d" }, stringData: { a: "old-value" } }));
    const change = await changeBy(admin(), "PATCH", `${secrets}/r-d`, { stringData: { a: "new-value" } });
    const keeper = server.as("keeper");
    await bindUser("keeper", "secrets", [
      right(["undos"], ["create"]),
      right(["secrets"], ["get", "update"]),
    ]);
    expect((await undo(keeper, { change })).status).toBe(404);
    await bindUser("keeper", "history", [right(["secrets/history"], ["get"])]);
    const { body } = await ok(undo(keeper, { change }, "?dryRun=All"));
    expect(body.status.objects[0].fields).toEqual([{ path: ".data.a", from: "(hidden)", to: "(hidden)" }]);
    await changeBy(admin(), "PATCH", `${secrets}/r-d`, { stringData: { a: "other" } });
    const refused = await undo(keeper, { change });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain("(hidden) before the change");
  });
});
