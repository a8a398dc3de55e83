import type { Timer } from "../../base/time/clock.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Time after which resources of a previous configuration are closed; a request that uses them takes at most this time. */
const delayMs = 120_000;

/** Something with connections or file watches. */
interface Closable {
  close(): Promise<void>;
}

/** Closes the resources of previous configurations after a delay, so that requests that have begun with one can end with it. */
export class RetiredResources {
  private readonly timers = new Map<readonly Closable[], Timer>();

  constructor(private readonly options: Pick<ServerOptions, "clock" | "log">) {}

  /** Closes resources after the delay. */
  add(resources: readonly Closable[]): void {
    if (resources.length === 0) return;
    const { clock, log } = this.options;
    const close = (): void => {
      this.timers.delete(resources);
      closeAll(resources).catch((error: unknown) =>
        log.error({ error: stackOf(error) }, "bug in the server, please report it"),
      );
    };
    this.timers.set(resources, clock.setTimer(close, delayMs));
  }

  /** Closes all resources at once. */
  async close(): Promise<void> {
    for (const timer of this.timers.values()) timer.cancel();
    await closeAll([...this.timers.keys()].flat());
  }
}

/** Closes resources. */
export async function closeAll(resources: readonly Closable[]): Promise<void> {
  await Promise.all(resources.map((one) => one.close()));
}
