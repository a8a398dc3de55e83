import { describe, expect, test } from "vitest";
import { explore, ExploreError, type Exploration, type ExploreOptions } from "../../../src/index.ts";
import { cpuStopwatch } from "../../support/cpu-time.ts";
import { cases } from "./controllers.ts";
import { newConfigMap } from "./support.ts";
import { blockOf } from "../../support/pages.ts";

const server = { enabledControllers: ["*", "-root-ca-cert-publisher"] };
const collection = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" } as const;
const { start: startController, test: runTest } = cases["two writes of which a crash loses the second"]!;

/** Returns the error of an exploration. */
async function failure(
  options: ExploreOptions,
  run: (exploration: Exploration) => unknown,
): Promise<ExploreError> {
  const error: unknown = await explore({ server, ...options }, run).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ExploreError);
  return error as ExploreError;
}

const buggy = async (exploration: Exploration) => {
  exploration.start((client, clock) => startController(client, clock, true));
  await runTest(exploration);
};

describe("explore", () => {
  test("makes the same faults for the same seed", async () => {
    const logs = async () => {
      const texts: string[] = [];
      await explore({ seeds: 40, server }, async (exploration) => {
        exploration.start((client, clock) => startController(client, clock, false));
        await runTest(exploration);
        for (const { text, request } of exploration.faults.log) {
          texts.push(`${exploration.seed}: ${text} (${request})`);
        }
      });
      return texts;
    };
    const first = await logs();
    expect(first.length).toBeGreaterThan(20);
    expect(await logs()).toEqual(first);
  });

  test("reports the seed, the needed faults, the error and how to repeat it", async () => {
    const error = await failure({ seeds: 1000 }, buggy);
    expect(error.message).toMatch(
      /^seed \d+ of 1000 fails: the pair: \["a-key"\] instead of \["a-key","a-lock"\]\n/,
    );
    expect(error.message).toContain(error.faults[0]!.text);
    // The page shows a message of this form.
    const [first, second, third, ...rest] = blockOf("docs/faults.md", "text").trim().split("\n");
    expect(first).toMatch(/^seed \d+ of 1000 fails: /);
    expect(second).toMatch(/^The faults \(of \d+, the others aren't needed\):$/);
    expect(third).toMatch(
      /^ {2}1\. watch secrets \S+ by controller: delayEventTurns \d+ \(after \d+ requests\)$/,
    );
    const [seed] = /\d+/.exec(first!)!;
    expect(rest).toEqual([`To repeat it: explore({ seeds: [${seed}] }, …)`]);
    expect(error.message).toContain(`To repeat it: explore({ seeds: [${error.seed}] }, …)`);
    expect(error.cause).toMatchObject({ message: 'the pair: ["a-key"] instead of ["a-key","a-lock"]' });
    const again = await failure({ seeds: [error.seed] }, buggy);
    expect(again.faults.map(({ text }) => text)).toEqual(error.faults.map(({ text }) => text));
  });

  test("leaves out the faults that aren't needed, unless it shouldn't shrink", async () => {
    const mix = () => [
      { on: { verbs: ["list"] }, times: 1, effect: { error: 500 } as const },
      { after: 1, effect: { crash: "before" } as const },
    ];
    const error = await failure({ seeds: [1], mix }, buggy);
    expect(error.faults.map(({ text }) => text)).toEqual([
      "create configmaps in default by controller: crash before",
    ]);
    expect(error.message).toContain("The faults (of 2, the others aren't needed):");
    const whole = await failure({ seeds: [1], mix, shrink: false }, buggy);
    expect(whole.faults).toHaveLength(2);
  });

  test("says that a test fails without faults", async () => {
    const error = await failure({ seeds: 3, mix: () => [] }, () => {
      throw new Error("always");
    });
    expect(error.message).toBe(
      "seed 1 of 3 fails: always\nIt fails without faults.\nTo repeat it: explore({ seeds: [1] }, …)",
    );
  });

  test("says that a failure can't be repeated", async () => {
    let runs = 0;
    const error = await failure({ seeds: [7] }, () => {
      if (runs++ === 0) throw new Error("once");
    });
    expect(error.message).toContain("A second run passed, so the test or its controller isn't repeatable.");
  });

  test("gives each run a server without the objects of the others", async () => {
    const seen: string[] = [];
    await explore({ seeds: 3, server }, async ({ client, seed, server: { as }, ...rest }) => {
      expect(as).toBeTypeOf("function");
      const account = {
        apiVersion: "v1",
        kind: "ServiceAccount",
        namespace: "default",
        name: "default",
      } as const;
      const namespaces = (await client.list({ apiVersion: "v1", kind: "Namespace" })).items.length;
      const { items } = await client.list(collection);
      const { metadata } = await client.get(account);
      seen.push(`${namespaces} ${items.length} ${metadata.labels?.["seed"] ?? "no seed"}`);
      await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
      await client.create(newConfigMap(`map-${seed}`));
      await client.patch(account, { metadata: { labels: { seed: String(seed) } } });
      await rest.settle();
    });
    expect(seen).toHaveLength(3);
    expect(seen[0]).toMatch(/ 0 no seed$/);
    expect(new Set(seen).size).toBe(1);
  });

  test("moves the controllers' clock on instead of waiting, and stops the timers of a crashed controller", async () => {
    await explore({ seeds: 1, mix: () => [], server }, async ({ client, faults, start, settle }) => {
      const fired: string[] = [];
      let starts = 0;
      start((api, clock) => {
        const life = `life-${++starts}`;
        const startMs = clock.monotonicNow();
        const after = (delayMs: number) =>
          clock.setTimer(() => {
            expect(clock.monotonicNow() - startMs).toBe(delayMs);
            fired.push(`${life} after ${delayMs}`);
            void api.create(newConfigMap(life));
          }, delayMs);
        after(30_000);
        after(300_000);
        after(20_000).cancel();
        // A program that ends doesn't start new timers.
        if (starts === 1) setImmediate(() => setImmediate(() => after(1000)));
      });
      faults.crash("controller");
      const startedMs = performance.now();
      await settle();
      expect(performance.now() - startedMs).toBeLessThan(5000);
      expect(fired).toEqual(["life-2 after 30000"]);
      const { items } = await client.list(collection);
      expect(items.map(({ metadata }) => metadata.name)).toEqual(["life-2"]);
    });
  });

  test("starts a controller again that can't start, and gives up after 50 attempts", async () => {
    await explore({ seeds: 1, mix: () => [], server }, async ({ client, start, settle }) => {
      let starts = 0;
      start(async (api) => {
        if (++starts < 3) throw new Error("not yet");
        await api.create(newConfigMap("started"));
      });
      await settle();
      await client.get({ ...collection, name: "started" });
    });
    const error = await failure({ seeds: 1, mix: () => [] }, async ({ start, settle }) => {
      start(() => Promise.reject(new Error("never")));
      await settle();
    });
    expect(error.message).toContain('the controller of "controller" did not start in 50 attempts');
  });

  test("ends a run that takes too long", async () => {
    const error = await failure(
      { seeds: 1, timeoutMs: 30, shrink: false },
      () => new Promise(() => undefined),
    );
    expect(error.message).toContain("the test did not end in 30 ms (timeoutMs)");
  });

  test("runs controllers as users with their own permissions", async () => {
    await explore({ seeds: 1, mix: () => [], server }, async ({ start, settle }) => {
      const results: string[] = [];
      start((api) => api.list(collection).then(() => results.push("listed")));
      start((api) => api.list(collection).catch(({ reason }) => results.push(reason)), {
        user: "a",
        groups: [],
      });
      await settle();
      expect(results.toSorted()).toEqual(["Forbidden", "listed"]);
    });
  });

  test.each([0, [], [1.5], "1"])("rejects the seeds %j", async (seeds) => {
    await expect(explore({ seeds: seeds as never }, () => undefined)).rejects.toThrow(
      /seeds is a number from 1/,
    );
  });

  test("names a wrong option of the server", async () => {
    const options = { seeds: 1, server: { storage: { engine: "none" } } } as never;
    await expect(explore(options, () => undefined)).rejects.toMatchObject({ name: "OptionsError" });
  });

  test("runs more than 1,000 schedules a minute", async () => {
    const cpu = cpuStopwatch();
    const { schedules } = await explore({ seeds: 300, server }, async (exploration) => {
      exploration.start((client, clock) => startController(client, clock, false));
      await runTest(exploration);
    });
    expect((schedules / cpu()) * 60_000).toBeGreaterThan(1000);
  });
});

test("every run begins with what prepare created, without faults", async () => {
  const seen: unknown[] = [];
  await explore(
    {
      seeds: 3,
      prepare: ({ client }) =>
        client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } }),
    },
    async ({ client }) => {
      seen.push(
        (await client.find({ apiVersion: "v1", kind: "ConfigMap", name: "a", namespace: "default" })) !==
          undefined,
      );
      await client.delete({ apiVersion: "v1", kind: "ConfigMap", name: "a", namespace: "default" });
    },
  );
  expect(seen).toEqual([true, true, true]);
});
