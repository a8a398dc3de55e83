import type { ServerOptions } from "../options/server-options.ts";
import { SnapshotFamily, type Inherited } from "../start/opened.ts";
import type { OpenStore } from "../start/open-store.ts";
import { ownKeys } from "../listening/own-keys.ts";
import { Snapshots } from "./snapshots.ts";

/** Creates the snapshots of a server; without `inherited` the server has no relatives yet. */
export function snapshotsOf(
  { vocabulary }: ServerOptions,
  { memory, inherited }: Pick<OpenStore, "memory"> & { readonly inherited: Inherited | undefined },
): Snapshots {
  return new Snapshots({
    store: memory,
    family: inherited?.family ?? new SnapshotFamily(),
    own: ownKeys(vocabulary),
  });
}

/** Returns the options of a fork: it can't listen on the port of its origin. */
export function optionsOfFork(options: ServerOptions): ServerOptions {
  return options.port === false ? options : { ...options, port: 0 };
}
