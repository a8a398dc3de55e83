import { systemClock } from "../../base/time/clock.ts";
import { SeededRandom } from "../../base/seeded-random.ts";
import type { KnownObjects, ObjectsOf } from "../../kinds/typed-objects.ts";
import type { Kind } from "../../schema/kind.ts";
import type { FaultRule, FaultMatch } from "../faults/fault-rule.ts";
import { inLibraryTerms, serverOptionsOf, type CreateServerOptions } from "../options/library-options.ts";
import type { Snapshot } from "../library/snapshots.ts";
import { startServer, type Server } from "../server.ts";
import { ExploreError } from "./explore-error.ts";
import { newExploration, type Exploration } from "./exploration.ts";
import type { FiredFault } from "../faults/fired-fault.ts";

/** Options of {@link explore}. */
export interface ExploreOptions<Kinds extends readonly Kind[] = readonly []> {
  /** The schedules: a number means the seeds from 1 to this number. */
  readonly seeds: number | readonly number[];
  /**
   * The faults of a schedule. By default a few random ones that a real API server has, and often a crash: errors, lost answers, ends of
   * watches, stale lists, late and repeated events. Each should end by itself (`times`), so that the controller can complete its work.
   */
  readonly mix?: ((random: FaultRandom) => readonly FaultRule[]) | undefined;
  /** Options of the server; by default it has no socket. */
  readonly server?: CreateServerOptions<Kinds> | undefined;
  /** Brings the server into the state in which each run begins, for example `(server) => server.load("crds")`. Faults don't affect it. */
  readonly prepare?: ((server: Server<KnownObjects & ObjectsOf<Kinds>>) => unknown) | undefined;
  /** Maximum duration of one run, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Whether faults that aren't needed for the failure are left out of its message; true by default. */
  readonly shrink?: boolean | undefined;
}

/** Random choices of a schedule, the same for the same seed. */
export interface FaultRandom {
  /** Returns an integer of at least 0 and less than `limit`. */
  below(limit: number): number;
  /** Returns true with a probability from 0 to 1. */
  chance(probability: number): boolean;
  /** Returns one item of a list that isn't empty. */
  pick<T>(items: readonly T[]): T;
}

/** What {@link explore} did. */
export interface ExploreReport {
  /** Number of schedules. */
  readonly schedules: number;
  /** Number of faults that happened. */
  readonly faults: number;
  readonly durationMs: number;
}

type ExploreTest = (exploration: Exploration) => unknown;

const defaultTimeoutMs = 10_000;

/**
 * Runs a test of a controller under many random schedules of faults, each on a clean server. The seed decides the schedule, so a
 * failure can be repeated: the faults are the same if the controller makes the same requests, which is so for a controller in the
 * process that uses the clock of {@link Exploration.start}.
 *
 * @returns the number of schedules and faults.
 * @throws {ExploreError} at the first failure.
 *
 * @example
 * await explore({ seeds: 1000 }, async ({ client, start, settle }) => {
 *   start((api) => runController(api));
 *   await client.create(database);
 *   await settle();
 *   const { items } = await client.list({ apiVersion: "v1", kind: "Secret", namespace: "default" });
 *   expect(items).toHaveLength(1);
 * });
 */
export async function explore<const Kinds extends readonly Kind[] = readonly []>(
  options: ExploreOptions<Kinds>,
  test: (exploration: Exploration<KnownObjects & ObjectsOf<Kinds>>) => unknown,
): Promise<ExploreReport> {
  const startedMs = systemClock.monotonicNow();
  const seeds = seedsOf(options.seeds);
  const runner = await Runner.start(options, test as unknown as ExploreTest);
  try {
    let faults = 0;
    for (const seed of seeds) {
      const run = await runner.run(seed);
      if (run.failed !== undefined) throw await explain(runner, seed, seeds.length, run.failed, options);
      faults += run.faults;
    }
    return { schedules: seeds.length, faults, durationMs: systemClock.monotonicNow() - startedMs };
  } finally {
    await runner.close();
  }
}

