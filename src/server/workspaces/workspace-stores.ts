import type { Workspace, WorkspaceBase } from "../../kinds/tenancy/workspace.ts";
import { derivedStore } from "../../storage/derived/derived-store.ts";
import { FrozenStore } from "../../storage/derived/frozen-store.ts";
import { revisionOf } from "../../storage/entry.ts";
import { keyspace } from "../../storage/keyspaces/keyspace-store.ts";
import type { Revision, Store } from "../../storage/store.ts";
import { isDefaultState } from "./default-state.ts";

/** Returns the key whose revision is that of the last rebase of a workspace: from then on its own values are over its present bases. */
export function rebaseKey(uid: string): string {
  return `/core/workspacerebases//${uid}`;
}

/** Deletes the revision of the last rebase of a workspace that no longer exists. */
export async function forgetRebase(root: Store, uid: string): Promise<void> {
  const key = rebaseKey(uid);
  for (let entry = await root.get(key); entry !== undefined; entry = await root.get(key))
    await root.commit({ kind: "delete", key, expected: entry.revision });
}

/** The stores of workspaces: their own keyspaces over the states that they begin with. */
export class WorkspaceStores {
  /** The states of default objects, which most workspaces share, by resource version. */
  private readonly defaults = new Map<string, Store>();

  /** @param root the store of the server. */
  constructor(private readonly root: Store) {}

  /** Returns the store of a workspace. Closing it leaves the store of the server open. */
  async of({ metadata, status }: Workspace): Promise<Store> {
    const uid = metadata.uid!;
    const bases = status?.bases ?? [];
    return this.over(keyspace(this.root, uid), bases, await this.since(uid, bases));
  }

  /**
   * Returns the revision from which on the states of a workspace are those over its present bases.
   *
   * @param uid undefined outside of workspaces.
   */
  async since(uid: string | undefined, [base]: readonly WorkspaceBase[]): Promise<Revision> {
    const rebased = uid === undefined ? undefined : await this.root.get(rebaseKey(uid));
    return revisionOf(Math.max(Number(base?.resourceVersion ?? 0), rebased?.revision ?? 0));
  }

  /** Returns the state with which a workspace begins, for reads at its resource version; undefined if it begins empty. */
  base([base, ...further]: readonly WorkspaceBase[]): Store | undefined {
    if (base === undefined) return undefined;
    if (base.uid === undefined) return this.root;
    if (isDefaultState(base)) return this.defaultState(base);
    return this.over(keyspace(this.root, base.uid), further);
  }

  private over(own: Store, bases: readonly WorkspaceBase[], since?: Revision): Store {
    const base = this.base(bases);
    if (base === undefined) return own;
    return derivedStore({ own, base, at: revisionOf(Number(bases[0]!.resourceVersion)), since });
  }

  private defaultState({ uid, resourceVersion }: WorkspaceBase): Store {
    let state = this.defaults.get(resourceVersion);
    if (state === undefined) {
      state = new FrozenStore(keyspace(this.root, uid!), revisionOf(Number(resourceVersion)));
      this.defaults.set(resourceVersion, state);
    }
    return state;
  }
}
