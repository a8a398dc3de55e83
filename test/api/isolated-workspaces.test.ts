import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { AdmissionPlugin } from "../../src/index.ts";
import { Configurations, hook, TestWebhook } from "../admission/webhooks/support.ts";
import type { TestServer } from "../support/api.ts";
import { ExtensionServer } from "../support/extension-server.ts";
import { maps, withBranches, within, workspacesPath } from "./branches-support.ts";
import { configMap, namespace, ok, startWithUsers, until } from "./support.ts";

/** Objects that a plugin with side effects was called for. */
const seen: string[] = [];
const recording: AdmissionPlugin = {
  name: "Recording",
  sideEffects: true,
  concerns: (_, { resource }) => resource.name === "configmaps",
  validate: ({ object }) => void seen.push(object?.metadata.name ?? ""),
};
let server: TestServer;
let webhook: TestWebhook;
let extension: ExtensionServer;
beforeAll(async () => {
  webhook = await TestWebhook.start();
  extension = await ExtensionServer.start();
  const connections = { allowLoopback: true };
  server = await startWithUsers([], { ...withBranches, connections, admissionPlugins: [recording] });
  await extension.register(server.admin);
});
afterAll(async () => {
  await server.close();
  await webhook.close();
  await extension.close();
});
beforeEach(() => {
  webhook.reset();
  seen.length = 0;
  extension.received.length = 0;
});
const create = (name: string, spec: object) =>
  ok(server.admin.post(workspacesPath, { metadata: { name }, spec: { from: {}, ...spec } }));
const widgets = `/apis/widgets.example.com/v1/namespaces/default/widgets`;

test.each(["mutating", "validating"] as const)(
  "a %s webhook gets a dry run in an isolated workspace, and none elsewhere",
  async (type) => {
    const configurations = new Configurations(server.admin);
    await configurations[type]("one", hook(webhook.client(), { sideEffects: "NoneOnDryRun" }));
    await create(`${type}-isolated`, { isolated: true });
    await create(`${type}-plain`, {});
    await configurations.clear();
    for (const workspace of [`${type}-isolated`, `${type}-plain`])
      await ok(server.admin.post(within(workspace, maps), configMap("a")));
    expect(webhook.calls.map(({ review }) => review.request.dryRun)).toEqual([true, false]);
    // The write itself is none.
    expect((await server.admin.get(within(`${type}-isolated`, `${maps}/a`))).status).toBe(200);
  },
);

test("a plugin with side effects isn't called in an isolated workspace, and a warning says so", async () => {
  await create("plugin-isolated", { isolated: true });
  await create("plugin-plain", {});
  const isolated = await server.admin.post(within("plugin-isolated", maps), configMap("there"));
  await ok(server.admin.post(within("plugin-plain", maps), configMap("here")));
  expect(seen).toEqual(["here"]);
  expect(isolated.warnings).toEqual([
    'the admission plugin "Recording" was not called: it has side effects, and the workspace is isolated',
  ]);
});

test("an isolated workspace calls no extension server, also not when it deletes a namespace", async () => {
  await ok(server.admin.post("/api/v1/namespaces", namespace("held")));
  await create("extension-isolated", { isolated: true });
  await create("extension-plain", {});
  const path = within("extension-isolated", "/api/v1/namespaces/held");
  await ok(server.admin.delete(path));
  await until(
    () => server.admin.get(path),
    ({ status }) => status === 404,
  );
  expect((await server.admin.get(within("extension-isolated", widgets))).status).toBe(404);
  expect(extension.received).toEqual([]);
  await until(
    () => server.admin.get(within("extension-plain", widgets)),
    ({ status }) => status === 200,
  );
  expect(extension.received.length).toBeGreaterThan(0);
});

test("a workspace stays isolated", async () => {
  await create("immutable", { isolated: true });
  const { status, body } = await server.admin.patch(`${workspacesPath}/immutable`, {
    spec: { isolated: null },
  });
  expect([status, body.message]).toEqual([422, expect.stringContaining("spec.isolated: Invalid value")]);
});
