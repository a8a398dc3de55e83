import type { Clock, Timer } from "../../base/time/clock.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { HealthCheck, HealthChecks } from "../../http/documents/health.ts";
import { StoreFullError, type Store, type StoreError } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { startHookChecks } from "../start/start-hooks.ts";

/** The state of a server between start and stop, as the health checks see it. */
export interface Lifecycle {
  /** Indexes and informers have loaded all stored objects. */
  synced: boolean;
  /** The address is known. Not ready before: the program then writes the kubeconfig without waiting for anything. */
  published: boolean;
  /** The default objects are stored. */
  bootstrapped: boolean;
  /** The default objects couldn't be written because the store is busy; they are retried in the background. */
  bootstrapDelayed?: boolean;
  /** The server is shutting down. */
  stopping: boolean;
}

/** How long the store may take to answer a health check. */
const storeTimeoutMs = 2000;

/** A cache of stored objects; {@link Followed.sync} rejects if its watch fails. */
interface Followed {
  sync(): MaybePromise<void>;
}

/** The caches on which authorization depends. */
export interface DecisionSources {
  /** The roles and bindings. */
  readonly policy: Followed;
  /** The objects that nodes may read; undefined without the Node authorizer. */
  readonly needs: Followed | undefined;
}

/** The dependencies of the health checks. */
export interface HealthSubjects extends DecisionSources {
  readonly store: Store;
  readonly life: Lifecycle;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** Time after the start during which `/livez` passes although the start isn't finished. */
  readonly livezGracePeriodMs: number;
  /** One check per controller; they are part of readiness. */
  readonly controllers?: readonly HealthCheck[];
  /** Checks of the key management services; they aren't part of liveness, because a restart needs the services. */
  readonly encryption?: readonly HealthCheck[];
}

/**
 * Returns the checks of `/healthz`, `/livez` and `/readyz` (spec: conventions 4.11). Checks of the reference have its
 * names; the store is `etcd` for every engine. The other checks exist only in this server.
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
  encryption = [],
}: HealthSubjects): HealthChecks {
  const start = clock.monotonicNow();
  const storeCheck = shared(() => checkStore(store, clock));
  const base: readonly HealthCheck[] = [
    { name: "ping", check: () => undefined },
    // Log lines are written synchronously, so a server that responds can write its log.
    { name: "log", check: () => undefined },
    { name: "etcd", check: storeCheck },
    { name: "store", check: storeCheck },
  ];
  const informers: HealthCheck = {
    name: "informer-sync",
    check: () => {
      if (!life.synced) return "the indexes are still being loaded";
      return life.published ? undefined : "the server's address isn't published yet";
    },
  };
  const hooks = startHookChecks(vocabulary, (step) => life[step], controllers);
  // Liveness ignores default objects that are retried because the store is full: a restart wouldn't help.
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
  const afterGrace = (one: HealthCheck): HealthCheck => ({
    name: one.name,
    check: () => (inGrace() ? undefined : one.check()),
  });
  const ready = [{ name: "etcd-readiness", check: storeCheck }, writes, informers, ...decisions];
  return {
    healthz: [...base, ...encryption, ...hooks],
    livez: [...base, afterGrace(informers), ...livingHooks.map(afterGrace)],
    readyz: [...base, ...encryption, ...ready, ...hooks, ...controllers, shutdown],
  };
}

/** Returns a check that concurrent callers share while it runs. */
function shared(check: () => Promise<string | undefined>): () => Promise<string | undefined> {
  let underWay: Promise<string | undefined> | undefined;
  return () => (underWay ??= check().finally(() => (underWay = undefined)));
}

/**
 * Checks that the store answers in time. Returns undefined, or a text about the failure. Health endpoints are public,
 * so only the log has the details.
 */
export function checkStore(store: Store, clock: Clock): Promise<string | undefined> {
  return inTime(clock, () => store.latestRevision(), "reason withheld");
}

/** Checks whether the store accepts writes, without writing. */
async function checkWrites(store: Store, clock: Clock): Promise<string | undefined> {
  let obstacle: StoreError | undefined;
  const ask = async () => {
    obstacle = await store.writeObstacle();
  };
  const failure = await inTime(clock, ask, "reason withheld");
  if (failure !== undefined || obstacle === undefined) return failure;
  return obstacle instanceof StoreFullError ? "no room for writes" : "writes don't get through";
}

/** Returns undefined if `ask` succeeds in time, `failure` if it throws, and a text about the timeout otherwise. */
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
