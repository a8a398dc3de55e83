import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventRateLimit, readEventLimits } from "../../src/admission/plugins/event-rate-limit.ts";
import { Event } from "../../src/kinds/core/event.ts";
import type { AdmissionRequest } from "../../src/resources/engine/engine.ts";
import { Registry } from "../../src/resources/registry/registry.ts";
import { decodeConfiguration } from "../../src/schema/configuration.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const apiVersion = "eventratelimit.admission.platform.io/v1alpha1";
const configured = (limits: unknown) => ({ kind: "Configuration", apiVersion, limits });
const read = (value: unknown, vocabulary = platform) =>
  readEventLimits(
    { read: async (form) => decodeConfiguration(value, form), readPlain: async () => value },
    vocabulary,
  );

describe("the limits", () => {
  test("C-4.13-45 are a Configuration of eventratelimit.admission.<domain>/v1alpha1", async () => {
    const { value } = await read(
      configured([
        { type: "Server", qps: 10, burst: 20 },
        { type: "User", qps: 1, burst: 2, cacheSize: 3 },
      ]),
    );
    expect(value).toEqual([
      { type: "Server", perSecond: 10, burst: 20, cacheSize: 4096 },
      { type: "User", perSecond: 1, burst: 2, cacheSize: 3 },
    ]);
    const theirs = {
      ...configured([{ type: "Server", qps: 1, burst: 2 }]),
      apiVersion: "eventratelimit.admission.k8s.io/v1alpha1",
    };
    expect((await read(theirs, kubernetes)).value).toHaveLength(1);
    await expect(read(theirs)).rejects.toThrow('found "Configuration" of "eventratelimit.admission.k8s.io');
    await expect(read({ ...configured([]), kind: "Limits" })).rejects.toThrow(
      `found "Limits" of "${apiVersion}", expected "Configuration" of "${apiVersion}"`,
    );
  });

  test.each<[string, unknown, string]>([
    ["absent limits", undefined, "limits: Required value: at least one limit"],
    ["an empty list of limits", [], "limits: Required value: at least one limit"],
    [
      "a limit of an unknown type",
      [{ type: "Node", qps: 1, burst: 1 }],
      'limits[0].type: Unsupported value: "Node": supported values: "Server", "Namespace", "User", "SourceAndObject"',
    ],
    [
      "a limit without qps",
      [{ type: "Server", burst: 1 }],
      "limits[0].qps: Invalid value: 0: must be positive",
    ],
    [
      "a limit without burst",
      [{ type: "Server", qps: 1 }],
      "limits[0].burst: Invalid value: 0: must be positive",
    ],
    [
      "a negative cacheSize",
      [
        { type: "Server", qps: 1, burst: 1 },
        { type: "User", qps: 1, burst: 1, cacheSize: -1 },
      ],
      "limits[1].cacheSize: Invalid value: -1: must not be negative",
    ],
  ])("%s: rejected with an error that names the field", async (_, limits, message) => {
    await expect(read(configured(limits))).rejects.toThrow(message);
  });
});

describe("C-4.13-44 events are limited", () => {
  const registry = new Registry([Event], platform, () => true);
  const clock = new ManualClock();

  interface Asked {
    readonly namespace?: string;
    readonly user?: string;
    readonly about?: string;
    readonly component?: string;
    readonly dryRun?: boolean;
    readonly operation?: AdmissionRequest["operation"];
  }

  /** The message of the last rejection. */
  let refusal = "";
  beforeEach(() => (refusal = ""));

  /** Returns a function that returns whether one more event is allowed. */
  async function gate(...limits: object[]): Promise<(asked?: Asked) => boolean> {
    const plugin = eventRateLimit((await read(configured(limits))).value, clock);
    return ({
      namespace = "default",
      user = "ana",
      about = "pod",
      component = "agent",
      dryRun = false,
      operation = "CREATE",
    } = {}) => {
      const target = { resource: registry.require(Event), namespace, name: "it", subresource: "" };
      const involvedObject = { kind: "Pod", namespace, name: about };
      const object = { metadata: {}, involvedObject, source: { component, host: "node-1" } };
      try {
        void plugin.validate!({
          operation,
          target,
          user: { name: user },
          dryRun,
          object,
          live: undefined,
        } as never);
        return true;
      } catch (error) {
        expect(error).toMatchObject({ reason: "TooManyRequests" });
        refusal = (error as Error).message;
        return false;
      }
    };
  }

  test("to the burst at first and to the rate afterwards", async () => {
    const admit = await gate({ type: "Server", qps: 2, burst: 3 });
    expect([admit(), admit(), admit(), admit()]).toEqual([true, true, true, false]);
    await clock.advance(500);
    expect([admit(), admit()]).toEqual([true, false]);
    await clock.advance(60_000);
    expect([admit(), admit(), admit(), admit()]).toEqual([true, true, true, false]);
  });

  test.each<[string, Asked]>([
    ["Namespace", { namespace: "other" }],
    ["User", { user: "bela" }],
    ["SourceAndObject", { about: "other" }],
    ["SourceAndObject", { component: "scheduler" }],
  ])("by %s", async (type, other) => {
    const admit = await gate({ type, qps: 1, burst: 1 });
    expect(admit()).toBe(true);
    expect(admit()).toBe(false);
    expect(admit(other)).toBe(true);
    expect(admit(other)).toBe(false);
    expect(admit()).toBe(false);
  });

  test("long keys are distinguished by a hash, which replaces them in the message", async () => {
    const admit = await gate({ type: "SourceAndObject", qps: 1, burst: 1 });
    const long = "x".repeat(100_000);
    expect([admit({ about: `${long}a` }), admit({ about: `${long}b` })]).toEqual([true, true]);
    expect(refusal).toBe("");
    expect(admit({ about: `${long}a` })).toBe(false);
    expect(refusal).toMatch(
      /^Too many requests: limit reached on type SourceAndObject for key [0-9a-f]{64}$/,
    );
  });

  test("by Server regardless of user, namespace and object", async () => {
    const admit = await gate({ type: "Server", qps: 1, burst: 1 });
    expect(admit()).toBe(true);
    expect(admit({ namespace: "other", user: "bela", about: "other", component: "scheduler" })).toBe(false);
  });

  test("by all limits together when several are configured", async () => {
    const admit = await gate({ type: "User", qps: 1, burst: 1 }, { type: "Namespace", qps: 1, burst: 2 });
    expect([admit(), admit(), admit({ user: "bela" })]).toEqual([true, false, false]);
    expect(admit({ user: "bela", namespace: "other" })).toBe(false);
    expect(admit({ user: "cleo", namespace: "other" })).toBe(true);
  });

  test("the least recently used key is evicted when the cache exceeds cacheSize", async () => {
    const admit = await gate({ type: "User", qps: 1, burst: 1, cacheSize: 2 });
    expect([admit(), admit({ user: "bela" }), admit()]).toEqual([true, true, false]);
    expect(admit({ user: "cleo" })).toBe(true);
    expect(admit()).toBe(false);
    expect(admit({ user: "bela" })).toBe(true);
  });

  test("creates and updates count, deletions and dry runs do not", async () => {
    const admit = await gate({ type: "Server", qps: 1, burst: 1 });
    expect([admit({ dryRun: true }), admit({ dryRun: true })]).toEqual([true, true]);
    expect(admit({ operation: "DELETE" })).toBe(true);
    expect(admit({ operation: "UPDATE" })).toBe(true);
    expect(admit()).toBe(false);
    expect([admit({ dryRun: true }), admit({ operation: "DELETE" })]).toEqual([true, true]);
  });
});

