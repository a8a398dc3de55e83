import { describe, expect, test } from "vitest";
import { configMap, namesIn, ok, startWithUsers, until } from "./support.ts";
import {
  schemas,
  levels,
  configMaps,
  uidHeader,
  levelHeader,
  flowSchema,
  rejecting,
  useFlowServer,
} from "./flow-support.ts";

const { flow, start, hold, metric } = useFlowServer();

describe("flow control configuration", () => {
  test("a new flow schema applies to the next request, and every response has the uids of its schema and level", async () => {
    await start();
    const ann = flow.server.as("ann");
    const uidOf = async (path: string) => (await ok(flow.admin.get(path))).body.metadata.uid as string;
    const before = await ann.get(configMaps);
    expect([before.headers[uidHeader], before.headers[levelHeader]]).toEqual([
      await uidOf(`${schemas}/global-default`),
      await uidOf(`${levels}/global-default`),
    ]);
    await ok(flow.admin.post(schemas, flowSchema("ann", "workload-high", "ann")));
    const after = await ann.post(configMaps, configMap("a"));
    expect([after.status, after.headers[uidHeader], after.headers[levelHeader]]).toEqual([
      201,
      await uidOf(`${schemas}/ann`),
      await uidOf(`${levels}/workload-high`),
    ]);
    await ok(flow.admin.delete(`${schemas}/ann`));
    expect((await ann.get(configMaps)).headers[uidHeader]).toBe(before.headers[uidHeader]);
  });

  test("a schema without its priority level is Dangling and unused until the level exists", async () => {
    await start();
    const ann = flow.server.as("ann");
    await ok(flow.admin.post(schemas, flowSchema("ann", "later", "ann")));
    const dangling = async () =>
      ((await flow.admin.get(`${schemas}/ann`)).body.status.conditions ?? []).find(
        ({ type }: { type: string }) => type === "Dangling",
      );
    const missing = await until(dangling, (one) => one?.status === "True");
    expect([missing.reason, missing.message]).toEqual(["NotFound", expect.stringContaining('"later"')]);
    const own = (await flow.admin.get(`${schemas}/ann`)).body.metadata.uid;
    expect((await ann.get(configMaps)).headers[uidHeader]).not.toBe(own);
    await ok(flow.admin.post(levels, rejecting("later")));
    expect((await ann.get(configMaps)).headers[uidHeader]).toBe(own);
    expect((await until(dangling, (one) => one?.status === "False")).reason).toBe("Found");
    await ok(flow.admin.delete(`${levels}/later`));
    await until(dangling, (one) => one?.status === "True");
  });

  test("zero shares are kept in v1, and in v1beta3 with an annotation, from release 1.29 on", async () => {
    await start({ release: "1.30" });
    const v1 = levels.replace("v1beta3", "v1");
    const key = "flowcontrol.platform.io/v1beta3-preserve-zero-concurrency-shares";
    const level = (shares: number | undefined, annotations?: object) => ({
      metadata: { name: "l", annotations },
      spec: {
        type: "Limited",
        limited: { nominalConcurrencyShares: shares, limitResponse: { type: "Reject" } },
      },
    });
    const shown = async (path: string) => {
      const { spec, metadata } = (await ok(flow.admin.get(`${path}/l`))).body;
      return [spec.limited.nominalConcurrencyShares, metadata.annotations];
    };
    const create = async (path: string, object: object) => {
      await ok(flow.admin.post(path, object));
      const both = [await shown(v1), await shown(levels)];
      await ok(flow.admin.delete(`${path}/l`));
      return both;
    };
    expect(await create(v1, level(0))).toEqual([
      [0, undefined],
      [0, { [key]: "" }],
    ]);
    expect(await create(levels, level(0, { [key]: "", other: "x" }))).toEqual([
      [0, { other: "x" }],
      [0, { [key]: "", other: "x" }],
    ]);
    const defaults = [
      [30, undefined],
      [30, undefined],
    ];
    expect(await create(v1, level(undefined))).toEqual(defaults);
    expect(await create(levels, level(0))).toEqual(defaults);
    expect(await create(levels, level(30, { [key]: "" }))).toEqual(defaults);
    for (const path of [v1, levels]) {
      const { status, body } = await flow.admin.post(path, level(-1));
      expect([status, body.details?.causes?.[0]?.field]).toEqual([
        422,
        "spec.limited.nominalConcurrencyShares",
      ]);
    }
  });

  test("the level exempt has shares from release 1.28 on, which only an administrator changes", async () => {
    await start({ release: "1.28" });
    const exempt = `${levels}/exempt`;
    const specNow = async () => (await ok(flow.admin.get(exempt))).body.spec as { exempt: object };
    expect(await specNow()).toEqual({
      type: "Exempt",
      exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 },
    });
    const changed = { nominalConcurrencyShares: 10, lendablePercent: 50 };
    const { body } = await ok(flow.admin.patch(exempt, { spec: { exempt: changed } }));
    expect(body.spec.exempt).toEqual(changed);
    // The server restores the annotation, so it has seen the change.
    await ok(flow.admin.patch(exempt, { metadata: { annotations: null } }));
    await until(
      async () => (await flow.admin.get(exempt)).body.metadata.annotations,
      (annotations) => annotations !== undefined,
    );
    expect((await specNow()).exempt).toEqual(changed);
    const seats = async () =>
      /^apiserver_flowcontrol_nominal_limit_seats\{priority_level="exempt"\} (\d+)$/m.exec(
        (await flow.admin.get("/metrics")).text,
      )?.[1];
    // 600 seats, and 245 shares of the other levels.
    const { nominalConcurrencyShares: shares } = changed;
    await until(seats, (count) => count === String(Math.ceil((600 * shares) / (245 + shares))));
    await ok(flow.admin.patch(exempt, { spec: { exempt: null } }));
    await until(
      async () => (await specNow()).exempt,
      (shares) => shares !== undefined,
    );
    const { spec } = rejecting("both");
    const both = { metadata: { name: "both" }, spec: { ...spec, exempt: changed } };
    const refused = await flow.admin.post(levels, both);
    expect([refused.status, refused.body.details.causes[0].field]).toEqual([422, "spec.exempt"]);
  });

  test("the level exempt has no shares in release 1.26", async () => {
    await start();
    expect((await ok(flow.admin.get(`${levels}/exempt`))).body.spec).toEqual({ type: "Exempt" });
  });

  test("zero shares mean the default in release 1.26, with any annotation", async () => {
    await start();
    const annotations = { "flowcontrol.platform.io/v1beta3-preserve-zero-concurrency-shares": "" };
    const limited = { nominalConcurrencyShares: 0, limitResponse: { type: "Reject" } };
    const object = { metadata: { name: "z", annotations }, spec: { type: "Limited", limited } };
    const { body } = await ok(flow.admin.post(levels, object));
    expect([body.spec.limited.nominalConcurrencyShares, body.metadata.annotations]).toEqual([
      30,
      annotations,
    ]);
  });

  test.each(["v1beta2", "v1beta3"])("labels of mandatory levels can be changed in %s", async (version) => {
    await start();
    for (const name of ["catch-all", "exempt"]) {
      const path = `${levels.replace("v1beta3", version)}/${name}`;
      const labels = { changed: version };
      const { body } = await ok(flow.admin.patch(path, { metadata: { labels } }));
      expect(body.metadata.labels).toEqual(labels);
    }
  });

  test("mandatory objects are recreated, suggested ones are restored unless their annotation disables it", async () => {
    await start();
    const annotation = "apf.platform.io/autoupdate-spec";
    const gone = (await ok(flow.admin.delete(`${levels}/catch-all`))).body;
    const back = await until(
      () => flow.admin.get(`${levels}/catch-all`),
      ({ status }) => status === 200,
    );
    expect(back.body.metadata.uid).not.toBe(gone.metadata?.uid ?? gone.details?.uid);
    expect(back.body.metadata.annotations[annotation]).toBe("true");
    const system = `${levels}/system`;
    const shares = { spec: { limited: { nominalConcurrencyShares: 77 } } };
    const sharesNow = async () =>
      (await flow.admin.get(system)).body.spec.limited.nominalConcurrencyShares as number;
    await ok(flow.admin.patch(system, shares));
    await until(sharesNow, (now) => now === 30);
    await ok(flow.admin.patch(system, { metadata: { annotations: { [annotation]: "false" } }, ...shares }));
    await ok(flow.admin.delete(`${levels}/leader-election`));
    await until(
      () => flow.admin.get(`${levels}/leader-election`),
      ({ status }) => status === 200,
    );
    expect(await sharesNow()).toBe(77);
  });
});

