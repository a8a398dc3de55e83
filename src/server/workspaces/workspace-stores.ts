import type { Workspace, WorkspaceBase } from "../../kinds/tenancy/workspace.ts";
import { derivedStore } from "../../storage/derived/derived-store.ts";
import { revisionOf } from "../../storage/entry.ts";
import { keyspace } from "../../storage/keyspaces/keyspace-store.ts";
import type { Store } from "../../storage/store.ts";

/**
 * Returns the store of a workspace: its own keyspace over the states that it begins with. Closing it leaves the store of the server open.
 *
 * @param root the store of the server.
 */
export function workspaceStore(root: Store, { metadata, status }: Workspace): Store {
  return over(root, keyspace(root, metadata.uid!), status?.bases ?? []);
}

/** Returns the state with which a workspace begins, for reads at its resource version; undefined if it begins empty. */
export function baseStore(root: Store, [base, ...further]: readonly WorkspaceBase[]): Store | undefined {
  if (base === undefined) return undefined;
  return base.uid === undefined ? root : over(root, keyspace(root, base.uid), further);
}

function over(root: Store, own: Store, bases: readonly WorkspaceBase[]): Store {
  const base = baseStore(root, bases);
  if (base === undefined) return own;
  return derivedStore({ own, base, at: revisionOf(Number(bases[0]!.resourceVersion)) });
}
