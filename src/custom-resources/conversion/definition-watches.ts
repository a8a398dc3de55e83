import { detach } from "../../base/turns/maybe-promise.ts";
import { mapInTurns } from "../../base/turns/yielding.ts";
import type { Revision, Subscription } from "../../storage/store.ts";
import { DefinitionChangedError, type WatchObserver } from "../../resources/registry/watch-change.ts";
import type { WatchSource } from "../../resources/registry/versioned-storage.ts";

/**
 * The watches of the resource types of one definition. They show objects as this definition reads them, so they end when it is replaced:
 * when its spec changes, when it is deleted, or when another definition has its name. Their clients resume with the next definition.
 *
 * The definitions are followed without deferral, watches with deferral, and the feed delivers to the former first. So no watch receives an
 * object that was written with a later definition.
 */
export class DefinitionWatches {
  private readonly open = new Set<OpenWatch>();
  private isReplaced = false;

  /** @param basis a text that is equal for definitions that read objects in the same way. */
  constructor(readonly basis: string) {}

  /** Whether the definition has been replaced. */
  get replaced(): boolean {
    return this.isReplaced;
  }

  /**
   * Starts a watch that ends with the definition.
   *
   * @param after the revision after which the watch begins.
   */
  watch(source: WatchSource, observer: WatchObserver, after: Revision): Subscription {
    if (this.isReplaced) return endedWatch(observer, after);
    const watch = new OpenWatch(observer, () => void this.open.delete(watch));
    this.open.add(watch);
    return watch.start(source);
  }

  /**
   * Ends all watches, and those that start later. They receive no further change; their observers learn it in turns.
   *
   * @param failed receives the exception of an observer, which is a bug; the other watches end all the same.
   */
  end(failed: (error: unknown) => void): void {
    this.isReplaced = true;
    const watches = [...this.open];
    for (const watch of watches) watch.stop();
    const end = (watch: OpenWatch): void => {
      try {
        watch.end(changedError());
      } catch (error) {
        failed(error);
      }
    };
    detach(mapInTurns(watches, end), failed);
  }
}

function changedError(): DefinitionChangedError {
  return new DefinitionChangedError("the definition of the resource type has changed; resume the watch");
}

/** A watch of a request that found its resource type before the definition was replaced. */
function endedWatch(observer: WatchObserver, after: Revision): Subscription {
  let isClosed = false;
  queueMicrotask(() => {
    if (!isClosed) observer.ended(changedError());
  });
  return { position: after, sync: () => after, close: () => void (isClosed = true) };
}

class OpenWatch implements Subscription {
  private inner: Subscription | undefined;
  private isStopped = false;
  private isClosed = false;

  /** @param closed called when the watch receives no further changes. */
  constructor(
    private readonly observer: WatchObserver,
    private readonly closed: () => void,
  ) {}

  start(source: WatchSource): this {
    const { observer } = this;
    try {
      this.inner = source({
        changes: (changes, upTo) => {
          if (!this.isStopped) observer.changes(changes, upTo);
        },
        ended: (error) => this.end(error),
        ...(observer.drained === undefined ? {} : { drained: () => observer.drained!() }),
      });
    } catch (error) {
      this.close();
      throw error;
    }
    if (this.isStopped) this.inner.close();
    return this;
  }

  get position(): Revision {
    return this.inner!.position;
  }

  sync() {
    return this.isStopped ? this.position : this.inner!.sync();
  }

  /** Ends the delivery of changes; the position stays. */
  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.closed();
    this.inner?.close();
  }

  end(error: Error): void {
    this.stop();
    if (this.isClosed) return;
    this.isClosed = true;
    this.observer.ended(error);
  }

  close(): void {
    this.isClosed = true;
    this.stop();
  }
}
