import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nextTurn } from "../../src/base/turns/yielding.ts";
import { serveOptions } from "../../src/cli/serve/serve-options.ts";
import { chosenControllers } from "../../src/server/controllers/controllers.ts";
import { serverOptionsOf } from "../../src/server/options/library-options.ts";
import type { ServerOptions } from "../../src/server/options/server-options.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { ManualClock, ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";

/** Age at which a workload gets its event. */
const delayMs = 10_000;

/** Waits longer than the controller needs to consider 50 objects in memory. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 500; turn++) await nextTurn();
}

const template = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web" }] },
};
const selector = { matchLabels: { app: "web" } };
const namespace = "/namespaces/default";
const podSpec = { containers: [{ name: "web", image: "web" }] };

describe.each(["platform", "kubernetes"] as const)("hints about workloads, vocabulary %s", (vocabulary) => {
  const suffix = vocabulary === "platform" ? "platform.io" : "k8s.io";
  const [system, nodeLeases] =
    vocabulary === "platform"
      ? ["platform-system", "platform-node-lease"]
      : ["kube-system", "kube-node-lease"];
  const prefix = vocabulary === "platform" ? "" : "kube-";
  const apps = `/apis/apps/v1${namespace}`;
  const kinds = [
    ["Deployment", `${apps}/deployments`, { selector, template }, "NoController"],
    ["StatefulSet", `${apps}/statefulsets`, { selector, template, serviceName: "web" }, "NoController"],
    ["DaemonSet", `${apps}/daemonsets`, { selector, template }, "NoController"],
    [
      "Job",
      `/apis/batch/v1${namespace}/jobs`,
      { template: { spec: { ...template.spec, restartPolicy: "Never" } } },
      "NoController",
    ],
    ["Pod", `/api/v1${namespace}/pods`, podSpec, "NoNode"],
  ] as const;
  let clock: ManualClock;
  let server: TestServer;
  beforeEach(async () => {
    clock = new ManualClock();
    server = await TestServer.start({ vocabulary, clock, workloadHints: true });
  });
  afterEach(() => server.close());

  interface Event {
    readonly reason: string;
    readonly message: string;
    readonly type: string;
    readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid: string };
  }
  const events = async () => {
    const { body } = await ok(server.admin.get(`/api/v1${namespace}/events`));
    return (body as { items: Event[] }).items;
  };
  /** Lets workloads reach their age and waits until the controller has considered them. */
  const age = async () => {
    await clock.advance(delayMs);
    await turns();
  };
  const create = (path: string, name: string, spec: object, metadata: object = {}) =>
    ok(server.admin.post(path, { metadata: { name, ...metadata }, spec }));
  const lease = (leaseNamespace: string, name: string, leaseDurationSeconds = 40) =>
    ok(
      server.admin.post(`/apis/coordination.${suffix}/v1/namespaces/${leaseNamespace}/leases`, {
        metadata: { name },
        spec: {
          holderIdentity: name,
          leaseDurationSeconds,
          renewTime: `${new Date(clock.now()).toISOString().slice(0, -1)}000Z`,
        },
      }),
    );

  it.each(kinds)(
    "a new %s gets one event after some seconds, which names the page to read",
    async (...row) => {
      const [kind, path, spec, reason] = row;
      const { body } = await create(path, "web", spec);
      const { uid } = (body as { metadata: { uid: string } }).metadata;
      await clock.advance(delayMs - 1);
      expect(await events()).toEqual([]);
      await age();
      expect(await events()).toMatchObject([
        { type: "Warning", reason, involvedObject: { kind, name: "web", uid } },
      ]);
      expect((await events())[0]!.message).toMatch(/docs\/pods\.md.*--workload-hints=false/);
      await age();
      expect(await events()).toHaveLength(1);
    },
  );

  it("is silent where a controller manager holds its lease, but for pods without nodes", async () => {
    await lease(system, `${prefix}controller-manager`);
    for (const [kind, path, spec] of kinds) await create(path, kind.toLowerCase(), spec);
    await age();
    expect((await events()).map(({ involvedObject: { kind } }) => kind)).toEqual(["Pod"]);
  });

  it.each([
    ["a scheduler", () => lease(system, `${prefix}scheduler`)],
    ["a node", () => lease(nodeLeases, "node-1")],
  ])("is silent about pods where %s holds its lease", async (_name, hold) => {
    await hold();
    await create(`/api/v1${namespace}/pods`, "web", podSpec);
    await age();
    expect(await events()).toEqual([]);
  });

  it("ignores a lease that was not renewed in its time", async () => {
    await lease(nodeLeases, "node-1", 5);
    await create(`/api/v1${namespace}/pods`, "web", podSpec);
    await age();
    expect(await events()).toHaveLength(1);
  });

  it("is silent about objects that something works on, that want nothing to run, or that are gone", async () => {
    const deployments = `${apps}/deployments`;
    await create(deployments, "observed", { selector, template });
    await ok(server.admin.patch(`${deployments}/observed/status`, { status: { observedGeneration: 1 } }));
    await create(deployments, "none", { selector, template, replicas: 0 });
    await create(deployments, "paused", { selector, template, paused: true });
    await create(deployments, "gone", { selector, template });
    await ok(server.admin.delete(`${deployments}/gone`));
    await create(`/apis/batch/v1${namespace}/jobs`, "suspended", {
      suspend: true,
      template: { spec: { ...podSpec, restartPolicy: "Never" } },
    });
    await create(`/api/v1${namespace}/pods`, "placed", { ...podSpec, nodeName: "node-1" });
    const { body } = await create(deployments, "paused-owner", { selector, template, paused: true });
    const { uid } = (body as { metadata: { uid: string } }).metadata;
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "paused-owner", uid, controller: true };
    await create(`/api/v1${namespace}/pods`, "owned", podSpec, { ownerReferences: [owner] });
    await age();
    expect(await events()).toEqual([]);
  });

  it("stops following a kind for a minute after more than 100 workloads that wait", async () => {
    const deployments = `${apps}/deployments`;
    for (let number = 0; number <= 100; number++) {
      await create(deployments, `none-${number}`, { selector, template, replicas: 0 });
    }
    await age();
    await create(deployments, "in-the-pause", { selector, template });
    await create(`/api/v1${namespace}/pods`, "other-kind", podSpec);
    await age();
    const named = async () => (await events()).map(({ involvedObject: { name } }) => name);
    expect(await named()).toEqual(["other-kind"]);
    await clock.advance(60_000);
    await turns();
    await create(deployments, "later", { selector, template });
    await age();
    expect((await named()).toSorted()).toEqual(["later", "other-kind"]);
  });

  it("writes at most 30 events in a minute", async () => {
    for (let number = 0; number < 40; number++)
      await create(`/api/v1${namespace}/pods`, `web-${number}`, podSpec);
    await age();
    expect(await events()).toHaveLength(30);
    await clock.advance(60_000);
    await create(`/api/v1${namespace}/pods`, "later", podSpec);
    await age();
    expect(await events()).toHaveLength(31);
  });
});

