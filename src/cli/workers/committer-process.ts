import { rmSync } from "node:fs";
import { stackOf } from "../../base/logger.ts";
import { Workspace } from "../../kinds/tenancy/workspace.ts";
import { registryFor } from "../../server/apis/registry.ts";
import { keptStore } from "../../server/start/kept-store.ts";
import { openStore } from "../../server/start/open-store.ts";
import type { ServeOptions } from "../serve/serve-options.ts";
import { stopCommitterSignal } from "./role.ts";

/**
 * Commits the writes of the workers until the parent process stops it. It ends with its parent, whatever it is doing: another process may
 * need the data file. Acknowledged writes are on disk then.
 *
 * @param socket path of the socket for the workers.
 * @param ready called when the socket accepts connections.
 */
export async function runCommitter(
  { server: options }: ServeOptions,
  socket: string,
  ready: () => void,
): Promise<number> {
  const endAtOnce = () => process.kill(process.pid, "SIGKILL");
  // Before the listener of Node, which ends the process in an orderly way, and may wait for work of the store.
  process.prependListener("disconnect", endAtOnce);
  if (!process.connected) endAtOnce();
  const { serveCommits } = await import("../../storage/lmdb/committer/service.ts");
  // A terminal sends these signals to all processes of a group; the workers need the committer until they have ended.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  const stopped = new Promise<void>((resolve) => process.once(stopCommitterSignal, resolve));
  const { store } = await openStore(options, undefined);
  // Workers commit what is kept with their writes; this process drops what is too old.
  const storeWithHistory = await keptStore(
    options,
    store,
    (await registryFor(options, [])).serves(Workspace),
  );
  // The socket of a committer that was killed.
  rmSync(socket, { force: true });
  const service = await serveCommits(store, socket, (error) =>
    options.log.warn({ error: stackOf(error) }, "the connection of a worker failed"),
  );
  ready();
  await stopped;
  await service.close();
  await storeWithHistory.close();
  process.off("disconnect", endAtOnce);
  return 0;
}
