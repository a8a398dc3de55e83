import { RecentMap } from "../../base/collections/recent-map.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import type { Clock } from "../../base/time/clock.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import type { Workspace } from "../../kinds/tenancy/workspace.ts";
import { Follower, type FollowHandler } from "../../resources/followers/follower.ts";
import { decodeEntry, uidOf } from "../../resources/objects/stored.ts";
import type { Entry, Store } from "../../storage/store.ts";
import type { ActiveWorkspaces } from "./active-workspaces.ts";

/** Number of workspaces whose bases are remembered: more than can be in use. */
const maxOpen = 4000;

/** The bases of a workspace at a revision, as text. */
interface NewestBases {
  readonly revision: number;
  readonly bases: string;
  /** Whether the workspace was opened with them. */
  readonly isOpen: boolean;
}

/**
 * Closes workspaces that any process has begun to delete, before the events of their removed objects arrive, and those that another process
 * has moved to other bases.
 */
export class ChangeWatch implements FollowHandler {
  private readonly follower: Follower;
  private starting: Promise<void> | undefined;
  /** The newest bases of workspaces in memory, by uid. */
  private readonly newest = new RecentMap<NewestBases>({ entries: maxOpen, cost: 0 });

  /** @param prefix of the keys of workspaces. */
  constructor(
    root: Store,
    prefix: string,
    private readonly active: ActiveWorkspaces,
    clock: Clock,
    private readonly log: Logger,
  ) {
    this.follower = new Follower(root, prefix, this, clock);
  }

  /** Starts to follow the workspaces, unless it does. */
  async start(): Promise<void> {
    this.starting ??= this.follower.start();
    try {
      await this.starting;
    } catch (error) {
      this.starting = undefined;
      throw error;
    }
  }

  /** Records the bases with which a workspace is opened, and closes it if it was moved since it was read. */
  opened({ metadata, status }: Workspace): void {
    const uid = metadata.uid!;
    const last = this.newest.get(uid);
    const revision = Number(metadata.resourceVersion);
    const bases = JSON.stringify(status?.bases);
    if (last !== undefined && last.revision > revision && last.bases !== bases) this.close(uid);
    else this.newest.set(uid, { revision, bases, isOpen: true });
  }

  matters(entry: Entry): boolean {
    return this.active.has(uidOf(entry));
  }

  put(entry: Entry): void {
    const { metadata, status } = decodeEntry(entry) as Workspace;
    const uid = metadata.uid!;
    if (metadata.deletionTimestamp !== undefined) return this.close(uid);
    const last = this.newest.get(uid);
    const bases = JSON.stringify(status?.bases);
    if (last?.isOpen === true && last.bases === bases) return;
    this.newest.set(uid, { revision: entry.revision, bases, isOpen: false });
    if (last?.isOpen === true) this.close(uid);
  }

  /** A workspace is closed when its deletion begins. */
  remove(): void {}

  failed(error: unknown): void {
    this.log.warn({ error: String(error) }, "changes of workspaces can't be followed; retrying");
  }

  private close(uid: string): void {
    detach(this.active.close(uid), (error) =>
      this.log.error({ error: stackOf(error) }, "a workspace that was moved or deleted could not be closed"),
    );
  }

  /** Ends the following. */
  stop(): void {
    this.follower.close();
  }
}
