import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { TestServer, Watching } from "../support/api.ts";
import { clientConfiguration } from "../support/client-configuration.ts";
import { HttpsService, type Reply } from "../support/https-service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ManualClock, ok, until } from "./support.ts";

/** A webhook that decides as a test says. */
interface Webhook {
  service: HttpsService;
  config: string;
  status: object;
  broken: boolean;
}

const configMaps = "/api/v1/namespaces/default/configmaps";
const folder = temporaryFolder();
const file = path.join(folder.path, "authorization.json");
const webhooks: Record<"one" | "two", Webhook> = { one: {} as Webhook, two: {} as Webhook };
const clock = new ManualClock();
let server: TestServer | undefined;

beforeAll(async () => {
  for (const [name, webhook] of Object.entries(webhooks)) {
    const at = path.join(folder.path, name);
    mkdirSync(at);
    webhook.service = await HttpsService.start(({ text }): Reply =>
      webhook.broken
        ? { status: 400, body: {} }
        : { body: { ...(JSON.parse(text) as object), status: webhook.status } },
    );
    webhook.config = clientConfiguration(at, webhook.service);
  }
});
beforeEach(() => {
  for (const webhook of Object.values(webhooks)) {
    Object.assign(webhook, { status: {}, broken: false });
    webhook.service.received.length = 0;
  }
});
afterEach(async () => {
  await server?.close();
  server = undefined;
});
afterAll(async () => {
  for (const { service } of Object.values(webhooks)) await service.close();
  folder.remove();
});

const webhook = (name: "one" | "two", more: object = {}) => ({
  type: "Webhook",
  name,
  webhook: {
    timeout: "3s",
    subjectAccessReviewVersion: "v1",
    failurePolicy: "NoOpinion",
    connectionInfo: { type: "KubeConfigFile", kubeConfigFile: webhooks[name].config },
    ...more,
  },
});
const conditions = (...expressions: string[]) => ({
  matchConditionSubjectAccessReviewVersion: "v1",
  matchConditions: expressions.map((expression) => ({ expression })),
});
const rbac = { type: "RBAC", name: "rbac" };
const write = (...authorizers: object[]): void => {
  const header = { apiVersion: "apiserver.config.platform.io/v1", kind: "AuthorizationConfiguration" };
  writeFileSync(file, JSON.stringify({ ...header, authorizers }));
};
async function start(...authorizers: object[]): Promise<TestServer> {
  write(...authorizers);
  server = await TestServer.start({ authorizationConfigFile: file, clock, users: [{ name: "ann" }] });
  return server;
}
const get = async (name = "x") => (await server!.as("ann").get(`${configMaps}/${name}`)).status;
const asked = (name: "one" | "two") =>
  webhooks[name].service.received.filter(({ text }) => text.includes('"user":"ann"')).length;

