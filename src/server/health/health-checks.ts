import type { Clock, Timer } from "../../base/clock.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { HealthCheck, HealthChecks } from "../../http/documents/health.ts";
import { StoreFullError, type Store, type StoreError } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { startHookChecks } from "../start/start-hooks.ts";

/** Where a server is in its life; the health checks read it. */
export interface Lifecycle {
  /** Indexes and informers know everything that is stored. */
  synced: boolean;
  /** The default roles and bindings are there. */
  bootstrapped: boolean;
  /** The store took no writes when they were to be written: that is retried in the background. */
  bootstrapDelayed?: boolean;
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

/** What the checks are about. */
export interface HealthSubjects extends DecisionSources {
  readonly store: Store;
  readonly life: Lifecycle;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** So long after the start `/livez` overlooks what has not begun. */
  readonly livezGracePeriodMs: number;
  /** A check a controller, which readiness takes in. */
  readonly controllers?: readonly HealthCheck[];
}

/**
 * The checks of the three endpoints (spec: conventions 4.11). Those of the reference have its names, and the store is `etcd`, whichever
 * engine it is; others are the server's own.
 */
export function healthChecks({
  store,
  policy,
  needs,
  life,
  vocabulary,
  clock,
  livezGracePeriodMs,
  controllers = [],
}: HealthSubjects): HealthChecks {
  const start = clock.monotonicNow();
  const storeCheck = atOnce(() => checkStore(store, clock));
  const base: readonly HealthCheck[] = [
    { name: "ping", check: () => undefined },
    // Lines are written at once: a server that answers isn't held up by its log.
    { name: "log", check: () => undefined },
    { name: "etcd", check: storeCheck },
    { name: "store", check: storeCheck },
  ];
  const informers: HealthCheck = {
    name: "informer-sync",
    check: () => (life.synced ? undefined : "the indexes are still being loaded"),
  };
  const hooks = startHookChecks(vocabulary, (step) => life[step], controllers);
  // Default objects that the store has no room for are retried: a restart wouldn't help.
  const livingHooks = hooks.map(({ name, awaits, check }) => ({
    name,
    check: () => (awaits === "bootstrapped" && life.bootstrapDelayed === true ? undefined : check()),
  }));
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
  const inGrace = () => clock.monotonicNow() - start < livezGracePeriodMs;
  const patiently = (one: HealthCheck): HealthCheck => ({
    name: one.name,
    check: () => (inGrace() ? undefined : one.check()),
  });
  const ready = [{ name: "etcd-readiness", check: storeCheck }, writes, informers, ...decisions];
  return {
    healthz: [...base, ...hooks],
    livez: [...base, patiently(informers), ...livingHooks.map(patiently)],
    readyz: [...base, ...ready, ...hooks, ...controllers, shutdown],
  };
}

/** A check that is made once for all who ask while it is under way. */
function atOnce(check: () => Promise<string | undefined>): () => Promise<string | undefined> {
  let underWay: Promise<string | undefined> | undefined;
  return () => (underWay ??= check().finally(() => (underWay = undefined)));
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
