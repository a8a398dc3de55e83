import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FaultEffect } from "../../../src/index.ts";
import { useServer } from "../../support/use-server.ts";
import { deleteConfigMaps, inProcess, newConfigMap, overHttp, type Driver } from "./support.ts";

const started = useServer({ users: [{ name: "operator", groups: ["system:masters"] }] });
const reference = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" } as const;
const find = (name: string) => started.server.client.find({ ...reference, name });
const create = (name: string) => started.server.client.create(newConfigMap(name));

afterEach(async () => {
  started.server.faults.clear();
  started.server.faults.restart("operator");
  await deleteConfigMaps(started.server);
});

const transports: Record<string, () => Driver> = {
  "a client in the process": () => inProcess(started.server.as("operator", ["system:masters"])),
  "a client over HTTP": () => overHttp(started.as("operator")),
};

describe.each(Object.entries(transports))("faults of %s", (transport, connect) => {
  let driver: Driver;
  const add = (effect: FaultEffect, rule: object = {}) =>
    started.server.faults.add({ on: { user: "operator" }, times: 1, effect, ...rule });

  beforeEach(() => {
    // The first use of the faults enables them.
    started.server.faults.clear();
    driver = connect();
  });

  test.each([
    [409, "update", "Conflict"],
    [409, "create", "AlreadyExists"],
    [410, "list", "Expired"],
    [429, "get", "TooManyRequests"],
    [500, "get", "InternalError"],
    [503, "delete", "ServiceUnavailable"],
    [504, "update", "Timeout"],
  ] as const)("answer %d to a %s with reason %s, and change nothing", async (error, verb, reason) => {
    const before = await create("a");
    const rule = add({ error });
    const calls = {
      get: () => driver.get("a"),
      list: () => driver.list(),
      create: () => driver.create("b"),
      update: () => driver.update({ ...before, data: { changed: "yes" } } as never),
      delete: () => driver.delete("a"),
    };
    await expect(calls[verb]()).rejects.toMatchObject({ reason, code: error });
    expect(rule.count).toBe(1);
    expect(await find("a")).toEqual(before);
    expect(await find("b")).toBeUndefined();
    await expect(calls[verb]()).resolves.toBeDefined();
  });

  test("tell with 429 when to retry", async () => {
    add({ error: 429, retryAfterSeconds: 7 });
    const error: unknown = await driver.list().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ details: { retryAfterSeconds: 7 } });
    if (transport.includes("HTTP")) expect(error).toMatchObject({ retryAfter: "7" });
  });

  test("carry out the write and lose its answer when the effect is applied", async () => {
    add({ error: 504, applied: true });
    await expect(driver.create("a")).rejects.toMatchObject({ reason: "Timeout" });
    expect(await find("a")).toBeDefined();
    await expect(driver.create("a")).rejects.toMatchObject({ reason: "AlreadyExists" });
  });

  test("lose the answer also if it would be an error", async () => {
    add({ error: 504, applied: true });
    await expect(driver.get("missing")).rejects.toMatchObject({ reason: "Timeout" });
    await expect(driver.get("missing")).rejects.toMatchObject({ reason: "NotFound" });
  });

  test.each([
    [false, "without"],
    [true, "with"],
  ])("end the connection without an answer (applied: %s), %s the write", async (applied) => {
    add({ disconnect: true, applied });
    await expect(driver.create("a")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await find("a")) !== undefined).toBe(applied);
    await expect(driver.list()).resolves.toBeDefined();
  });

  test("delay a request by time and by turns", async () => {
    add({ delayMs: 30 });
    const startMs = performance.now();
    await driver.create("a");
    expect(performance.now() - startMs).toBeGreaterThan(25);
    const rule = add({ delayTurns: 3 });
    await driver.create("b");
    expect(rule.count).toBe(1);
    expect(await find("b")).toBeDefined();
  });

  test("list and get the state some revisions ago, with its resource version", async () => {
    const { metadata } = await create("a");
    await create("b");
    await started.server.client.patch({ ...reference, name: "a" }, { data: { changed: "yes" } });
    add({ staleBy: 2 });
    expect(await driver.list()).toEqual({ names: ["a"], resourceVersion: metadata.resourceVersion });
    add({ staleBy: 1 });
    expect(await driver.get("a")).not.toHaveProperty("data.changed");
    expect(await driver.get("a")).toHaveProperty("data.changed", "yes");
    expect((await driver.list()).names).toEqual(["a", "b"]);
  });

  test("never go back behind a list or watch of the same life", async () => {
    await create("a");
    expect((await driver.list()).names).toEqual(["a"]);
    add({ staleBy: 1000 });
    expect((await driver.list()).names).toEqual(["a"]);
    const watch = driver.watch((await driver.list()).resourceVersion);
    await started.server.faults.settle({ quietMs: 20 });
    await create("b");
    await expect.poll(() => watch.events).toEqual(["ADDED b"]);
    add({ staleBy: 1000 });
    expect((await driver.list()).names).toEqual(["a", "b"]);
    watch.close();
  });

  test("watch all events after a stale list", async () => {
    await driver.list();
    await create("a");
    await create("b");
    add({ staleBy: 1 });
    const { names, resourceVersion } = await driver.list();
    const watch = driver.watch(resourceVersion);
    await expect.poll(() => [...names, ...watch.events]).toEqual(["a", "ADDED b"]);
    watch.close();
  });

  const watchAfter = async (): Promise<ReturnType<Driver["watch"]>> => {
    const watch = driver.watch((await driver.list()).resourceVersion);
    await started.server.faults.settle({ quietMs: 20 });
    return watch;
  };

  test.each([
    ["closed", "closed"],
    ["expired", "Expired"],
    ["disconnected", "lost"],
  ] as const)("end a watch %s before the second event, so that the client sees %s", async (endWatch, end) => {
    const watch = await watchAfter();
    add({ endWatch }, { after: 1 });
    for (const name of ["a", "b", "c"]) await create(name);
    expect(await watch.end).toBe(end);
    expect(watch.events).toEqual(["ADDED a"]);
    const { names } = await driver.list();
    expect(names).toEqual(["a", "b", "c"]);
  });

  test("answer the start of a watch with 410 while lists work", async () => {
    add({ error: 410 }, { on: { user: "operator", verbs: ["watch"] } });
    const { resourceVersion } = await driver.list();
    const { end } = driver.watch(resourceVersion);
    // Over HTTP the response is no watch.
    if (!transport.includes("HTTP")) expect(await end).toBe("Expired");
    else expect(await end).toBeDefined();
    await expect(driver.list()).resolves.toBeDefined();
    expect(started.server.faults.log.map(({ text }) => text)).toEqual([
      "watch configmaps in default by operator: error 410",
    ]);
  });

  test("drop, repeat and delay single events", async () => {
    const watch = await watchAfter();
    add({ dropEvent: true }, { on: { user: "operator", name: "b" } });
    add({ repeatEvent: true }, { on: { user: "operator", name: "c" } });
    for (const name of ["a", "b", "c", "d"]) await create(name);
    await expect.poll(() => watch.events).toEqual(["ADDED a", "ADDED c", "ADDED c", "ADDED d"]);
    add({ delayEventMs: 60 });
    await create("e");
    await create("f");
    await started.server.faults.settle();
    await expect
      .poll(() => watch.events)
      .toEqual(["a", "c", "c", "d", "e", "f"].map((name) => `ADDED ${name}`));
    watch.close();
  });

  test("hold events back in order while the first of them is delayed", async () => {
    const watch = await watchAfter();
    add({ delayEventMs: 100 });
    await create("a");
    await create("b");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(watch.events).toEqual([]);
    await expect.poll(() => watch.events).toEqual(["ADDED a", "ADDED b"]);
    watch.close();
  });

  test.each(["before", "after"] as const)("crash %s the second write", async (crash) => {
    const { faults } = started.server;
    const watch = await watchAfter();
    add({ crash }, { after: 1 });
    await driver.create("a");
    await expect(driver.create("b")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await find("b")) !== undefined).toBe(crash === "after");
    const later = driver.create("c").then(
      () => "answer",
      () => "error",
    );
    const none = new Promise((resolve) => setTimeout(resolve, 50, "no answer"));
    if (transport.includes("HTTP")) expect(await later).toBe("error");
    else expect(await Promise.race([later, none])).toBe("no answer");
    expect(await find("c")).toBeUndefined();
    await create("d");
    await faults.settle();
    expect(watch.events).not.toContain("ADDED d");
    if (transport.includes("HTTP")) expect(await watch.end).toBe("lost");
    faults.restart("operator");
    await expect(connect().create("e")).resolves.toBeDefined();
    expect(await find("e")).toBeDefined();
  });

  test("call the function of a crash, which starts the controller again", async () => {
    const { faults } = started.server;
    const restarted = new Promise<string>((resolve) => {
      const { remove } = faults.onCrash("operator", async () => {
        remove();
        await connect().create("b");
        resolve("restarted");
      });
    });
    add({ crash: "before" });
    await expect(driver.create("a")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await restarted).toBe("restarted");
    expect(await find("b")).toBeDefined();
  });
});