describe("a server with --authorization-config", () => {
  test("asks two webhooks and RBAC in order", async () => {
    await start(webhook("one"), rbac, webhook("two"));
    expect(await get()).toBe(403);
    expect([asked("one"), asked("two")]).toEqual([1, 1]);
    webhooks.two.status = { allowed: true };
    expect(await get("y")).toBe(404);
    webhooks.one.status = { denied: true };
    expect(await get("z")).toBe(403);
    expect([asked("one"), asked("two")]).toEqual([3, 2]);
  });

  test("caches decisions for their times, or not at all", async () => {
    webhooks.one.status = { allowed: true };
    webhooks.two.status = {};
    await start(
      webhook("two", { cacheUnauthorizedRequests: false }),
      webhook("one", { authorizedTTL: "20s" }),
    );
    expect([await get(), await get()]).toEqual([404, 404]);
    expect([asked("two"), asked("one")]).toEqual([2, 1]);
    await clock.advance(21_000);
    expect(await get()).toBe(404);
    expect([asked("two"), asked("one")]).toEqual([3, 2]);
  });

  test("asks a webhook only about requests for which all conditions are true", async () => {
    webhooks.one.status = { allowed: true };
    const ofConfigMaps =
      'has(request.resourceAttributes) && request.resourceAttributes.resource == "configmaps"';
    await start(
      webhook(
        "one",
        conditions(ofConfigMaps, 'request.user == "ann" && "system:authenticated" in request.groups'),
      ),
    );
    expect(await get()).toBe(404);
    const ann = server!.as("ann");
    expect((await ann.get("/api/v1/namespaces/default/secrets")).status).toBe(403);
    expect((await ann.get("/metrics")).status).toBe(403);
    expect(asked("one")).toBe(1);
    const { text } = await ok(server!.admin.get("/metrics"));
    const name = "apiserver_authorization_match_condition";
    expect(text).toMatch(new RegExp(`${name}_exclusions_total{type="Webhook",name="one"} [1-9]`));
    expect(text).toContain(`${name}_evaluation_errors_total{type="Webhook",name="one"} 0\n`);
  });

  test.each([
    ["NoOpinion", 404],
    ["Deny", 403],
  ])("decides failures by the policy %s", async (failurePolicy, status) => {
    webhooks.two.status = { allowed: true };
    const failing = webhook("one", { failurePolicy });
    await start(failing, webhook("two"));
    webhooks.one.broken = true;
    expect(await get()).toBe(status);
    // A condition that fails; another one that is false decides before it.
    const missing = 'request.resourceAttributes.resource == "none"';
    await server!.close();
    await start(webhook("one", { failurePolicy, ...conditions(missing) }), webhook("two"));
    const access = { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } };
    const allowed = async () =>
      (
        await ok(
          server!.as("ann").post("/apis/authorization.platform.io/v1/selfsubjectaccessreviews", access),
        )
      ).body.status.allowed as boolean | undefined;
    webhooks.two.status = { allowed: true };
    const before = asked("one");
    expect((await allowed()) ?? false).toBe(status === 404);
    expect(asked("one")).toBe(before);
    await server!.close();
    const first = conditions(missing, 'request.user == "bert"');
    await start(webhook("one", { failurePolicy, ...first }), webhook("two"));
    expect(await allowed()).toBe(true);
  });

  test("limits the cost of conditions", async () => {
    const groups = "request.groups.all(a, request.groups.all(b, request.groups.all(c, a + b + c != '')))";
    webhooks.one.status = { allowed: true };
    await start(webhook("one", { failurePolicy: "Deny", ...conditions(groups) }));
    expect(await get()).toBe(404);
    const many = Array.from({ length: 200 }, (_, index) => `g${index}`);
    const headers = { "impersonate-user": "ann", "impersonate-group": many as unknown as string };
    const { status, body } = await server!.admin.ask("GET", `${configMaps}/y`, { headers });
    expect([status, body.message]).toEqual([403, expect.stringContaining("cost limit exceeded")]);
  });
});

describe("the file of --authorization-config", () => {
  const metric = async (status: string) => {
    const { text } = await ok(server!.admin.get("/metrics"));
    const name = "apiserver_authorization_config_controller_automatic_reloads_total";
    const line = text.split("\n").find((one) => one.startsWith(`${name}{status="${status}"`));
    return line === undefined ? 0 : Number(line.split(" ")[1]);
  };
  const reload = async (status: string, count: number) => {
    await clock.advance(10_000);
    await until(
      () => metric(status),
      (now) => now === count,
    );
  };

  test("is used again when it changes; an invalid one is counted, and the previous one stays", async () => {
    webhooks.one.status = { allowed: true };
    webhooks.two.status = { allowed: true };
    await start(rbac, webhook("one"));
    expect(await get()).toBe(404);
    write(rbac, webhook("two", conditions('request.resourceAttributes.name == "two"')));
    await reload("success", 1);
    expect([await get("one"), await get("two")]).toEqual([403, 404]);
    expect([asked("one"), asked("two")]).toEqual([1, 1]);
    write(rbac, webhook("one", { timeout: "31s" }));
    await reload("failure", 1);
    write(webhook("one"));
    await reload("failure", 2);
    write(rbac, webhook("one", { connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/nowhere/f" } }));
    await reload("failure", 3);
    // The server isn't in a pod.
    write(rbac, webhook("one", { connectionInfo: { type: "InClusterConfig" } }));
    await reload("failure", 4);
    expect([await get("one"), await get("two")]).toEqual([403, 404]);
    // The webhook of the first configuration is closed.
    await clock.advance(120_000);
    expect(await get("two")).toBe(404);
  });

  test("ends the watches of views when it changes, because a webhook may deny what they show", async () => {
    await start(rbac);
    const watch = new Watching(
      await server!.as("ann").open("GET", `${configMaps}?view=mine&watch=true`, {}),
      10_000,
    );
    write(webhook("one"), rbac);
    await reload("success", 1);
    expect((await watch.toEnd()).at(-1)).toMatchObject({
      type: "ERROR",
      object: { reason: "Expired", code: 410 },
    });
    expect((await server!.as("ann").refusal("GET", `${configMaps}?view=mine&watch=true`)).status).toBe(400);
  });
});