function seedsOf(seeds: number | readonly number[]): readonly number[] {
  const list = typeof seeds === "number" ? Array.from({ length: seeds }, (_, index) => index + 1) : seeds;
  if (Array.isArray(list) && list.length > 0 && list.every((seed) => Number.isSafeInteger(seed))) return list;
  throw new TypeError(`seeds is a number from 1 or a list of whole numbers, not ${JSON.stringify(seeds)}`);
}

/** Runs a test on one server, which is set back after each run. */
class Runner {
  private constructor(
    private readonly server: Server,
    private readonly start: Snapshot,
    private readonly options: Omit<ExploreOptions, "server" | "prepare">,
    private readonly test: ExploreTest,
    private readonly administrators: string,
  ) {}

  static async start(
    options: Omit<ExploreOptions, "server" | "prepare"> & {
      readonly server?: unknown;
      readonly prepare?: unknown;
    },
    test: ExploreTest,
  ): Promise<Runner> {
    try {
      const settings = serverOptionsOf({ port: false, ...(options.server as CreateServerOptions) });
      const server = await startServer(settings);
      await (options.prepare as ExploreOptions["prepare"])?.(server);
      await server.faults.settle();
      return new Runner(
        server,
        server.snapshot(),
        options,
        test,
        `${settings.vocabulary.systemPrefix}masters`,
      );
    } catch (error) {
      throw inLibraryTerms(error);
    }
  }

  /** Runs the test under the schedule of a seed. @param skipped ids of faults that don't happen. */
  async run(
    seed: number,
    skipped?: ReadonlySet<string>,
  ): Promise<{ readonly failed: FailedRun | undefined; readonly faults: number }> {
    const { faults } = this.server;
    faults.begin(seed, await faults.store.latestRevision(), skipped);
    const { mix = defaultMix } = this.options;
    for (const rule of mix(new SeededRandom(`schedule ${seed}`))) faults.add(rule);
    const startMs = systemClock.now();
    const exploration = newExploration(this.server, seed, { startMs, administrators: this.administrators });
    let failed: { error: unknown } | undefined;
    try {
      await this.inTime(Promise.resolve(exploration).then(this.test));
    } catch (error) {
      failed = { error };
    }
    const fired = faults.firedInRun!;
    await this.reset();
    return { failed: failed && { ...failed, faults: fired }, faults: fired.length };
  }

  async close(): Promise<void> {
    await this.server.close();
  }