describe("a server", () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const file = path.join(folder.path, "admission.json");
  writeFileSync(
    file,
    JSON.stringify({
      kind: "AdmissionConfiguration",
      apiVersion: "apiserver.config.platform.io/v1",
      plugins: [
        {
          name: "EventRateLimit",
          configuration: configured([{ type: "Namespace", qps: 1, burst: 2 }]),
        },
      ],
    }),
  );
  const path1 = "/api/v1/namespaces/default/events";
  const path2 = "/apis/events.platform.io/v1/namespaces/default/events";
  const event = (name: string) => ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name },
    involvedObject: { kind: "Pod", namespace: "default", name: "pod" },
  });
  const newer = (name: string) => ({
    apiVersion: "events.platform.io/v1",
    kind: "Event",
    metadata: { name },
    regarding: { kind: "Pod", namespace: "default", name: "pod" },
    eventTime: "2024-01-01T00:00:00.000000Z",
    reportingController: "example.com/agent",
    reportingInstance: "agent-1",
    action: "Started",
    reason: "Starting",
    type: "Normal",
  });
  const servers: TestServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });
  async function start(options: object): Promise<TestServer> {
    const server = await TestServer.start({ clock: new ManualClock(), ...options });
    servers.push(server);
    return server;
  }

  test("returns 429 with Retry-After for both Event groups and does not limit other resources", async () => {
    const { admin } = await start({
      enabledAdmissionPlugins: ["EventRateLimit"],
      admissionConfigurationFile: file,
    });
    expect((await admin.post(`${path1}?dryRun=All`, event("none"))).status).toBe(201);
    expect((await admin.post(path1, event("one"))).status).toBe(201);
    expect((await admin.post(path2, newer("two"))).status).toBe(201);
    for (const answer of [
      await admin.post(path1, event("three")),
      await admin.post(path2, newer("three")),
      await admin.patch(`${path1}/one`, { message: "again" }),
    ]) {
      expect(answer.status).toBe(429);
      expect(answer.headers["retry-after"]).toBe("1");
      expect(answer.body).toMatchObject({
        reason: "TooManyRequests",
        message: "Too many requests: limit reached on type Namespace for key default",
        details: { retryAfterSeconds: 1 },
      });
    }
    expect((await admin.get(`${path1}/three`)).status).toBe(404);
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "map" } };
    expect((await admin.post("/api/v1/namespaces/default/configmaps", map)).status).toBe(201);
    expect((await admin.delete(`${path1}/one`)).status).toBe(200);
  });

  test("C-4.13-43 limits no event unless the plugin is enabled, even if it is configured", async () => {
    for (const options of [
      { admissionConfigurationFile: file },
      {
        admissionConfigurationFile: file,
        enabledAdmissionPlugins: ["EventRateLimit"],
        disabledAdmissionPlugins: ["EventRateLimit"],
      },
    ]) {
      const { admin } = await start(options);
      for (const name of ["a", "b", "c", "d"])
        expect((await admin.post(path1, event(name))).status).toBe(201);
    }
  });

  test("does not start when the plugin is enabled without configuration", async () => {
    await expect(start({ enabledAdmissionPlugins: ["EventRateLimit"] })).rejects.toThrow(
      "admission plugin EventRateLimit: it needs a configuration",
    );
  });
});
