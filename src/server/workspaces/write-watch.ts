import type { Clock, Timer } from "../../base/time/clock.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import { uidOf } from "../../resources/objects/stored.ts";
import { namesOf, type Resource } from "../../resources/registry/registry.ts";
import { keyspaceOf } from "../../storage/keys.ts";
import { pagesOf } from "../../storage/range-pages.ts";
import type { Store, StoreEvent, Subscription } from "../../storage/store.ts";

/** Delay before writes are followed again after a failure. */
const retryMs = 1000;

/** What a {@link WriteWatch} calls and uses. */
interface WriteWatchUses {
  /** Something was written in a workspace. */
  written(name: string, uid: string): void;
  /** All later writes are reported, until a failure. */
  began(): void;
  failed(error: unknown): void;
  readonly clock: Clock;
}

/** Reports writes in the keyspaces of workspaces, by any process. */
export class WriteWatch {
  private readonly names = new Map<string, string>();
  private subscription: Subscription | undefined;
  private timer: Timer | undefined;
  private closed = false;

  constructor(
    private readonly root: Store,
    private readonly resource: Resource,
    private readonly uses: WriteWatchUses,
  ) {}

  start(): void {
    detach(this.follow(), (error) => this.retry(error));
  }

  private retry(error: unknown): void {
    if (this.closed) return;
    this.uses.failed(error);
    this.timer = this.uses.clock.setTimer(() => this.start(), retryMs);
  }

  private async follow(): Promise<void> {
    const { storePrefix: prefix } = this.resource;
    const after = await this.root.latestRevision();
    for await (const { entries } of pagesOf(this.root, { prefix, limit: 500, at: after }))
      for (const entry of entries) this.names.set(uidOf(entry), namesOf(entry.key).name);
    if (this.closed) return;
    this.subscription = this.root.subscribe(
      { prefix: "/", after },
      {
        events: (batch) => batch.forEach((event) => this.receive(event)),
        ended: (error) => this.retry(error),
      },
    );
    this.uses.began();
  }

  private receive({ key, entry, previous }: StoreEvent): void {
    const uid = keyspaceOf(key);
    if (uid !== undefined) {
      const name = this.names.get(uid);
      if (name !== undefined) this.uses.written(name, uid);
      return;
    }
    if (!key.startsWith(this.resource.storePrefix)) return;
    if (entry !== undefined) this.names.set(uidOf(entry), namesOf(key).name);
    else if (previous !== undefined) this.names.delete(uidOf(previous));
  }

  close(): void {
    this.closed = true;
    this.timer?.cancel();
    this.subscription?.close();
  }
}
