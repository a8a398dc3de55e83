import { clientWaitMs } from "../../src/http/limits/fair-limiter.ts";
import { describe, expect, test } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import { configMap, ManualClock, ok, until } from "./support.ts";
import {
  schemas,
  levels,
  configMaps,
  uidHeader,
  levelHeader,
  flowSchema,
  queuing,
  rejecting,
  useFlowServer,
} from "./flow-support.ts";

const { flow, start, hold, metric, executing, waiting, annsLevel } = useFlowServer();

// One seat for a level with one share: the default levels use 245 shares.
const named = { metadata: { name: "quiet" } };
const few: CreateServerOptions = { flow: { maxReading: 200, maxChanging: 46 } };

describe("a priority level without free seats", () => {
  test("rejects with 429, Retry-After and a Status, while other users and administrators are served", async () => {
    await start(few);
    await annsLevel(rejecting("tight"));
    const held = hold("ann");
    await executing("tight");
    const ann = flow.server.as("ann");
    const refused = await ann.get(configMaps);
    expect([refused.status, refused.headers["retry-after"], refused.body.reason]).toEqual([
      429,
      "1",
      "TooManyRequests",
    ]);
    expect(refused.body.message).toBe("Too many requests, please try again later.");
    expect(refused.headers[levelHeader]).toBe((await flow.admin.get(`${levels}/tight`)).body.metadata.uid);
    expect((await flow.server.as("bob").get(configMaps)).status).toBe(200);
    expect((await flow.admin.get(configMaps)).status).toBe(200);
    expect(await metric("rejected_requests_total", "tight", "concurrency-limit")).toBe(1);
    held.finish();
    expect(await held.answer).toBe(422);
    expect((await ann.get(configMaps)).status).toBe(200);
  });

  test("queues requests, rejects those beyond the queue length, and shows both on the debug pages", async () => {
    // The pages show times: none passes.
    await start({ ...few, clock: new ManualClock() });
    await annsLevel(queuing("lined-up"));
    const held = hold("ann");
    await executing("lined-up");
    const patient = flow.server.as("ann").get(configMaps);
    await waiting("lined-up");
    expect((await flow.server.as("ann").get(configMaps)).status).toBe(429);
    const pages = "/debug/api_priority_and_fairness";
    const requests = (await ok(flow.admin.get(`${pages}/dump_requests?includeRequestDetails=1`))).text;
    expect(requests).toMatch(
      /^lined-up, +ann, +0, +0, .*, +1, +0, +0s, +ann, +list, +\/api\/v1\/namespaces\/default\/configmaps/m,
    );
    expect((await ok(flow.admin.get(`${pages}/dump_queues`))).text).toMatch(
      /^lined-up, +0, +1, .*, +1, +1, +0\.00300000ss$/m,
    );
    expect((await ok(flow.admin.get(`${pages}/dump_priority_levels`))).text).toMatch(
      /^lined-up, +1, +false, +false, +1, +1, +1, +1, +0, +0$/m,
    );
    expect((await flow.server.as("bob").get(`${pages}/dump_queues`)).status).toBe(403);
    held.finish();
    expect((await patient).status).toBe(200);
    expect(await metric("rejected_requests_total", "lined-up", "queue-full")).toBe(1);
    expect(await metric("nominal_limit_seats", "lined-up")).toBe(1);
  });

  test("gives a waiting request the seat of one whose body doesn't arrive, and drops disconnected clients from the queue", async () => {
    const clock = new ManualClock();
    await start({ ...few, clock });
    await annsLevel(queuing("lined-up"));
    const slow = hold("ann");
    await executing("lined-up");
    const patient = flow.server.as("ann").get(configMaps);
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

  test("frees the seat of a request whose body doesn't arrive, also on a level without queues", async () => {
    const clock = new ManualClock();
    await start({ ...few, clock });
    await annsLevel(rejecting("full"));
    const held = hold("ann");
    await executing("full");
    expect((await flow.server.as("ann").get(configMaps)).status).toBe(429);
    await clock.advance(clientWaitMs);
    expect((await flow.server.as("ann").get(configMaps)).status).toBe(200);
    held.leave();
  });

  test("catch-all gets the requests that match no other schema, and rejects those beyond its seats", async () => {
    await start({ ...few, clock: new ManualClock() });
    // The catch-all schema is changed to match bob only.
    const annotations = { "apf.platform.io/autoupdate-spec": "false" };
    const { rules } = flowSchema("global-default", "global-default", "bob").spec;
    await ok(flow.admin.patch(`${schemas}/global-default`, { metadata: { annotations }, spec: { rules } }));
    const seats = (await metric("nominal_limit_seats", "catch-all"))!;
    expect(seats).toBe(6);
    const held = Array.from({ length: seats }, () => hold("ann"));
    await until(
      () => metric("current_executing_requests", "catch-all"),
      (count) => count === seats,
    );
    const refused = await flow.server.as("ann").get(configMaps);
    expect([refused.status, refused.headers["retry-after"], refused.body.reason]).toEqual([
      429,
      "1",
      "TooManyRequests",
    ]);
    expect([refused.headers[uidHeader], refused.headers[levelHeader]]).toEqual([
      (await flow.admin.get(`${schemas}/catch-all`)).body.metadata.uid,
      (await flow.admin.get(`${levels}/catch-all`)).body.metadata.uid,
    ]);
    expect((await flow.server.as("bob").get(configMaps)).status).toBe(200);
    expect((await flow.admin.get(configMaps)).status).toBe(200);
    expect(await metric("rejected_requests_total", "catch-all", "concurrency-limit")).toBe(1);
    held[0]!.finish();
    expect(await held[0]!.answer).toBe(422);
    expect((await flow.server.as("ann").get(configMaps)).status).toBe(200);
    for (const one of held) one.leave();
  });

  test("a write with many watchers keeps its seats for some time after the response", async () => {
    const clock = new ManualClock();
    await start({ ...few, clock });
    await annsLevel(rejecting("tight"));
    const [ann, bob] = [flow.server.as("ann"), flow.server.as("bob")];
    const watching = await Promise.all(
      Array.from({ length: 20 }, () => bob.watch(`${configMaps}?resourceVersion=1`)),
    );
    const status = async () => (await ann.get(configMaps)).status;
    expect((await ann.post(configMaps, configMap("seen"))).status).toBe(201);
    // Two seats for half a millisecond if there are two; here one seat for one millisecond.
    expect(await metric("request_concurrency_in_use", "tight")).toBe(1);
    expect(await metric("current_executing_requests", "tight")).toBe(0);
    expect(await status()).toBe(429);
    expect((await bob.post(configMaps, configMap("bobs"))).status).toBe(201);
    await clock.advance(0.75);
    expect(await status()).toBe(429);
    await clock.advance(0.25);
    expect(await status()).toBe(200);
    // These objects have no watchers.
    expect((await ann.post("/api/v1/namespaces/default/secrets", named)).status).toBe(201);
    expect(await status()).toBe(200);
    expect((await ann.post("/api/v1/namespaces/public/configmaps", configMap("unseen"))).status).toBe(404);
    expect(await status()).toBe(200);
    // A token request changes no object.
    const account = "/api/v1/namespaces/default/serviceaccounts/quiet";
    await ok(flow.admin.post("/api/v1/namespaces/default/serviceaccounts", named));
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

  test("a watch frees its seat once it has started", async () => {
    await start(few);
    await annsLevel(rejecting("tight"));
    const ann = flow.server.as("ann");
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
