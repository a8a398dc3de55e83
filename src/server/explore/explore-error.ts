import type { FiredFault } from "../faults/fired-fault.ts";

/** A test failed under a schedule of faults. The message has the seed, the faults and the call that repeats it. */
export class ExploreError extends Error {
  override name = "ExploreError";
  constructor(
    readonly seed: number,
    /** The faults that are needed for the failure. */
    readonly faults: readonly FiredFault[],
    message: string,
    options: { readonly cause: unknown },
  ) {
    super(message, options);
  }
}
