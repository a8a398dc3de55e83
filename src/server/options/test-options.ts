import { OptionsError } from "./options-error.ts";

/** Options of the library for tests; `plinth serve` has no flags for them. */
export interface TestOptions {
  /** Keeps the newest 10,000 requests in `server.requests`; false by default. */
  readonly recordRequests?: boolean | undefined;
}

/** The keys of {@link TestOptions}. */
export const testOptionKeys = ["recordRequests"] as const satisfies readonly (keyof TestOptions)[];

/**
 * Checks and completes the options for tests.
 *
 * @throws {OptionsError} a wrong value, which it names.
 */
export function testOptionsOf({ recordRequests = false }: TestOptions): { readonly recordRequests: boolean } {
  if (typeof recordRequests !== "boolean")
    throw new OptionsError(`recordRequests: ${JSON.stringify(recordRequests)} is not true or false`);
  return { recordRequests };
}
