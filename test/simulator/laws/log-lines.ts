import { StoreUnavailableError } from "../../../src/storage/store.ts";
import { isStoreBusy } from "../../../src/server/start/start-writes.ts";
import type { World } from "../world.ts";

/** Watches the servers' logs for unexpected exceptions, and for starts that fail for another reason than an unreachable cluster. */
export function checkLogs(world: World): void {
  world.onLog(({ server, text, fields }) => {
    if (text.startsWith("bug in the server"))
      world.violations.add("no unexpected exception", `${server.name}: ${JSON.stringify(fields)}`);
    if (text !== "start failed") return;
    const { cause, error } = fields as { readonly cause: unknown; readonly error: string };
    if (cause instanceof StoreUnavailableError || isStoreBusy(cause)) return;
    world.violations.add("starts fail only while the cluster is unreachable", `${server.name}: ${error}`);
  });
}
