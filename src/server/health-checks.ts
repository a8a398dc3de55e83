import type { Clock, Timer } from "../base/clock.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import type { HealthCheck, HealthChecks } from "../http/documents/health.ts";
import { StoreFullError, type Store, type StoreError } from "../storage/store.ts";

/** Where a server is in its life; the health checks read it. */
export interface Lifecycle {
  /** Indexes and informers know everything that is stored. */
  synced: boolean;
  /** The default roles and bindings are there. */
  bootstrapped: boolean;
  /** A stop was asked for. */
  stopping: boolean;
}

/** How long the store may take to answer a health check. */
const storeTimeoutMs = 2000;

/** What knows something that is stored; {@link Followed.sync} fails while that can't be followed. */
interface Followed {
  sync(): MaybePromise<void>;
}

/** What decisions about callers rest on. */
export interface DecisionSources {
  /** The roles and bindings. */
  readonly policy: Followed;
  /** What nodes need; undefined without the mode Node. */
  readonly needs: Followed | undefined;
}

/**
 * The checks of the three endpoints (spec: conventions 4.11).
 *
 * @param controllers a check a controller, which readiness takes in.
 */
export function healthChecks(
  store: Store,
  { policy, needs }: DecisionSources,
  life: Lifecycle,
  clock: Clock,
  livezGracePeriodMs: number,
  controllers: readonly HealthCheck[] = [],
): HealthChecks {
  const start = clock.now();
  const ping: HealthCheck = { name: "ping", check: () => undefined };
  const storeCheck: HealthCheck = { name: "store", check: () => checkStore(store, clock) };
  const informers: HealthCheck = {
    name: "informer-sync",
    check: () => (life.synced ? undefined : "the indexes are still being loaded"),
  };
  const roles: HealthCheck = {
    name: "poststarthook/rbac/bootstrap-roles",
    check: () => (life.bootstrapped ? undefined : "the default roles are still being written"),
  };
  const syncs = (name: string, what: string, followed: Followed): HealthCheck => ({
    name,
    check: () => inTime(clock, () => followed.sync(), `${what} can't be followed`),
  });
  const decisions = [
    syncs("rbac-sync", "roles and bindings", policy),
    ...(needs === undefined ? [] : [syncs("node-graph-sync", "what nodes need", needs)]),
  ];
  const writes: HealthCheck = { name: "store-writes", check: () => checkWrites(store, clock) };
  const shutdown: HealthCheck = {
    name: "shutdown",
    check: () => (life.stopping ? "the server is stopping" : undefined),
  };
  const inGrace = () => clock.now() - start < livezGracePeriodMs;
  const patiently = (one: HealthCheck): HealthCheck => ({
    name: one.name,
    check: () => (inGrace() ? undefined : one.check()),
  });
  return {
    healthz: [ping, storeCheck, roles],
    livez: [ping, storeCheck, patiently(informers), patiently(roles)],
    readyz: [ping, storeCheck, writes, informers, ...decisions, roles, ...controllers, shutdown],
  };
}

/**
 * Whether the store answers in time; else a text that says how it fails. Health is public, so what exactly is wrong with the
 * store stands in the log alone.
 */
export function checkStore(store: Store, clock: Clock): Promise<string | undefined> {
  return inTime(clock, () => store.latestRevision(), "reason withheld");
}

/** Whether writes get through, as far as the store knows without making one. */
async function checkWrites(store: Store, clock: Clock): Promise<string | undefined> {
  let obstacle: StoreError | undefined;
  const ask = async () => {
    obstacle = await store.writeObstacle();
  };
  const failure = await inTime(clock, ask, "reason withheld");
  if (failure !== undefined || obstacle === undefined) return failure;
  return obstacle instanceof StoreFullError ? "no room for writes" : "writes don't get through";
}

/** What fails: a text for an answer that doesn't come in time, `failure` for an error, undefined for nothing. */
async function inTime(clock: Clock, ask: () => unknown, failure: string): Promise<string | undefined> {
  let timer: Timer | undefined;
  const late = new Promise<string>((resolve) => {
    timer = clock.setTimer(() => resolve(`no answer within ${storeTimeoutMs} ms`), storeTimeoutMs);
  });
  const answer = Promise.resolve()
    .then(ask)
    .then(
      () => undefined,
      () => failure,
    );
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer?.cancel();
  }
}
