import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, manualClock, StatusError, type PreviewResult, type Server } from "../../src/index.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import { blockOf } from "../support/pages.ts";
import { until } from "../support/answers.ts";
import { workloadControllers } from "../support/workload-controllers.ts";
import { definitionOfThings, thing } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await createServer({
    port: false,
    runtimeConfig: "api/alpha=true",
    controllers: workloadControllers,
  });
  await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
});
afterAll(() => server.close());

/** The changes in short: `created Pod web-0`. */
const inShort = (changes: PreviewResult["objects"]) =>
  changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`);
const web = (replicas: number, image = "web:1") => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image }], terminationGracePeriodSeconds: 0 },
    },
  },
});
const pods = { apiVersion: "v1", kind: "Pod", namespace: "shop" };
const replicaSet = /^(created|changed|deleted) ReplicaSet web-[\da-f]{8}$/;
const workspaces = { apiVersion: "tenancy.platform.io/v1alpha1", kind: "Workspace" };
const noBranchIsLeft = async () => {
  for (const { metadata } of (await server.client.list(workspaces)).items)
    await server.client.waitFor({ ...workspaces, name: metadata.name! }, (live) => live === undefined);
};

describe("a preview shows what controllers would do", () => {
  test("for a new Deployment: its ReplicaSet and Pods", async () => {
    const { objects, consequences, settled, message } = await server.preview(web(2));
    expect(inShort(objects)).toEqual(["created Deployment web"]);
    const [set, ...others] = inShort(consequences).toSorted().toReversed();
    expect(set).toMatch(replicaSet);
    expect(others).toEqual([
      expect.stringMatching(/^created Pod web-[\da-f]{8}-1$/),
      expect.stringMatching(/^created Pod web-[\da-f]{8}-0$/),
    ]);
    expect([settled, message]).toEqual([true, "1 object changed by the operations, 3 by others"]);
    expect((await server.client.list(pods)).items).toEqual([]);
    await noBranchIsLeft();
  });

  test("for a changed number of replicas, by field", async () => {
    await server.client.apply(web(3));
    await until(
      () => server.client.list(pods),
      ({ items }) => items.length === 3,
    );
    const { objects, consequences } = await server.preview(web(1));
    expect(objects).toMatchObject([
      { action: "changed", name: "web", fields: [{ path: ".spec.replicas", from: "3", to: "1" }] },
    ]);
    expect(inShort(consequences)).toEqual([
      expect.stringMatching(replicaSet),
      expect.stringMatching(/^deleted Pod .*-1$/),
      expect.stringMatching(/^deleted Pod .*-2$/),
    ]);
    expect(consequences[0]?.fields).toMatchObject([
      { path: ".spec.replicas", from: "3", to: "1", managers: ["deployment-controller"] },
    ]);
  });

  test("for a deletion: what garbage collection deletes", async () => {
    const { objects, consequences } = await server.preview(web(3), { delete: true });
    expect(inShort(objects)).toEqual(["deleted Deployment web"]);
    expect(inShort(consequences).map((one) => one.replace(/-.*/, ""))).toEqual([
      "deleted ReplicaSet web",
      "deleted Pod web",
      "deleted Pod web",
      "deleted Pod web",
    ]);
  });

  test("for a definition with its objects, whatever their order", async () => {
    const { objects, results } = await server.preview([thing("one"), definitionOfThings()]);
    expect(results.map(({ code, message }) => [code, message])).toEqual([
      [201, undefined],
      [201, undefined],
    ]);
    expect(inShort(objects).toSorted()).toEqual([
      "created CustomResourceDefinition things.example.com",
      "created Thing one",
    ]);
  });
});

test("an object that exists as it is applied changes nothing", async () => {
  const { objects, consequences, message } = await server.preview(web(3));
  expect([objects, consequences, message]).toEqual([[], [], "nothing would change"]);
});

test("a deletion that doesn't end is shown as terminating, with what it waits for", async () => {
  const finalizers = ["example.com/wait"];
  const metadata = { name: "held", namespace: "shop", finalizers };
  await server.client.create({ apiVersion: "v1", kind: "ConfigMap", metadata });
  const { objects } = await server.preview(
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "held", namespace: "shop" } },
    { delete: true },
  );
  expect(objects).toMatchObject([
    {
      action: "terminating",
      name: "held",
      notes: ["its deletion waits for the finalizers example.com/wait"],
    },
  ]);
});

test("the example of the page shows a Deployment and its ReplicaSet", async () => {
  const code = blockOf("docs/preview.md", "js library");
  const run = new Function(
    "server",
    "deployment",
    `return (async () => { ${code}; return { objects, consequences }; })()`,
  );
  const result = (await run(server, { ...web(0), metadata: { name: "page" } })) as PreviewResult;
  expect(inShort(result.objects)).toEqual(["created Deployment page"]);
  expect(inShort(result.consequences)).toEqual([expect.stringMatching(/^created ReplicaSet page-/)]);
  expect(result.objects[0]?.namespace).toBe("shop");
});

describe("refused objects", () => {
  test("are in the result with their reasons, and the others are shown", async () => {
    const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
    const { results, objects } = await server.preview([map("UPPER"), map("lower")]);
    expect(results.map(({ code }) => code)).toEqual([422, 201]);
    expect(results[0]?.message).toContain("metadata.name: Invalid value");
    expect(inShort(objects)).toEqual(["created ConfigMap lower"]);
  });

  test("of a user without rights, who sees nothing of others", async () => {
    await expect(server.preview(web(1), { user: "devi" })).rejects.toThrow(
      /User "devi" cannot create resource "workspacepreviews"/,
    );
    await noBranchIsLeft();
  });
});

test("a preview ends after its time if the controllers don't settle, says so and leaves no branch", async () => {
  const restless = {
    name: "restless",
    start({ client, informer, registry }: Parameters<(typeof workloadControllers)[number]["start"]>[0]) {
      const maps = informer(registry.require(ConfigMap));
      let count = 0;
      let closed = false;
      maps.listen((_, object) => {
        if (object?.metadata.name !== "counter" || closed) return;
        const { namespace = "", name = "" } = object.metadata;
        const patch = { data: { count: String(count++) } };
        const write = () => client.patch({ apiVersion: "v1", kind: "ConfigMap", namespace, name }, patch);
        setTimeout(() => void write().catch(() => undefined), 20);
      });
      return { close: () => Promise.resolve(void (closed = true)) };
    },
  };
  await using other = await createServer({
    port: false,
    runtimeConfig: "api/alpha=true",
    controllers: [restless],
  });
  const counter = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "counter" } };
  const { settled, message } = await other.preview(counter, { timeoutMs: 1000 });
  expect([settled, message]).toEqual([
    false,
    expect.stringContaining("the controllers have not settled within 1 s"),
  ]);
  const [left] = (await other.client.list(workspaces)).items;
  if (left !== undefined)
    await other.client.waitFor({ ...workspaces, name: left.metadata.name! }, (live) => live === undefined);
});

test("a preview needs no time of a manual clock, and workspaces to be served", async () => {
  await using other = await createServer({
    port: false,
    runtimeConfig: "api/alpha=true",
    clock: manualClock(),
  });
  expect(
    (await other.preview({ apiVersion: "v1", kind: "Namespace", metadata: { name: "new" } })).message,
  ).toBe("1 object changed by the operations, 1 by others");
  await using plain = await createServer({ port: false });
  await expect(plain.preview(web(1))).rejects.toThrow(/runtimeConfig: "api\/alpha=true"/);
});

test("a user has at most five previews in progress, and may make others afterwards", async () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "many", namespace: "default" } };
  const all = await Promise.allSettled(Array.from({ length: 7 }, () => server.preview(map)));
  const refused = all.filter((one) => one.status === "rejected");
  expect(refused.map(({ reason }) => reason.reason)).toEqual(["TooManyRequests", "TooManyRequests"]);
  expect((await server.preview(map)).settled).toBe(true);
});

test("the result of a preview isn't lost when its branch can't be deleted, and has a note of it", async () => {
  await using other = await createServer({
    port: false,
    runtimeConfig: "api/alpha=true",
    admissionPlugins: [
      {
        name: "KeepsBranches",
        concerns: (operation, { resource }) => operation === "DELETE" && resource.name === "workspaces",
        validate() {
          throw new StatusError("Forbidden", "branches are kept");
        },
      },
    ],
  });
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "new", namespace: "default" } };
  const { objects, notes } = await other.preview(map);
  expect(inShort(objects)).toEqual(["created ConfigMap new"]);
  expect(notes?.at(-1)).toMatch(
    /^the branch preview-\w+ couldn't be deleted, and expires by itself: .*branches are kept/,
  );
});
