import { ApiClient } from "./clients/api-client.ts";
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
  /** Virtual time with faults, in minutes. */
  readonly minutes: number;
  readonly traceLines: number;
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
    trace: world.trace.lines(),
  };
}

async function run(world: World, faults: Faults, { minutes }: SimulationOptions): Promise<void> {
  for (const server of world.servers) server.start();
  const admin = new ApiClient(world, "admin");
  await world.scheduler.runUntilSettled(createNamespace(admin, workNamespace), 600_000);
  const collection = { url: `/api/v1/namespaces/${workNamespace}/configmaps`, prefix: workPrefix };
  const selects = (object: { metadata: { labels?: Record<string, string> | undefined } }): boolean =>
    object.metadata.labels?.[teamLabel] === "a";
  const watchers = [
    new Watcher(new ApiClient(world, "watcher-0"), collection),
    new Watcher(new ApiClient(world, "watcher-1"), {
      ...collection,
      query: "labelSelector=team%3Da",
      selects,
    }),
  ];
  for (const watcher of watchers) start(world, watcher.run());
  for (const name of ["writer-0", "writer-1", "writer-2"])
    start(world, runWriter(new ApiClient(world, name), 5, 8000));
  await world.scheduler.runUntil(world.scheduler.nowMs + minutes * 60_000);
  faults.stop();
  world.isActive = false;
  const end = world.history.revision;
  await world.scheduler.runUntil(world.scheduler.nowMs + 120_000);
  for (const watcher of watchers) {
    const text = watcher.missing(end);
    if (text !== undefined) world.violations.add("watches are complete", text);
  }
}

/** Starts the work of an actor; an exception of the simulation's own code ends the simulation with a violation. */
function start(world: World, work: Promise<unknown>): void {
  work.catch((error: unknown) =>
    world.violations.add("the simulation works", String(error instanceof Error ? error.stack : error)),
  );
}

async function createNamespace(client: ApiClient, name: string): Promise<void> {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  for (;;) {
    const answer = await client.request("POST", "/api/v1/namespaces", { body });
    if (answer?.status === 201 || answer?.status === 409) return;
    await client.sleep(1000);
  }
}
