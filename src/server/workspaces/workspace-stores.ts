import type { Workspace, WorkspaceBase } from "../../kinds/tenancy/workspace.ts";
import { derivedStore } from "../../storage/derived/derived-store.ts";
import { FrozenStore } from "../../storage/derived/frozen-store.ts";
import { revisionOf } from "../../storage/entry.ts";
import { keyspace } from "../../storage/keyspaces/keyspace-store.ts";
import type { Store } from "../../storage/store.ts";
import { isDefaultState } from "./default-state.ts";

/** The stores of workspaces: their own keyspaces over the states that they begin with. */
export class WorkspaceStores {
  /** The states of default objects, which most workspaces share, by resource version. */
  private readonly defaults = new Map<string, Store>();

  /** @param root the store of the server. */
  constructor(private readonly root: Store) {}

  /** Returns the store of a workspace. Closing it leaves the store of the server open. */
  of({ metadata, status }: Workspace): Store {
    return this.over(keyspace(this.root, metadata.uid!), status?.bases ?? []);
  }

  /** Returns the state with which a workspace begins, for reads at its resource version; undefined if it begins empty. */
  base([base, ...further]: readonly WorkspaceBase[]): Store | undefined {
    if (base === undefined) return undefined;
    if (base.uid === undefined) return this.root;
    if (isDefaultState(base)) return this.defaultState(base);
    return this.over(keyspace(this.root, base.uid), further);
  }

  private over(own: Store, bases: readonly WorkspaceBase[]): Store {
    const base = this.base(bases);
    if (base === undefined) return own;
    return derivedStore({ own, base, at: revisionOf(Number(bases[0]!.resourceVersion)) });
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
