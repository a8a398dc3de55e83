import { ApiClient } from "./clients/api-client.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { runAccessUser } from "./clients/access.ts";
import { runBranchUser } from "./clients/branches.ts";
import { runCounter } from "./clients/counter.ts";
import { gadgetCaches, runDefinitionUser, runGadgetUser } from "./clients/definitions.ts";
import { checkNamespaces, runNamespaceUser } from "./clients/namespaces.ts";
import { checkPods, runNodeAgent, runPodUser, type FinalDeletes } from "./clients/pods.ts";
import { prepareObjects } from "./clients/setup.ts";
import { checkLeadership } from "./laws/leadership.ts";
import { checkLogs } from "./laws/log-lines.ts";
import { watchReadiness } from "./laws/readiness.ts";
import { checkReads, checkWrites } from "./laws/recovery.ts";
import { checkAuthors, checkTransactions } from "./laws/transactions.ts";
import { checkRetention } from "./laws/retention.ts";
import { runTransactions } from "./clients/transactions.ts";
import { runGranter, viewCaches } from "./clients/views.ts";
import { runWriter, teamLabel, workNamespace, workPrefix } from "./clients/writer.ts";
import { Watcher } from "./clients/watcher.ts";
import type { Violation } from "./laws/violations.ts";
import { Faults } from "./faults/faults.ts";
import { replaceGlobals } from "./time/globals.ts";
import { World } from "./world.ts";

/** The parameters of one simulation. */
export interface SimulationOptions {
  readonly seed: number;
  readonly servers?: number | undefined;
  readonly engine?: "etcd" | "memory" | undefined;
  /** Virtual time with faults, in minutes. */
  readonly minutes: number;
  readonly traceLines: number;
  /** Ends the simulation about a minute after the first violation; by default it continues. */
  readonly endsAtViolation?: boolean | undefined;
}

/** The result of one simulation. */
export interface SimulationReport {
  readonly seed: number;
  readonly simulatedMs: number;
  readonly processorMs: number;
  /** Number of timers and messages. */
  readonly tasks: number;
  readonly revisions: number;
  readonly digest: string;
  /** Number of faults by class. */
  readonly faults: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
  readonly trace: readonly string[];
}

/** Runs the world of a seed, and checks all laws. */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const before = process.cpuUsage();
  const world = new World(options);
  const restore = replaceGlobals(world.scheduler, options.seed);
  const unhandled = (error: unknown): void =>
    world.violations.add("no unhandled rejection", String(error instanceof Error ? error.stack : error));
  process.on("unhandledRejection", unhandled);
  const faults = new Faults(world);
  try {
    await run(world, faults, options);
  } finally {
    process.off("unhandledRejection", unhandled);
    restore();
  }
  const { user, system } = process.cpuUsage(before);
  return {
    seed: options.seed,
    simulatedMs: world.scheduler.nowMs,
    processorMs: (user + system) / 1000,
    tasks: world.scheduler.tasks,
    revisions: world.history.revision,
    digest: world.trace.digest(),
    faults: Object.fromEntries(faults.counts),
    violations: world.violations.list,
    trace: world.violations.list.length > 0 ? world.trace.lines() : [],
  };
}

async function run(world: World, faults: Faults, options: SimulationOptions): Promise<void> {
  const finalDeletes: FinalDeletes = new Set();
  checkLeadership(world);
  checkLogs(world);
  checkRetention(world);
  checkPods(world, finalDeletes);
  const transactions = checkTransactions(world);
  for (const server of world.servers) server.start();
  start(world, watchReadiness(new ApiClient(world, "prober")));
  const admin = new ApiClient(world, "admin");
  await world.scheduler.runUntilSettled(prepareObjects(admin), setUpLimitMs);
  const watchers = startWatchers(world);
  const caches = [...viewCaches(world), ...gadgetCaches(world)];
  for (const cache of caches) start(world, cache.run());
  startUsers(world, finalDeletes);
  for (const actor of ["transactor-0", "transactor-1"])
    start(world, runTransactions(new ApiClient(world, actor), transactions, workNames, 20_000));
  for (let minute = 0; minute < options.minutes; minute++) {
    await world.scheduler.runUntil(world.scheduler.nowMs + minuteMs);
    if (options.endsAtViolation === true && world.violations.list.length > 0) return;
  }
  faults.stop();
  await world.scheduler.runUntil(world.scheduler.nowMs + recoveryMs);
  world.isActive = false;
  await world.scheduler.runUntilSettled(checkWrites(world), setUpLimitMs);
  await world.scheduler.runUntil(world.scheduler.nowMs + settleMs);
  const end = world.history.revision;
  await world.scheduler.runUntil(world.scheduler.nowMs + deliveryMs);
  for (const watcher of watchers) watcher.check(end);
  for (const cache of caches) cache.check(end);
  checkNamespaces(world);
  transactions.check();
  await world.scheduler.runUntilSettled(checkReads(world), setUpLimitMs);
  await world.scheduler.runUntilSettled(checkAuthors(world), setUpLimitMs);
}

function startWatchers(world: World): Watcher[] {
  const collection = { url: `/api/v1/namespaces/${workNamespace}/configmaps`, prefix: workPrefix };
  const selects = ({ metadata }: ApiObject): boolean => metadata.labels?.[teamLabel] === "a";
  const selected = { ...collection, query: `labelSelector=${teamLabel}%3Da`, selects };
  const pods = { url: "/api/v1/pods", prefix: "/core/pods/" };
  const watchers = [collection, selected, pods].map(
    (one, index) => new Watcher(new ApiClient(world, `watcher-${index}`), one),
  );
  for (const watcher of watchers) start(world, watcher.run());
  return watchers;
}

function startUsers(world: World, finalDeletes: FinalDeletes): void {
  const client = (actor: string): ApiClient => new ApiClient(world, actor);
  for (const actor of ["writer-0", "writer-1", "writer-2"])
    start(world, runWriter(client(actor), workNames, 12_000));
  for (const actor of ["pod-user-0", "pod-user-1"]) start(world, runPodUser(client(actor), 40_000));
  start(world, runNodeAgent(client("node-agent"), finalDeletes));
  start(world, runNamespaceUser(client("namespace-user"), 120_000));
  start(world, runAccessUser(client("access-user"), 60_000));
  start(world, runCounter(client("counter"), 10_000));
  start(world, runGranter(client("granter"), workNames, 20_000));
  start(world, runDefinitionUser(client("definition-user"), 45_000));
  start(world, runGadgetUser(client("gadget-user"), 4, 5_000));
  start(world, runBranchUser(client("branch-user"), workNames, 15_000));
}

/** Number of names of the objects that writers change. */
const workNames = 5;
const minuteMs = 60_000;
/** Virtual time in which servers must have started for the first time and prepared the objects, in milliseconds. */
const setUpLimitMs = 3_600_000;
/** Time from the end of the faults to the end of changes, in milliseconds: servers recover under load. */
const recoveryMs = 60_000;
/** Time for controllers to reach their fixed point, in milliseconds. */
const settleMs = 180_000;
/** Time for events to arrive, in milliseconds. */
const deliveryMs = 60_000;

/** Starts the work of an actor; an exception of the simulation's own code ends the simulation with a violation. */
function start(world: World, work: Promise<unknown>): void {
  work.catch((error: unknown) =>
    world.violations.add("the simulation works", String(error instanceof Error ? error.stack : error)),
  );
}
