import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  AdmissionChain,
  type AdmissionPlugin,
  type SkippedRequest,
} from "../../src/admission/admission-chain.ts";
import type { FollowedObjects } from "../../src/admission/followed-objects.ts";
import {
  FollowedWebhooks,
  type FollowedConfiguration,
} from "../../src/admission/webhooks/followed-webhooks.ts";
import { StatusError } from "../../src/base/status-error.ts";
import { ConfigMap } from "../../src/kinds/core/config-map.ts";
import type { AdmissionRequest } from "../../src/resources/engine/engine.ts";
import { Registry } from "../../src/resources/registry/registry.ts";
import { WriteEffects } from "../../src/resources/writes/write.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { ok } from "../api/support.ts";
import { pluginTable } from "../../src/server/admission/plugin-table.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { pod, PODS, rejected } from "./plugins/support.ts";

describe("the chain", () => {
  const registry = new Registry([ConfigMap], platform, () => true);
  const target = { resource: registry.require(ConfigMap), namespace: "default", name: "it", subresource: "" };
  const request = {
    operation: "CREATE",
    target,
    dryRun: false,
    reinvocation: false,
    get effects() {
      return new WriteEffects();
    },
  } as unknown as AdmissionRequest;

  test("reports each called plugin and phase, including rejections, to the observer", async () => {
    let now = 0;
    const plugins: AdmissionPlugin[] = [
      { name: "Waits", concerns: () => true, mutate: async () => void (now += 2000) },
      { name: "Unconcerned", concerns: () => false, mutate: () => void (now += 1) },
      {
        name: "Refuses",
        concerns: () => true,
        validate: () => {
          throw new StatusError("Forbidden", "no");
        },
      },
      { name: "Late", concerns: () => true, validate: () => void (now += 1) },
    ];
    const chain = new AdmissionChain(plugins, () => now);
    const seen: unknown[] = [];
    chain.measure((plugin, phase, operation, isRejected, seconds) =>
      seen.push([plugin?.name, phase, operation, isRejected, seconds]),
    );
    await chain.mutate(request);
    expect(() => chain.validate(request)).toThrow("no");
    expect(seen).toEqual([
      ["Waits", "admit", "CREATE", false, 2],
      [undefined, "admit", "CREATE", false, 2],
      ["Refuses", "validate", "CREATE", true, 0],
      [undefined, "validate", "CREATE", true, 0],
    ]);
  });

  test("webhooks of both phases are read together, once for a request, while an earlier plugin waits", async () => {
    const reads: string[] = [];
    const followed = ["mutating", "validating"].map((name) => {
      const read = async () => {
        reads.push(name);
        return [];
      };
      const configurations = { in: read } as unknown as FollowedObjects<FollowedConfiguration>;
      return new FollowedWebhooks(configurations, registry);
    });
    const [mutating, validating] = followed as [FollowedWebhooks, FollowedWebhooks];
    const plugin = (name: string, of: FollowedWebhooks) => ({
      name,
      concerns: () => true,
      skips: (one: SkippedRequest) => of.matchesNone(one),
    });
    let resume = (): void => undefined;
    const wait = new Promise<void>((resolve) => (resume = resolve));
    const call = async (of: FollowedWebhooks, one: AdmissionRequest) => void (await of.matching(one));
    const chain = new AdmissionChain([
      { name: "Waits", concerns: () => true, mutate: () => wait },
      { ...plugin("Mutating", mutating), mutate: (one) => call(mutating, one) },
      { ...plugin("Validating", validating), validate: (one) => call(validating, one) },
    ]);
    const mutated = chain.mutate(request);
    expect(reads).toEqual(["mutating", "validating"]);
    resume();
    await mutated;
    await chain.validate(request);
    expect(reads).toHaveLength(2);
    await chain.mutate({ ...request });
    expect(reads).toHaveLength(4);
  });

  test("neither calls nor measures a plugin that skips the request, nor a phase that all plugins skip", async () => {
    const asked: string[] = [];
    const named = (name: string, skipped: boolean): AdmissionPlugin => ({
      name,
      concerns: () => true,
      skips: () => skipped,
      mutate: () => void asked.push(name),
      ...(skipped && { validate: () => void asked.push(`${name} validates`) }),
    });
    const chain = new AdmissionChain([
      named("a", true),
      named("b", false),
      named("c", true),
      named("d", false),
    ]);
    const seen: unknown[] = [];
    chain.measure((plugin, phase) => seen.push([plugin?.name, phase]));
    await chain.mutate(request);
    await chain.validate(request);
    expect(asked).toEqual(["b", "d"]);
    expect(seen).toEqual([
      ["b", "admit"],
      ["d", "admit"],
      [undefined, "admit"],
    ]);
  });

  test("calls the mutating plugins a second time when one of them requests reinvocation", async () => {
    const calls: unknown[] = [];
    const mutate = ({ reinvocation, effects }: AdmissionRequest) => {
      calls.push(reinvocation);
      effects.requestReinvocation();
    };
    const chain = new AdmissionChain([{ name: "Rewrites", concerns: () => true, mutate }]);
    await chain.mutate({ ...request });
    expect(calls).toEqual([false, true]);
  });

  test("gives a plugin the same state in both phases of a write and another one in the next write", async () => {
    class Calls {
      readonly phases: string[] = [];
    }
    const states = new Set<Calls>();
    const record = (phase: string) => (admitted: AdmissionRequest) => {
      const state = admitted.effects.state(Calls);
      state.phases.push(phase);
      states.add(state);
    };
    const plugin = {
      name: "Keeps",
      concerns: () => true,
      mutate: record("admit"),
      validate: record("validate"),
    };
    const chain = new AdmissionChain([plugin]);
    for (const write of [{ ...request }, { ...request }]) {
      await chain.mutate(write);
      await chain.validate(write);
    }
    expect([...states].map(({ phases }) => phases)).toEqual([
      ["admit", "validate"],
      ["admit", "validate"],
    ]);
  });

  test("calls `concerns` of a plugin once for each operation on a type", async () => {
    let asked = 0;
    const chain = new AdmissionChain([
      { name: "Counts", concerns: () => ++asked > 0, validate: () => undefined },
    ]);
    for (let turn = 0; turn < 3; turn++) {
      await chain.validate(request);
      await chain.validate({ ...request, operation: "UPDATE" } as AdmissionRequest);
    }
    expect(asked).toBe(2);
  });
});

