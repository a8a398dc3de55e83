import { Dice } from "../../support/dice.ts";
import type { Target } from "../target.ts";
import { Coverage } from "./coverage.ts";
import { fastGrowthOf, randomRepetition, type FastGrowth } from "./growth.ts";
import { minimize } from "./minimize.ts";
import { mutate } from "./mutate.ts";

/** An input that violates a property of the target. */
export interface Failure {
  /** The input, minimized. */
  readonly input: Buffer;
  readonly error: unknown;
}

/** The result of a search. */
export interface SearchReport {
  /** Number of inputs that were run. Measurements of growth don't count: how often one runs the target depends on the machine's speed. */
  readonly executions: number;
  /** Inputs that reached something new, seeds included. */
  readonly corpus: readonly Buffer[];
  readonly coveredRanges: number;
  /** The input with the longest processor time per byte, among those of at least 256 bytes that needed 1 ms. */
  readonly slowest: SlowInput | undefined;
  readonly failures: readonly Failure[];
  readonly growths: readonly FastGrowth[];
}

/** An input and the processor time of the target for it. */
export interface SlowInput {
  readonly input: Buffer;
  readonly ms: number;
}

/** Options of {@link search}. */
export interface SearchOptions {
  readonly seed: number;
  /** Inputs to start from in addition to the target's seeds. */
  readonly corpus: readonly Buffer[];
  /** Number of different failures after which the search stops; 5 by default. */
  readonly maxFailures?: number;
  /** Whether to continue, given the number of executions. */
  readonly goOn: (executions: number) => boolean;
}

/** Inputs between two readings of the coverage. */
const batchSize = 200;
/** Batches between two measurements of growth. */
const batchesPerGrowth = 2;
const defaultMaxFailures = 5;

/**
 * Searches for inputs that violate a property of the target: mutates inputs of the corpus, and adds those that execute something new.
 *
 * @returns what was found. It doesn't throw for failures of the target.
 */
export async function search(target: Target, options: SearchOptions): Promise<SearchReport> {
  const coverage = new Coverage(target.files);
  try {
    return await new Search(target, options, coverage).run();
  } finally {
    coverage.close();
  }
}

class Search {
  private readonly dice: Dice;
  private readonly dictionary: readonly Buffer[];
  private readonly maxBytes: number;
  private readonly corpus: Buffer[] = [];
  private readonly failures: Failure[] = [];
  private readonly growths: FastGrowth[] = [];
  private executions = 0;
  private slowest: SlowInput | undefined;

  constructor(
    private readonly target: Target,
    private readonly options: SearchOptions,
    private readonly coverage: Coverage,
  ) {
    this.dice = new Dice(options.seed);
    this.dictionary = target.dictionary.map((token) => Buffer.from(token));
    this.maxBytes = target.maxBytes ?? 4096;
  }

  async run(): Promise<SearchReport> {
    const seeds = this.target.seeds.map((seed) => Buffer.from(seed));
    for (const input of [...seeds, ...this.options.corpus]) await this.addIfNew(input);
    if (this.corpus.length === 0) this.corpus.push(Buffer.from("a"));
    const { maxFailures = defaultMaxFailures } = this.options;
    for (let batch = 0; this.failures.length < maxFailures && this.options.goOn(this.executions); batch++) {
      await this.runBatch();
      if (batch % batchesPerGrowth === 0) await this.measureGrowth();
    }
    const { executions, corpus, slowest, failures, growths } = this;
    return { executions, corpus, coveredRanges: this.coverage.coveredRanges, slowest, failures, growths };
  }

  private async runBatch(): Promise<void> {
    const inputs: Buffer[] = [];
    for (let count = 0; count < batchSize; count++) {
      const input = mutate(this.choose(), this.dice, {
        dictionary: this.dictionary,
        other: this.dice.pick(this.corpus),
        maxBytes: this.maxBytes,
      });
      inputs.push(input);
      await this.execute(input);
    }
    if (this.coverage.take(false)) await this.keepNew(inputs);
  }

  /** Prefers the inputs that were added last, half of the time. */
  private choose(): Buffer {
    const { corpus, dice } = this;
    const recent = Math.min(corpus.length, 8);
    return dice.chance(0.5) ? dice.pick(corpus) : corpus[corpus.length - 1 - dice.below(recent)]!;
  }

  /** Finds, by halving, the inputs of a batch that execute something new. */
  private async keepNew(inputs: readonly Buffer[]): Promise<void> {
    if (inputs.length === 1) return this.addIfNew(inputs[0]!);
    const middle = inputs.length >> 1;
    for (const half of [inputs.slice(0, middle), inputs.slice(middle)]) {
      for (const input of half) await this.execute(input);
      if (this.coverage.take(false)) await this.keepNew(half);
    }
  }

  private async addIfNew(input: Buffer): Promise<void> {
    this.coverage.take(false);
    await this.execute(input);
    if (this.coverage.take(true)) this.corpus.push(input);
  }

  private execute(input: Buffer): Promise<boolean> {
    this.executions++;
    return this.runTarget(input);
  }

  /** @returns whether the properties hold for the input. */
  private async runTarget(input: Buffer): Promise<boolean> {
    const start = performance.now();
    try {
      await this.target.run(input);
    } catch (error) {
      await this.recordFailure(input, error);
      return false;
    }
    const ms = performance.now() - start;
    if (ms < 1 || input.length < 256) return true;
    if (this.slowest === undefined || ms / input.length > this.slowest.ms / this.slowest.input.length) {
      await this.recordSlow(input);
    }
    return true;
  }

  /** Measures again by processor time: other programs lengthen the first measurement. */
  private async recordSlow(input: Buffer): Promise<void> {
    const before = process.cpuUsage();
    await this.target.run(input);
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    if (this.slowest === undefined || ms / input.length > this.slowest.ms / this.slowest.input.length) {
      this.slowest = { input, ms };
    }
  }

  private async recordFailure(input: Buffer, error: unknown): Promise<void> {
    const signature = signatureOf(error);
    if (this.failures.some((failure) => signatureOf(failure.error) === signature)) return;
    const smallest = await minimize(input, async (candidate) => {
      try {
        await this.target.run(candidate);
        return false;
      } catch (other) {
        return signatureOf(other) === signature;
      }
    });
    this.failures.push({ input: smallest, error });
  }

  private async measureGrowth(): Promise<void> {
    const input = this.dice.pick(this.corpus);
    if (input.length === 0 || input.length > 2048) return;
    const growth = await fastGrowthOf((long) => this.runTarget(long), randomRepetition(input, this.dice));
    if (growth !== undefined && this.growths.length < defaultMaxFailures) this.growths.push(growth);
  }
}

/** Failures with the same class of error, thrown at the same line, count as one. */
function signatureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const line = error.stack?.split("\n").find((part) => /^\s+at /.test(part)) ?? "";
  return `${error.constructor.name} ${line.trim()}`;
}