it("--workload-hints needs all controllers, and is off in the library", async () => {
  const names = (flags: Partial<ServerOptions>) =>
    chosenControllers({ ...serverOptionsOf({}), ...flags }, []).map(({ name }) => name);
  expect(names({})).not.toContain("workload-hints");
  expect(names({ workloadHints: true })).toContain("workload-hints");
  expect(names({ workloadHints: true, enabledControllers: ["*", "-namespace"] })).toContain("workload-hints");
  expect(names({ workloadHints: true, enabledControllers: ["event-expiry"] })).not.toContain(
    "workload-hints",
  );
  const flags = (...words: string[]) => serveOptions(new Map(words.map((word) => [word, "false"])), {});
  expect(names((await flags()).server)).toContain("workload-hints");
  expect(names((await flags("workload-hints")).server)).not.toContain("workload-hints");
});

it("a server that starts again over a store repeats no event and writes none about older objects", async () => {
  const clock = new ManualClock();
  const storage = createMemoryStore({ clock, retentionMs: 300_000, failed: () => undefined });
  const run = async (work: (server: TestServer) => Promise<void>) => {
    const server = await TestServer.start({ clock, storage, workloadHints: true, leaderElection: false });
    await work(server);
    await clock.advance(delayMs);
    await turns();
    const { body } = await ok(server.admin.get(`/api/v1${namespace}/events`));
    await server.close();
    return (body as { items: unknown[] }).items;
  };
  const first = await run(async (server) => {
    await ok(server.admin.post(`/api/v1${namespace}/pods`, { metadata: { name: "web" }, spec: podSpec }));
  });
  expect(first).toHaveLength(1);
  expect(await run(() => Promise.resolve())).toEqual(first);
  await storage.close();
});
