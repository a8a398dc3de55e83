import { clientWaitMs } from "../../src/http/limits/seat-release.ts";
import { request } from "node:https";
import { afterEach, describe, expect, test } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import type { Api, TestServer } from "../support/api.ts";
import { configMap, grant, ManualClock, namesIn, ok, startWithUsers, until } from "./support.ts";

const flowGroup = "/apis/flowcontrol.apiserver.platform.io/v1beta3";
const schemas = `${flowGroup}/flowschemas`;
const levels = `${flowGroup}/prioritylevelconfigurations`;
const configMaps = "/api/v1/namespaces/default/configmaps";
const uidHeader = "x-platform-pf-flowschema-uid";
const levelHeader = "x-platform-pf-prioritylevel-uid";

let server: TestServer;
let admin: Api;
const everything = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
const start = async (options: CreateServerOptions = {}) => {
  server = await startWithUsers([{ name: "ann" }, { name: "bob" }], options);
  ({ admin } = server);
  for (const name of ["ann", "bob"]) await grant(admin, name, everything);
};
afterEach(() => server.close());

const flowSchema = (name: string, level: string, user: string, fields: object = {}) => ({
  metadata: { name },
  spec: {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: 50,
    rules: [
      {
        subjects: [{ kind: "User", user: { name: user } }],
        resourceRules: [
          { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] },
        ],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      },
    ],
    ...fields,
  },
});
const rejecting = (name: string, shares = 1) => ({
  metadata: { name },
  spec: { type: "Limited", limited: { nominalConcurrencyShares: shares, limitResponse: { type: "Reject" } } },
});
const queuing = (name: string) => ({
  metadata: { name },
  spec: {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: 1,
      borrowingLimitPercent: 0,
      limitResponse: { type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } },
    },
  },
});

/** A request that holds its seat for as long as its body is missing. */
function hold(token: string) {
  const url = new URL(server.server.url!);
  const sent = request({
    host: url.hostname,
    port: url.port,
    path: configMaps,
    method: "POST",
    ca: server.server.caCertificate,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "content-length": 2 },
  });
  sent.on("error", () => undefined);
  sent.flushHeaders();
  return {
    answer: new Promise<number>((resolve) => {
      sent.once("response", (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode!));
      });
    }),
    /** The body comes; it is answered. */
    finish: () => void sent.end("{}"),
    leave: () => void sent.destroy(),
  };
}

/** The value of a metric's line with these labels. */
const metric = async (name: string, ...labels: readonly string[]) => {
  const { text } = await ok(admin.get("/metrics"));
  const line = text
    .split("\n")
    .find(
      (one) =>
        one.startsWith(`apiserver_flowcontrol_${name}{`) &&
        labels.every((label) => one.includes(`"${label}"`)),
    );
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
};
const executing = (level: string) =>
  until(
    () => metric("current_executing_requests", level),
    (count) => (count ?? 0) > 0,
  );
const waiting = (level: string) =>
  until(
    () => metric("current_inqueue_requests", level),
    (count) => (count ?? 0) > 0,
  );

/** A level of one seat for all that ann asks. */
const annsLevel = async (level: { metadata: { name: string } }) => {
  await ok(admin.post(levels, level));
  await ok(admin.post(schemas, flowSchema("ann", level.metadata.name, "ann")));
};
// One seat for a level of one share: 245 are taken by the default levels.
const named = { metadata: { name: "quiet" } };
const few: CreateServerOptions = { flow: { maxReading: 200, maxChanging: 46 } };

