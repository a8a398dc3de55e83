import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { Registry } from "../../src/resources/registry/registry.ts";
import type { HealthCheck } from "../../src/http/documents/health.ts";
import { healthChecks } from "../../src/server/health/health-checks.ts";
import { StoredNodeNeeds } from "../../src/authorization/node/stored-node-needs.ts";
import { StoredRbac } from "../../src/authorization/rbac/stored-rbac.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { settle } from "../api/support.ts";
import { UnsteadyStore } from "../support/unsteady-store.ts";

const life = { synced: true, published: true, bootstrapped: true, stopping: false };
const registry = new Registry(builtInKinds, platform, () => true);
const steady = { sync: () => undefined };

interface Followed {
  start(): Promise<void>;
  sync(): void | Promise<void>;
  close(): void;
}

const followers = [
  {
    what: "roles and bindings",
    check: "rbac-sync",
    make: ({ shown, clock }: UnsteadyStore, failed: (error: unknown) => void): Followed =>
      new StoredRbac(shown, platform, clock, failed),
    sources: (policy: Followed) => ({ policy, needs: undefined }),
  },
  {
    what: "what nodes need",
    check: "node-graph-sync",
    make: ({ shown, clock }: UnsteadyStore, failed: (error: unknown) => void): Followed =>
      new StoredNodeNeeds(shown, registry, clock, failed),
    sources: (needs: Followed) => ({ policy: steady, needs }),
  },
] as const;

describe.each(followers)("C-4.11-03 while $what can't be followed", ({ what, check, make, sources }) => {
  let unsteady: UnsteadyStore;
  let followed: Followed;
  const logged: unknown[] = [];

  const failing = async (endpoint: "healthz" | "livez" | "readyz") => {
    const checks: readonly HealthCheck[] = healthChecks({
      ...sources(followed),
      store: unsteady.shown,
      life,
      vocabulary: platform,
      clock: unsteady.clock,
      livezGracePeriodMs: 0,
    })[endpoint];
    const results = await Promise.all(checks.map(async ({ name, check }) => [name, await check()] as const));
    return Object.fromEntries(results.filter(([, problem]) => problem !== undefined));
  };

  beforeEach(async () => {
    unsteady = new UnsteadyStore();
    logged.length = 0;
    followed = make(unsteady, (error) => logged.push(error));
    await followed.start();
  });
  afterEach(() => followed.close());

  test("the server is not ready, but lives; when they can be again, it is ready again", async () => {
    expect(await failing("readyz")).toEqual({});
    unsteady.away = true;
    unsteady.endSubscription();
    await settle();
    expect(await failing("readyz")).toEqual({ [check]: `${what} can't be followed` });
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
    expect(await problems).toEqual({ [check]: "no answer within 2000 ms" });
    answer();
    await settle();
    expect(await failing("readyz")).toEqual({});
  });
});
