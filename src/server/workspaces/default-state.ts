import { createHash, randomUUID } from "node:crypto";
import type { WorkspaceBase } from "../../kinds/tenancy/workspace.ts";
import { keyspace } from "../../storage/keyspaces/keyspace-store.ts";
import { pagesOf } from "../../storage/range-pages.ts";
import type { Revision, Store } from "../../storage/store.ts";
import type { StorePins } from "../../storage/store-history.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { WorkspaceServer } from "./workspace-server.ts";

const prefix = "defaults-";

/** Whether a base is a state of the default objects. */
export function isDefaultState({ uid = "" }: WorkspaceBase): boolean {
  return uid.startsWith(prefix);
}

/** What {@link DefaultState} uses. */
interface DefaultStateParts {
  readonly options: Pick<ServerOptions, "vocabulary" | "release">;
  /** The store of the server. */
  readonly root: Store;
  readonly pins: StorePins;
  /** Opens the server of a keyspace. */
  readonly open: (store: Store) => Promise<WorkspaceServer>;
}

/**
 * The default objects with which empty workspaces begin: a keyspace of its own, which each release brings up to date, and of whose states
 * those in use are pinned. So an empty workspace costs nothing but its own object.
 */
export class DefaultState {
  private readonly id: string;
  private state: Promise<WorkspaceBase> | undefined;

  constructor(private readonly parts: DefaultStateParts) {
    const { vocabulary, release } = parts.options;
    const digest = createHash("sha256").update(`${vocabulary.name} ${release}`).digest("hex");
    this.id = `${prefix}${digest.slice(0, 16)}`;
  }

  /**
   * Returns the state with which new workspaces begin.
   *
   * @throws {StoreError} it can't be written or read; the next call tries again.
   */
  current(): Promise<WorkspaceBase> {
    this.state ??= this.prepare().catch((error: unknown) => {
      this.state = undefined;
      throw error;
    });
    return this.state;
  }

  private async prepare(): Promise<WorkspaceBase> {
    const { root, open, pins } = this.parts;
    const server = await open(keyspace(root, this.id));
    try {
      await server.lead();
      await server.writeDefaults();
    } finally {
      await server.close();
    }
    const newest = await this.newestPinned();
    const pinned = newest ?? (await pins.add(`${this.id}-${randomUUID()}`)).revision;
    return { uid: this.id, resourceVersion: String(pinned) };
  }

  /** Returns the revision of a pin after which nothing was written; undefined if there is none. */
  private async newestPinned(): Promise<Revision | undefined> {
    const { root, pins } = this.parts;
    const pinned = await pins.list(`${this.id}-`);
    const newest = Math.max(0, ...pinned.map(({ revision }) => revision));
    if (newest === 0) return undefined;
    for await (const { entries } of pagesOf(keyspace(root, this.id), { prefix: "/", limit: 500 }))
      if (entries.some(({ revision }) => revision > newest)) return undefined;
    return newest as Revision;
  }
}