  private async inTime(run: Promise<unknown>): Promise<void> {
    const { timeoutMs = defaultTimeoutMs } = this.options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const message =
        `the test did not end in ${timeoutMs} ms (timeoutMs); ` +
        "a request of a client from before a crash never gets an answer";
      timer = setTimeout(() => reject(new Error(message)), timeoutMs);
    });
    try {
      await Promise.race([run, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Stops the controllers and sets the objects back. */
  private async reset(): Promise<void> {
    const { faults } = this.server;
    faults.stopAll();
    await faults.settle();
    for (;;) {
      await this.server.restore(this.start);
      const revision = await faults.store.latestRevision();
      await faults.settle();
      // The server's controllers may have written once more, for objects that are gone now.
      if ((await faults.store.latestRevision()) === revision) return;
    }
  }
}

/** Returns the error of a failed run, with the faults that are needed for it. */
async function explain(
  runner: Runner,
  seed: number,
  seeds: number,
  failed: FailedRun,
  { shrink = true }: Pick<ExploreOptions, "shrink">,
): Promise<ExploreError> {
  const again = async (skipped: ReadonlySet<string>) => (await runner.run(seed, skipped)).failed;
  const repeated = shrink ? await again(new Set()) : failed;
  const run = shrink && repeated !== undefined ? await withFewerFaults(repeated, again) : failed;
  const { error, faults } = run;
  const reason = error instanceof Error ? error.message : String(error);
  const needed =
    faults.length === failed.faults.length ? "" : ` (of ${failed.faults.length}, the others aren't needed)`;
  const lines = faults.map(
    ({ text, request }, index) => `  ${index + 1}. ${text} (after ${request} requests)`,
  );
  const message = [
    `seed ${seed}${seeds === 1 ? "" : ` of ${seeds}`} fails: ${reason}`,
    faults.length === 0 ? "It fails without faults." : `The faults${needed}:`,
    ...lines,
    ...(repeated === undefined
      ? ["A second run passed, so the test or its controller isn't repeatable."]
      : []),
    `To repeat it: explore({ seeds: [${seed}] }, …)`,
  ].join("\n");
  return new ExploreError(seed, faults, message, { cause: error });
}

/** The result of a run that failed. */
interface FailedRun {
  readonly error: unknown;
  readonly faults: readonly FiredFault[];
}

/** Maximum number of runs to find fewer faults. */
const maxRuns = 60;

/**
 * Finds fewer faults with which a test still fails, by leaving out one after the other.
 *
 * @param failed the run with all faults.
 * @param run repeats the test without the faults with these ids; undefined if it passes.
 * @returns the failed run with the fewest faults.
 */
async function withFewerFaults(
  failed: FailedRun,
  run: (skipped: ReadonlySet<string>) => Promise<FailedRun | undefined>,
): Promise<FailedRun> {
  let best = failed;
  let skipped: ReadonlySet<string> = new Set();
  const needed = new Set<string>();
  for (let runs = 0; runs < maxRuns; runs++) {
    const next = best.faults.findLast(({ id }) => !needed.has(id));
    if (next === undefined) return best;
    const without = new Set([...skipped, next.id]);
    const result = await run(without);
    if (result !== undefined && result.faults.length < best.faults.length) {
      best = result;
      skipped = without;
    } else needed.add(next.id);
  }
  return best;
}

const writes = ["create", "update", "patch", "delete"];
const noWatch: FaultMatch = { verbs: ["get", "list", ...writes] };

/** The faults of the default mix. All are things that a real API server does. */
const faults: readonly ((random: SeededRandom) => FaultRule)[] = [
  () => ({ on: { verbs: ["update", "patch"] }, effect: { error: 409 } }),
  () => ({ on: noWatch, effect: { error: 429 } }),
  (random) => ({ on: noWatch, effect: { error: random.pick([500, 503]) } }),
  () => ({ on: { verbs: writes }, effect: { error: 504, applied: true } }),
  (random) => ({ on: { verbs: writes }, effect: { disconnect: true, applied: random.chance(0.5) } }),
  (random) => ({ effect: { endWatch: random.pick(["closed", "expired", "disconnected"]) } }),
  () => ({ on: { verbs: ["watch"] }, effect: { error: 410 } }),
  (random) => ({ on: { verbs: ["list"] }, effect: { staleBy: 1 + random.below(8) } }),
  (random) => ({ effect: { delayEventTurns: 1 + random.below(20) } }),
  () => ({ effect: { repeatEvent: true } }),
  (random) => ({ effect: { delayTurns: 1 + random.below(10) } }),
];

/** Returns a few random faults, each of which ends by itself, and often a crash. */
function defaultMix(random: SeededRandom): FaultRule[] {
  const rules = Array.from({ length: 1 + random.below(3) }, () =>
    limited(random, random.pick(faults)(random)),
  );
  if (random.chance(0.6)) {
    const effect = { crash: random.pick(["before", "after"] as const) };
    rules.push({ after: random.below(6), times: 1 + random.below(2), effect });
  }
  return rules;
}

/** The rule with random limits. */
function limited(random: SeededRandom, rule: FaultRule): FaultRule {
  return {
    ...rule,
    after: random.below(5),
    times: 1 + random.below(3),
    probability: random.pick([0.25, 0.5, 1]),
  };
}