describe.each([
  ["platform", "platform.io", "platform-system-service-accounts", "controller-manager", "x-platform-pf"],
  ["kubernetes", "k8s.io", "kube-system-service-accounts", "kube-controller-manager", "x-kubernetes-pf"],
] as const)("with the vocabulary %s", (vocabulary, suffix, accounts, manager, header) => {
  test("the initial objects and the response headers have the names of the vocabulary", async () => {
    flow.server = await startWithUsers([], { vocabulary });
    const group = `/apis/flowcontrol.apiserver.${suffix}/v1beta3`;
    const found = await ok(flow.server.admin.get(`${group}/flowschemas`));
    expect(namesIn(found)).toEqual(
      expect.arrayContaining([accounts, manager, "exempt", "catch-all", "probes"]),
    );
    expect(namesIn(found)).toHaveLength(13);
    const items = found.body.items as {
      metadata: { annotations: object };
      status: { conditions: object[] };
    }[];
    for (const { metadata, status } of items) {
      const domain = vocabulary === "kubernetes" ? "kubernetes.io" : suffix;
      expect(metadata.annotations).toEqual({ [`apf.${domain}/autoupdate-spec`]: "true" });
      expect(status.conditions).toEqual([expect.objectContaining({ type: "Dangling", status: "False" })]);
    }
    expect(namesIn(await ok(flow.server.admin.get(`${group}/prioritylevelconfigurations`)))).toEqual([
      "catch-all",
      "exempt",
      "global-default",
      "leader-election",
      "node-high",
      "system",
      "workload-high",
      "workload-low",
    ]);
    const exempt = (await flow.server.admin.get(`${group}/flowschemas/exempt`)).body.metadata.uid;
    expect(found.headers[`${header}-flowschema-uid`]).toBe(exempt);
  });
});