describe("a level without room", () => {
  test("refuses with 429, Retry-After and a Status; others and administrators go on", async () => {
    await start(few);
    await annsLevel(rejecting("tight"));
    const held = hold("ann");
    await executing("tight");
    const ann = server.as("ann");
    const refused = await ann.get(configMaps);
    expect([refused.status, refused.headers["retry-after"], refused.body.reason]).toEqual([
      429,
      "1",
      "TooManyRequests",
    ]);
    expect(refused.body.message).toBe("Too many requests, please try again later.");
    expect(refused.headers[levelHeader]).toBe((await admin.get(`${levels}/tight`)).body.metadata.uid);
    expect((await server.as("bob").get(configMaps)).status).toBe(200);
    expect((await admin.get(configMaps)).status).toBe(200);
    expect(await metric("rejected_requests_total", "tight", "concurrency-limit")).toBe(1);
    held.finish();
    expect(await held.answer).toBe(422);
    expect((await ann.get(configMaps)).status).toBe(200);
  });

  test("lets requests wait, refuses what the queue doesn't take, and shows both on the debug pages", async () => {
    await start(few);
    await annsLevel(queuing("lined-up"));
    const held = hold("ann");
    await executing("lined-up");
    const patient = server.as("ann").get(configMaps);
    await waiting("lined-up");
    expect((await server.as("ann").get(configMaps)).status).toBe(429);
    const pages = "/debug/api_priority_and_fairness";
    const requests = (await ok(admin.get(`${pages}/dump_requests?includeRequestDetails=1`))).text;
    expect(requests).toMatch(
      /^lined-up, +ann, +0, +0, .*, +1, +0, +0s, +ann, +list, +\/api\/v1\/namespaces\/default\/configmaps/m,
    );
    expect((await ok(admin.get(`${pages}/dump_queues`))).text).toMatch(
      /^lined-up, +0, +1, .*, +1, +1, +0\.00300000ss$/m,
    );
    expect((await ok(admin.get(`${pages}/dump_priority_levels`))).text).toMatch(
      /^lined-up, +1, +false, +false, +1, +1, +1, +1, +0, +0$/m,
    );
    expect((await server.as("bob").get(`${pages}/dump_queues`)).status).toBe(403);
    held.finish();
    expect((await patient).status).toBe(200);
    expect(await metric("rejected_requests_total", "lined-up", "queue-full")).toBe(1);
    expect(await metric("nominal_limit_seats", "lined-up")).toBe(1);
  });

  test("gives the seat of a request whose body doesn't come to one that waits, and forgets who left", async () => {
    const clock = new ManualClock();
    await start({ ...few, clock });
    await annsLevel(queuing("lined-up"));
    const slow = hold("ann");
    await executing("lined-up");
    const patient = server.as("ann").get(configMaps);
    await waiting("lined-up");
    await clock.advance(clientWaitMs);
    expect((await patient).status).toBe(200);
    const held = hold("ann");
    await executing("lined-up");
    const leaver = hold("ann");
    await waiting("lined-up");
    leaver.leave();
    await until(
      () => metric("rejected_requests_total", "lined-up", "cancelled"),
      (count) => count === 1,
    );
    expect(await metric("current_inqueue_requests", "lined-up")).toBe(0);
    slow.leave();
    held.leave();
    await until(
      () => metric("current_executing_requests", "lined-up"),
      (count) => count === 0,
    );
  });

  test("gives the seat of a request whose body doesn't come away too where nobody may wait", async () => {
    const clock = new ManualClock();
    await start({ ...few, clock });
    await annsLevel(rejecting("full"));
    const held = hold("ann");
    await executing("full");
    expect((await server.as("ann").get(configMaps)).status).toBe(429);
    await clock.advance(clientWaitMs);
    expect((await server.as("ann").get(configMaps)).status).toBe(200);
    held.leave();
  });

  test("catch-all takes what no other schema is about, and what it has no seats for is refused", async () => {
    await start({ ...few, clock: new ManualClock() });
    // The schema that takes everybody is changed to take bob alone.
    const annotations = { "apf.platform.io/autoupdate-spec": "false" };
    const { rules } = flowSchema("global-default", "global-default", "bob").spec;
    await ok(admin.patch(`${schemas}/global-default`, { metadata: { annotations }, spec: { rules } }));
    const seats = (await metric("nominal_limit_seats", "catch-all"))!;
    expect(seats).toBe(6);
    const held = Array.from({ length: seats }, () => hold("ann"));
    await until(
      () => metric("current_executing_requests", "catch-all"),
      (count) => count === seats,
    );
    const refused = await server.as("ann").get(configMaps);
    expect([refused.status, refused.headers["retry-after"], refused.body.reason]).toEqual([
      429,
      "1",
      "TooManyRequests",
    ]);
    expect([refused.headers[uidHeader], refused.headers[levelHeader]]).toEqual([
      (await admin.get(`${schemas}/catch-all`)).body.metadata.uid,
      (await admin.get(`${levels}/catch-all`)).body.metadata.uid,
    ]);
    expect((await server.as("bob").get(configMaps)).status).toBe(200);
    expect((await admin.get(configMaps)).status).toBe(200);
    expect(await metric("rejected_requests_total", "catch-all", "concurrency-limit")).toBe(1);
    held[0]!.finish();
    expect(await held[0]!.answer).toBe(422);
    expect((await server.as("ann").get(configMaps)).status).toBe(200);
    for (const one of held) one.leave();
  });

  test("a change that many watchers are told of keeps its seats for a while after the answer", async () => {
    const clock = new ManualClock();
    await start({ ...few, clock });
    await annsLevel(rejecting("tight"));
    const [ann, bob] = [server.as("ann"), server.as("bob")];
    const watching = await Promise.all(
      Array.from({ length: 20 }, () => bob.watch(`${configMaps}?resourceVersion=1`)),
    );
    const status = async () => (await ann.get(configMaps)).status;
    expect((await ann.post(configMaps, configMap("seen"))).status).toBe(201);
    // Two seats for half a millisecond, where there are two: here one for a whole one.
    expect(await metric("request_concurrency_in_use", "tight")).toBe(1);
    expect(await metric("current_executing_requests", "tight")).toBe(0);
    expect(await status()).toBe(429);
    expect((await bob.post(configMaps, configMap("bobs"))).status).toBe(201);
    await clock.advance(0.75);
    expect(await status()).toBe(429);
    await clock.advance(0.25);
    expect(await status()).toBe(200);
    // Nobody watches these.
    expect((await ann.post("/api/v1/namespaces/default/secrets", named)).status).toBe(201);
    expect(await status()).toBe(200);
    expect((await ann.post("/api/v1/namespaces/public/configmaps", configMap("unseen"))).status).toBe(404);
    expect(await status()).toBe(200);
    // A token changes nothing.
    const account = "/api/v1/namespaces/default/serviceaccounts/quiet";
    await ok(admin.post("/api/v1/namespaces/default/serviceaccounts", named));
    const accounts = await Promise.all(
      Array.from({ length: 10 }, () => bob.watch("/api/v1/serviceaccounts?resourceVersion=1")),
    );
    expect((await ann.post(`${account}/token`, { spec: {} })).status).toBe(201);
    expect(await status()).toBe(200);
    for (const one of [...watching, ...accounts]) one.close();
    await until(
      async () => {
        await clock.advance(1);
        await ann.patch(`${configMaps}/seen`, { data: { key: String(clock.now()) } });
        return status();
      },
      (answered) => answered === 200,
    );
  });

  test("a watch gives its seat back once it has begun", async () => {
    await start(few);
    await annsLevel(rejecting("tight"));
    const ann = server.as("ann");
    const watching = [await ann.watch(configMaps), await ann.watch(`${configMaps}?resourceVersion=1`)];
    expect(watching.map(({ status }) => status)).toEqual([200, 200]);
    await until(
      () => metric("current_executing_requests", "tight"),
      (count) => count === 0,
    );
    expect((await ann.get(configMaps)).status).toBe(200);
    for (const one of watching) one.close();
  });
});

