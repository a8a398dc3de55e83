import { seededRandom, type Random } from "../../base/random.ts";
import { OptionsError } from "./options-error.ts";
import { shown } from "./settings.ts";

/** Options of the library for tests; `plinth serve` has no flags for them. */
export interface TestOptions {
  /** Keeps the newest 10,000 requests in `server.requests`; false by default. */
  readonly recordRequests?: boolean | undefined;
  /**
   * Makes uids and generated names the same in each run that creates the same objects; with a manual clock that has a fixed start,
   * timestamps too. A safe integer. Needs objects in memory. Keys, tokens and certificates are random nevertheless, and resource versions
   * follow the order of concurrent writes. Forks take their values from the sequence of their origin.
   */
  readonly seed?: number | undefined;
}

/** The keys of {@link TestOptions}. */
export const testOptionKeys = ["recordRequests", "seed"] as const satisfies readonly (keyof TestOptions)[];

/**
 * Checks and completes the options for tests.
 *
 * @param isInMemory whether the server has the storage engine `memory`.
 * @throws {OptionsError} a wrong value, which it names.
 */
export function testOptionsOf(
  { recordRequests = false, seed }: TestOptions,
  isInMemory: boolean,
): { readonly recordRequests: boolean; readonly random: Random | undefined } {
  if (typeof recordRequests !== "boolean")
    throw new OptionsError(`recordRequests: ${shown(recordRequests)} is not true or false`);
  if (seed === undefined) return { recordRequests, random: undefined };
  if (!Number.isSafeInteger(seed)) throw new OptionsError(`seed: ${shown(seed)} is not a safe integer`);
  // A stored object would get the uid that an object of an earlier run had.
  if (!isInMemory) throw new OptionsError('seed: needs the storage engine "memory" (the default)');
  return { recordRequests, random: seededRandom(seed) };
}
