import { afterEach, describe, expect, test } from "vitest";
import { createServer, manualClock, type FaultEffect, type FaultRule } from "../../../src/index.ts";
import { useServer } from "../../support/use-server.ts";
import { deleteConfigMaps, newConfigMap } from "./support.ts";

const started = useServer({ port: false });
const collection = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" } as const;
const administrators = ["system:masters"];
const operator = () => started.server.as("operator", administrators);

afterEach(async () => {
  started.server.faults.clear();
  await deleteConfigMaps(started.server);
});

/** Returns which of ten lists fail. */
async function failingLists(user = "operator"): Promise<number[]> {
  const client = started.server.as(user, administrators);
  const failing: number[] = [];
  for (let index = 0; index < 10; index++) {
    await client.list(collection).catch(() => failing.push(index));
  }
  return failing;
}

describe("a rule", () => {
  const listError = { on: { verbs: ["list"] }, effect: { error: 500 } } as const;

  test.each([
    [{}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [{ after: 7 }, [7, 8, 9]],
    [{ times: 2 }, [0, 1]],
    [{ every: 4 }, [0, 4, 8]],
    [{ after: 1, every: 3, times: 2 }, [1, 4]],
    [{ probability: 0 }, []],
    [{ probability: 1 }, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
  ])("with %j fails the lists %j", async (limits, expected) => {
    const rule = started.server.faults.add({ ...listError, ...limits });
    expect(await failingLists()).toEqual(expected);
    expect(rule.count).toBe(expected.length);
    expect(started.server.faults.log).toHaveLength(expected.length);
  });

  test("with a probability makes the same choices for the same seed, and others for another", async () => {
    const { faults } = started.server;
    const run = async (seed: number) => {
      faults.clear();
      faults.seed(seed);
      faults.add({ ...listError, probability: 0.5 });
      return failingLists();
    };
    const runs = [await run(1), await run(2), await run(3)];
    expect([await run(1), await run(2), await run(3)]).toEqual(runs);
    expect(new Set(runs.map(String)).size).toBe(3);
    expect(runs.flat().length).toBeGreaterThan(5);
    expect(runs.flat().length).toBeLessThan(25);
  });

  test("counts the requests of each user by themselves", async () => {
    started.server.faults.add({ ...listError, after: 8 });
    expect(await failingLists("operator")).toEqual([8, 9]);
    expect(await failingLists("other")).toEqual([8, 9]);
  });

  test("starts its counts again with a seed", async () => {
    const rule = started.server.faults.add({ ...listError, times: 1 });
    await failingLists();
    started.server.faults.seed(1);
    expect(rule.count).toBe(0);
    expect(await failingLists()).toEqual([0]);
  });

  test("has no effect after it was removed, or after clear", async () => {
    const { faults } = started.server;
    const rule = faults.add(listError);
    rule.remove();
    expect(await failingLists()).toEqual([]);
    faults.add(listError);
    faults.clear();
    expect(await failingLists()).toEqual([]);
    expect(faults.log).toEqual([]);
  });

  test.each([
    [{ user: "other" }, []],
    [{ user: "operator" }, ["get", "create", "update"]],
    [{ verbs: ["get"] }, ["get"]],
    [{ name: "a" }, ["get", "update"]],
    [{ name: "b" }, []],
    [{ namespace: "shop" }, []],
    [{ namespace: "default", resource: "configmaps", group: "" }, ["get", "create", "update"]],
    [{ resource: "secrets" }, []],
    [{ group: "apps" }, []],
    [{ subresource: "status" }, []],
    [{ subresource: "" }, ["get", "create", "update"]],
  ])("with %j matches %j", async (on, expected) => {
    const object = await started.server.client.create(newConfigMap("a"));
    started.server.faults.add({ on, effect: { error: 500 } });
    const client = operator();
    const failing: string[] = [];
    const calls = {
      get: () => client.get({ ...collection, name: "a" }),
      create: () => client.create(newConfigMap("c")),
      update: () => client.update(object),
    };
    for (const [verb, call] of Object.entries(calls)) {
      await (call as () => Promise<unknown>)().catch(() => failing.push(verb));
    }
    expect(failing).toEqual(expected);
  });

  test("never affects the client of the test", async () => {
    started.server.faults.add({ effect: { error: 500 } });
    await expect(started.server.client.list(collection)).resolves.toBeDefined();
    await expect(operator().list(collection)).rejects.toMatchObject({ code: 500 });
  });

  test("doesn't hide that a request is forbidden", async () => {
    started.server.faults.add({ effect: { error: 500 } });
    await expect(started.server.as("nobody").list(collection)).rejects.toMatchObject({ code: 403 });
    expect(started.server.faults.log).toEqual([]);
  });

  test.each<[unknown, RegExp]>([
    [{}, /effect of a fault has one of error, .*, not undefined/],
    [{ effect: {} }, /effect of a fault has one of/],
    [{ effect: { error: 500, crash: "after" } }, /effect of a fault has one of/],
    [{ effect: { error: 418 } }, /error can't be 418/],
    [{ effect: { crash: true } }, /crash can't be true/],
    [{ effect: { delayMs: -1 } }, /delayMs can't be -1/],
    [{ effect: { endWatch: "later" } }, /endWatch can't be "later"/],
    [{ effect: { error: 500 }, times: 0 }, /times of a fault is 0, not a whole number from 1/],
    [{ effect: { error: 500 }, after: 1.5 }, /after of a fault is 1.5/],
    [{ effect: { error: 500 }, probability: 2 }, /probability of a fault is 2, not a number from 0 to 1/],
    [{ on: { verbs: ["list"] }, effect: { error: 409 } }, /verbs of a fault with error are create, .*"list"/],
    [{ effect: { error: 500 }, time: 1 }, /a fault has on, after, .*, not "time"/],
    [{ on: { verb: ["list"] }, effect: { error: 500 } }, /on of a fault has verbs, .*, not "verb"/],
    [{ on: { verbs: ["read"] }, effect: { error: 500 } }, /not "read"/],
  ])("%j is rejected", (rule, message) => {
    expect(() => started.server.faults.add(rule as FaultRule)).toThrow(TypeError);
    expect(() => started.server.faults.add(rule as FaultRule)).toThrow(message);
  });
});

describe("settle", () => {
  test("waits for a chain of requests, and reports a controller that never becomes quiet", async () => {
    const { faults } = started.server;
    const client = operator();
    let isDone = false;
    const work = async () => {
      for (let index = 0; index < 20; index++) await client.list(collection);
      isDone = true;
    };
    const done = work();
    await faults.settle();
    expect(isDone).toBe(true);
    await done;
    let stops = false;
    const endless = async () => {
      while (!stops) await client.list(collection);
    };
    const loop = endless();
    await expect(faults.settle({ maxRequests: 50 })).rejects.toThrow(
      /did not become quiet: more than 50 requests \(maxRequests\), the last list configmaps in default by operator$/,
    );
    await expect(faults.settle({ withinMs: 20 })).rejects.toThrow(
      /did not become quiet in 20 ms \(withinMs\): \d+ requests, the last list configmaps in default by operator$/,
    );
    stops = true;
    await loop;
  });

  test("throws the error of a function that is called after a crash", async () => {
    const { faults } = started.server;
    const { remove } = faults.onCrash("operator", () => {
      throw new Error("no start");
    });
    faults.crash("operator");
    await expect(faults.settle()).rejects.toThrow("no start");
    remove();
    await expect(operator().list(collection)).resolves.toBeDefined();
  });
});

test("the log names user, verb, object and effect", async () => {
  const { faults } = started.server;
  faults.add({ on: { verbs: ["create"] }, effect: { error: 504, applied: true } });
  faults.add({ on: { verbs: ["get"] }, effect: { staleBy: 2 } });
  const client = operator();
  await client.create(newConfigMap("a")).catch(() => undefined);
  await client.find({ ...collection, name: "a" });
  expect(faults.log.map(({ text }) => text)).toEqual([
    "create configmaps in default by operator: error 504 after the request was carried out",
    "get configmaps default/a by operator: staleBy 2",
  ]);
});

test.each<[FaultEffect, "update" | "create" | "list", string]>([
  [
    { error: 409 },
    "update",
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again (fault: update configmaps default/a)',
  ],
  [
    { error: 409 },
    "create",
    "an object of configmaps with this name already exists (fault: create configmaps in default)",
  ],
  [{ error: 410 }, "list", "too old resource version: 0 (fault: list configmaps in default)"],
  [
    { error: 429 },
    "update",
    "too many requests, please try again later (fault: update configmaps default/a)",
  ],
  [{ error: 500 }, "list", "Internal error occurred (fault: list configmaps in default)"],
  [{ error: 503 }, "create", "the server is currently unavailable (fault: create configmaps in default)"],
  [
    { error: 504 },
    "update",
    "the request timed out; it may have been carried out (fault: update configmaps default/a)",
  ],
  [{ disconnect: true }, "update", "the connection was lost (fault: update configmaps default/a)"],
  [
    { crash: "before" },
    "update",
    "the controller crashed before the write (fault: update configmaps default/a)",
  ],
])("the error of %j names the request %s", async (effect, verb, message) => {
  const { faults, client: own } = started.server;
  const before = await own.create(newConfigMap("a"));
  faults.add({ on: { user: "operator" }, times: 1, effect });
  const client = operator();
  const calls = {
    update: () => client.update(before),
    create: () => client.create(newConfigMap("b")),
    list: () => client.list(collection),
  };
  await expect(calls[verb]()).rejects.toMatchObject({ message });
  faults.restart("operator");
});

test.each<["closed" | "expired" | "disconnected", string]>([
  ["closed", "the server closed the watch (fault: watch configmaps default/a)"],
  ["expired", "(fault: watch configmaps default/a)"],
  ["disconnected", "the connection of the watch was lost (fault: watch configmaps default/a)"],
])("a watch that ends %s names the object of the event", async (endWatch, message) => {
  const { faults, client: own } = started.server;
  faults.add({ on: { user: "operator" }, effect: { endWatch } });
  const client = operator();
  const { resourceVersion } = await client.list(collection);
  const end = new Promise<Error>((resolve) =>
    client.watch({ ...collection, resourceVersion }, () => undefined, resolve),
  );
  await faults.settle();
  await own.create(newConfigMap("a"));
  expect((await end).message).toContain(message);
});

test("requests are recorded with the status of the fault, and with 0 without an answer", async () => {
  await using server = await createServer({ port: false, recordRequests: true });
  server.faults.add({ times: 1, effect: { error: 503 } });
  server.faults.add({ after: 1, times: 1, effect: { disconnect: true } });
  const client = server.as("operator", administrators);
  for (let index = 0; index < 3; index++) await client.list(collection).catch(() => undefined);
  expect(server.requests.filter({ user: "operator" }).map(({ status }) => status)).toEqual([503, 0, 200]);
});

test("delays follow the clock of the server, and settle that of the machine", async () => {
  const clock = manualClock();
  await using server = await createServer({ port: false, clock });
  const rule = server.faults.add({ on: { verbs: ["list"] }, effect: { delayMs: 60_000 } });
  let isDone = false;
  const list = server
    .as("operator", administrators)
    .list(collection)
    .then(() => void (isDone = true));
  await clock.advance(59_000);
  expect([rule.count, isDone]).toEqual([1, false]);
  await clock.advance(1000);
  await list;
  await server.faults.settle({ quietMs: 5 });
});
