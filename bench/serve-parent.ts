/** The child's end of {@link Helper}: answers the parent's calls, one process for each program. */

import { createRequire } from "node:module";

/** Functions that a parent may call, by name. */
export type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
}

/** Answers calls until the parent is gone. */
export function serveParent(handlers: Handlers): void {
  // Not a flag of Node: messages that arrive before this module is loaded would be lost.
  createRequire(import.meta.url)("./meter.cjs");
  process.on("message", (call: Partial<Call>) => {
    // Others are for the meter.
    if (call.id !== undefined) void answer(handlers, call as Call);
  });
  // The meter lets a process end although the channel is open.
  process.channel!.ref();
  process.once("disconnect", () => process.exit(0));
  process.once("SIGTERM", () => process.exit(0));
}

async function answer(handlers: Handlers, { id, method, argument }: Call): Promise<void> {
  try {
    const value = await handlers[method]!(argument as never);
    process.send!({ id, value });
  } catch (error) {
    process.send!({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