describe("with priority and fairness off", () => {
  test("reading and changing requests have separate limits, which don't apply to administrators and watches", async () => {
    await start({ flow: { fair: false, maxReading: 1, maxChanging: 1 } });
    const held = hold("ann");
    const bob = flow.server.as("bob");
    const refused = await until(
      () => bob.post(configMaps, configMap("b")),
      ({ status }) => status === 429,
    );
    expect([refused.headers["retry-after"], refused.body.reason]).toEqual(["1", "TooManyRequests"]);
    expect(refused.headers[uidHeader]).toBeUndefined();
    expect((await bob.get(configMaps)).status).toBe(200);
    expect((await flow.admin.post(configMaps, configMap("c"))).status).toBe(201);
    const watching = [await bob.watch(configMaps), await bob.watch(configMaps)];
    expect((await bob.get(configMaps)).status).toBe(200);
    for (const one of watching) one.close();
    held.finish();
    expect(await held.answer).toBe(422);
    expect((await bob.post(configMaps, configMap("d"))).status).toBe(201);
    expect((await flow.admin.get("/debug/api_priority_and_fairness/dump_queues")).status).toBe(404);
  });

  test("the feature gate turns it off too, and serving the API group is optional", async () => {
    await start({ featureGates: "APIPriorityAndFairness=false" });
    expect((await flow.server.as("ann").get(configMaps)).headers[uidHeader]).toBeUndefined();
    await flow.server.close();
    await start({ runtimeConfig: "flowcontrol.apiserver.platform.io/v1beta3=false" });
    expect((await flow.server.as("ann").get(configMaps)).status).toBe(200);
    expect(await metric("dispatched_requests_total", "global-default")).toBe(1);
  });
});

test("the start fails when both request limits are 0", async () => {
  await start();
  await expect(startWithUsers([], { flow: { maxReading: 0, maxChanging: 0 } })).rejects.toThrow(
    /flow.maxReading and flow.maxChanging/,
  );
});