describe("configuration", () => {
  test("a flow schema counts from the next request on, and every answer tells of schema and level", async () => {
    await start();
    const ann = server.as("ann");
    const uidOf = async (path: string) => (await ok(admin.get(path))).body.metadata.uid as string;
    const before = await ann.get(configMaps);
    expect([before.headers[uidHeader], before.headers[levelHeader]]).toEqual([
      await uidOf(`${schemas}/global-default`),
      await uidOf(`${levels}/global-default`),
    ]);
    await ok(admin.post(schemas, flowSchema("ann", "workload-high", "ann")));
    const after = await ann.post(configMaps, configMap("a"));
    expect([after.status, after.headers[uidHeader], after.headers[levelHeader]]).toEqual([
      201,
      await uidOf(`${schemas}/ann`),
      await uidOf(`${levels}/workload-high`),
    ]);
    await ok(admin.delete(`${schemas}/ann`));
    expect((await ann.get(configMaps)).headers[uidHeader]).toBe(before.headers[uidHeader]);
  });

  test("a schema without its level is Dangling and counts nothing, until there is the level", async () => {
    await start();
    const ann = server.as("ann");
    await ok(admin.post(schemas, flowSchema("ann", "later", "ann")));
    const dangling = async () =>
      ((await admin.get(`${schemas}/ann`)).body.status.conditions ?? []).find(
        ({ type }: { type: string }) => type === "Dangling",
      );
    const missing = await until(dangling, (one) => one?.status === "True");
    expect([missing.reason, missing.message]).toEqual(["NotFound", expect.stringContaining('"later"')]);
    const own = (await admin.get(`${schemas}/ann`)).body.metadata.uid;
    expect((await ann.get(configMaps)).headers[uidHeader]).not.toBe(own);
    await ok(admin.post(levels, rejecting("later")));
    expect((await ann.get(configMaps)).headers[uidHeader]).toBe(own);
    expect((await until(dangling, (one) => one?.status === "False")).reason).toBe("Found");
    await ok(admin.delete(`${levels}/later`));
    await until(dangling, (one) => one?.status === "True");
  });

  test("mandatory objects come back, suggested ones are kept up unless their annotation says otherwise", async () => {
    await start();
    const annotation = "apf.platform.io/autoupdate-spec";
    const gone = (await ok(admin.delete(`${levels}/catch-all`))).body;
    const back = await until(
      () => admin.get(`${levels}/catch-all`),
      ({ status }) => status === 200,
    );
    expect(back.body.metadata.uid).not.toBe(gone.metadata?.uid ?? gone.details?.uid);
    expect(back.body.metadata.annotations[annotation]).toBe("true");
    const system = `${levels}/system`;
    const shares = { spec: { limited: { nominalConcurrencyShares: 77 } } };
    const sharesNow = async () =>
      (await admin.get(system)).body.spec.limited.nominalConcurrencyShares as number;
    await ok(admin.patch(system, shares));
    await until(sharesNow, (now) => now === 30);
    await ok(admin.patch(system, { metadata: { annotations: { [annotation]: "false" } }, ...shares }));
    await ok(admin.delete(`${levels}/leader-election`));
    await until(
      () => admin.get(`${levels}/leader-election`),
      ({ status }) => status === 200,
    );
    expect(await sharesNow()).toBe(77);
  });
});

