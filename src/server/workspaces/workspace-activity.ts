import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../base/time/clock.ts";
import type { WorkspaceActivity } from "../../http/service.ts";
import { coordination, core, events, isKindOf } from "../../kinds/groups.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { metadataOf } from "../../resources/objects/stored.ts";
import type { StoreEvent, Subscription } from "../../storage/store.ts";
import type { WorkspaceServer } from "./workspace-server.ts";

/** Interval of the checks. */
const checkMs = 10;
/** Times without a write after which controllers that have no work are settled. Controllers of the program may work without a queue. */
const quietMs = 250;
/** The same while an object is being deleted: what remains in a namespace is checked again after a second. */
const quietMsOfDeletion = 1500;
/** The same if another process runs the controllers, whose queues aren't known here. */
const quietMsElsewhere = 2000;

/**
 * Follows the writes in a workspace, to find out when its controllers have settled. Times are those of the machine, also with a clock of the
 * program's own.
 */
export class FollowedActivity implements WorkspaceActivity {
  private readonly engine: Engine;
  private lastWriteMs: number;
  /** Number of checks since the last write. A process that is held up for a time has had none. */
  private checks = 0;
  /** Keys of objects that are being deleted. */
  private readonly terminating = new Set<string>();
  private subscription: Subscription | undefined;
  private closed = false;

  private constructor(private readonly workspace: WorkspaceServer) {
    this.engine = workspace.service.engine;
    this.lastWriteMs = systemClock.monotonicNow();
  }

  /** Begins to follow the writes of a workspace. */
  static async start(workspace: WorkspaceServer): Promise<FollowedActivity> {
    const activity = new FollowedActivity(workspace);
    await activity.subscribe();
    return activity;
  }

  private async subscribe(): Promise<void> {
    const { store } = this.engine;
    const after = await store.latestRevision();
    if (this.closed) return;
    this.subscription = store.subscribe(
      { prefix: "/", after },
      {
        events: (batch) => batch.forEach((event) => this.receive(event)),
        ended: () => (this.subscription = undefined),
      },
    );
  }

  private receive({ key, entry }: StoreEvent): void {
    if (this.isBeat(key)) return;
    this.wasActive();
    const isTerminating = entry !== undefined && metadataOf(entry).deletionTimestamp !== undefined;
    if (isTerminating) this.terminating.add(key);
    else this.terminating.delete(key);
  }

  private wasActive(): void {
    this.lastWriteMs = systemClock.monotonicNow();
    this.checks = 0;
  }

  /** Whether a key is that of an object that is written without an end, such as the lease of a controller. */
  private isBeat(key: string): boolean {
    const kind = this.engine.registry.ofKey(key)?.kind;
    return (
      kind !== undefined &&
      (isKindOf(kind, core, "Event") ||
        isKindOf(kind, events, "Event") ||
        isKindOf(kind, coordination, "Lease"))
    );
  }

  async settled(limitMs: number, isOver: () => boolean): Promise<boolean> {
    const endMs = systemClock.monotonicNow() + limitMs;
    while (!this.closed) {
      if (await this.isQuiet()) return true;
      if (systemClock.monotonicNow() >= endMs || isOver()) return false;
      await delay(checkMs);
    }
    return false;
  }

  private async isQuiet(): Promise<boolean> {
    if (this.subscription === undefined) {
      // Writes may have been missed.
      this.wasActive();
      await this.subscribe();
      return false;
    }
    await this.subscription.sync();
    if (!(await this.workspace.areControllersIdle())) return false;
    const { neededMs } = this;
    return (
      ++this.checks * checkMs * 2 >= neededMs && systemClock.monotonicNow() - this.lastWriteMs >= neededMs
    );
  }

  private get neededMs(): number {
    if (!this.workspace.leads) return quietMsElsewhere;
    return this.terminating.size > 0 ? quietMsOfDeletion : quietMs;
  }

  close(): void {
    this.closed = true;
    this.subscription?.close();
  }
}
