import type { Logger } from "../../src/base/logger.ts";
import { serverOptionsOf } from "../../src/server/options/library-options.ts";
import type { ServerOptions } from "../../src/server/options/server-options.ts";
import type { ManualClock } from "./manual-clock.ts";

/** The options of a server that only a test can start: by a clock that the test moves, in memory, on a free port. */
export function manualOptions(
  clock: ManualClock,
  log: Logger,
  changes: Partial<ServerOptions> = {},
): ServerOptions {
  return { ...serverOptionsOf({}), clock, log, ...changes };
}