describe.each([
  ["platform", "platform.io", "platform-system-service-accounts", "controller-manager", "x-platform-pf"],
  ["kubernetes", "k8s.io", "kube-system-service-accounts", "kube-controller-manager", "x-kubernetes-pf"],
] as const)("the %s names", (vocabulary, suffix, accounts, manager, header) => {
  test("of the objects that a server begins with, and of headers", async () => {
    server = await startWithUsers([], { vocabulary });
    const group = `/apis/flowcontrol.apiserver.${suffix}/v1beta3`;
    const found = await ok(server.admin.get(`${group}/flowschemas`));
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
    expect(namesIn(await ok(server.admin.get(`${group}/prioritylevelconfigurations`)))).toEqual([
      "catch-all",
      "exempt",
      "global-default",
      "leader-election",
      "node-high",
      "system",
      "workload-high",
      "workload-low",
    ]);
    const exempt = (await server.admin.get(`${group}/flowschemas/exempt`)).body.metadata.uid;
    expect(found.headers[`${header}-flowschema-uid`]).toBe(exempt);
  });
});

describe("without priority and fairness", () => {
  test("reading and changing requests have limits of their own, which administrators and watches don't have", async () => {
    await start({ flow: { fair: false, maxReading: 1, maxChanging: 1 } });
    const held = hold("ann");
    const bob = server.as("bob");
    const refused = await until(
      () => bob.post(configMaps, configMap("b")),
      ({ status }) => status === 429,
    );
    expect([refused.headers["retry-after"], refused.body.reason]).toEqual(["1", "TooManyRequests"]);
    expect(refused.headers[uidHeader]).toBeUndefined();
    expect((await bob.get(configMaps)).status).toBe(200);
    expect((await admin.post(configMaps, configMap("c"))).status).toBe(201);
    const watching = [await bob.watch(configMaps), await bob.watch(configMaps)];
    expect((await bob.get(configMaps)).status).toBe(200);
    for (const one of watching) one.close();
    held.finish();
    expect(await held.answer).toBe(422);
    expect((await bob.post(configMaps, configMap("d"))).status).toBe(201);
    expect((await admin.get("/debug/api_priority_and_fairness/dump_queues")).status).toBe(404);
  });

  test("the feature gate turns it off too, and the group need not be served", async () => {
    await start({ featureGates: "APIPriorityAndFairness=false" });
    expect((await server.as("ann").get(configMaps)).headers[uidHeader]).toBeUndefined();
    await server.close();
    await start({ runtimeConfig: "flowcontrol.apiserver.platform.io/v1beta3=false" });
    expect((await server.as("ann").get(configMaps)).status).toBe(200);
    expect(await metric("dispatched_requests_total", "global-default")).toBe(1);
  });
});

test("seats that come to nothing are refused at the start", async () => {
  await start();
  await expect(startWithUsers([], { flow: { maxReading: 0, maxChanging: 0 } })).rejects.toThrow(
    /flow.maxReading and flow.maxChanging/,
  );
});