describe("AlwaysDeny", () => {
  const folder = temporaryFolder();
  const storage = { engine: "embedded", dir: folder.path } as const;
  const maps = "/api/v1/namespaces/default/configmaps";
  let server: TestServer;

  beforeAll(async () => {
    const before = await TestServer.start({ storage, controllers: [] });
    try {
      await ok(before.admin.post(PODS, pod("there")));
      await ok(before.admin.post(maps, { metadata: { name: "there" } }));
    } finally {
      await before.close();
    }
    server = await TestServer.start({
      storage,
      controllers: [],
      enabledAdmissionPlugins: ["AlwaysDeny", "AlwaysAdmit"],
    });
  });
  afterAll(async () => {
    await server.close();
    folder.remove();
  });

  const why = "admission control is denying all modifications";
  const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "there" } };

  test("C-4.13-14 C-4.13-15 C-4.13-16 is off by default, and so is AlwaysAdmit, which admits everything and changes nothing", async () => {
    expect((await server.admin.get(`${maps}/there`)).status).toBe(200);
    expect(
      pluginTable.filter(({ name, byDefault }) => /^Always(Admit|Deny)$/.test(name) && byDefault),
    ).toEqual([]);
  });

  test("C-4.13-17 the server starts with its own objects when the store is empty", async () => {
    const empty = await TestServer.start({ enabledAdmissionPlugins: ["AlwaysDeny"] });
    try {
      expect((await empty.admin.get("/readyz")).status).toBe(200);
      const names = (await ok(empty.admin.get("/api/v1/namespaces"))).body.items.map(
        ({ metadata }: { metadata: { name: string } }) => metadata.name,
      );
      expect(names).toContain("default");
      const roles = "/apis/rbac.authorization.platform.io/v1/clusterroles";
      await ok(empty.admin.get(`${roles}/cluster-admin`));
      await rejected(empty.admin.post("/api/v1/namespaces", { metadata: { name: "new" } }), why);
    } finally {
      await empty.close();
    }
  });

  test.each<[string, () => Promise<Answer>]>([
    ["create", () => server.admin.post(maps, { metadata: { name: "new" } })],
    ["update", () => server.admin.put(`${maps}/there`, { metadata: { name: "there" }, data: { a: "b" } })],
    ["patch", () => server.admin.patch(`${maps}/there`, { data: { a: "b" } })],
    [
      "apply",
      () =>
        server.admin.ask("PATCH", `${maps}/there?fieldManager=t`, {
          contentType: "application/apply-patch+yaml",
          body: { ...applied, data: { a: "b" } },
        }),
    ],
    [
      "an apply that changes nothing",
      () =>
        server.admin.ask("PATCH", `${maps}/there?fieldManager=t`, {
          contentType: "application/apply-patch+yaml",
          body: applied,
        }),
    ],
    ["delete", () => server.admin.delete(`${maps}/there`)],
    ["deletecollection", () => server.admin.delete(maps)],
    ["a write of the status", () => server.admin.patch(`${PODS}/there/status`, { status: { message: "m" } })],
    [
      "a binding",
      () =>
        server.admin.post(`${PODS}/there/binding`, {
          metadata: { name: "there" },
          target: { kind: "Node", name: "n" },
        }),
    ],
    ["an eviction", () => server.admin.post(`${PODS}/there/eviction`, { metadata: { name: "there" } })],
    ["exec", () => server.admin.post(`${PODS}/there/exec?command=ls`, undefined)],
    ["proxy", () => server.admin.get(`${PODS}/there/proxy/`)],
    ["a dry run", () => server.admin.post(`${maps}?dryRun=All`, { metadata: { name: "new" } })],
  ])("C-4.13-02 C-4.13-04 C-4.13-17 it rejects %s", async (_what, ask) => {
    await rejected(ask(), why);
  });

  test("C-4.13-03 admission never blocks get, list, watch and the log of a pod", async () => {
    expect((await server.admin.get(`${maps}/there`)).status).toBe(200);
    expect((await server.admin.get(maps)).body.items).toHaveLength(1);
    const watch = await server.admin.watch(`${maps}?watch=true`);
    expect(watch.status).toBe(200);
    watch.close();
    expect((await server.admin.get(`${PODS}/there/log`)).status).toBe(204);
  });

  test("the metrics count the rejection", async () => {
    const { text } = await server.admin.get("/metrics");
    const counted = (name: string, labels: string) =>
      Number(new RegExp(`^${name}_count\\{${labels}\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
    const labels = 'operation="CREATE",rejected="true",type="admit"';
    expect(
      counted("apiserver_admission_controller_admission_duration_seconds", `name="AlwaysDeny",${labels}`),
    ).toBeGreaterThan(0);
    expect(counted("apiserver_admission_step_admission_duration_seconds", labels)).toBeGreaterThan(0);
    expect(text).toContain('operation="CONNECT"');
  });
});
