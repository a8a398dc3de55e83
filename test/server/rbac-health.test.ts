import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HealthCheck } from "../../src/http/health.ts";
import { healthChecks } from "../../src/server/health-checks.ts";
import { StoredRbac } from "../../src/server/rbac.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { settle } from "../api/support.ts";
import { UnsteadyStore } from "../support/unsteady-store.ts";

const life = { synced: true, bootstrapped: true, stopping: false };

describe("C-4.11-03 while roles and bindings can't be followed", () => {
  let unsteady: UnsteadyStore;
  let policy: StoredRbac;
  const logged: unknown[] = [];

  const failing = async (endpoint: "healthz" | "livez" | "readyz") => {
    const checks: readonly HealthCheck[] = healthChecks(unsteady.shown, policy, life, unsteady.clock, 0)[
      endpoint
    ];
    const results = await Promise.all(checks.map(async ({ name, check }) => [name, await check()] as const));
    return Object.fromEntries(results.filter(([, problem]) => problem !== undefined));
  };

  beforeEach(async () => {
    unsteady = new UnsteadyStore();
    logged.length = 0;
    policy = new StoredRbac(unsteady.shown, platform, unsteady.clock, (error) => logged.push(error));
    await policy.start();
  });
  afterEach(() => policy.close());

  test("the server is not ready, but lives; when they can be again, it is ready again", async () => {
    expect(await failing("readyz")).toEqual({});
    unsteady.away = true;
    unsteady.endSubscription();
    await settle();
    expect(await failing("readyz")).toEqual({ "rbac-sync": "roles and bindings can't be followed" });
    expect(await failing("livez")).toEqual({});
    expect(await failing("healthz")).toEqual({});
    expect(logged).toHaveLength(1);
    unsteady.away = false;
    await unsteady.clock.advance(1000);
    expect(await failing("readyz")).toEqual({});
  });

  test("a store that doesn't answer doesn't keep the check from answering", async () => {
    let answer = () => {};
    unsteady.held = new Promise<void>((resolve) => (answer = resolve));
    unsteady.endSubscription();
    const problems = failing("readyz");
    await settle();
    await unsteady.clock.advance(2000);
    expect(await problems).toEqual({ "rbac-sync": "no answer within 2000 ms" });
    answer();
    await settle();
    expect(await failing("readyz")).toEqual({});
  });
});
