import type { Clock } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Entry, Store, WriteCondition } from "../../storage/store.ts";
import { Follower } from "./follower.ts";
import { namesOf, type Resource } from "../registry/registry.ts";
import { headerOf } from "../objects/stored.ts";

/** The phase of a namespace at a revision. */
export interface NamespacePhase {
  /** Such as `Active`. */
  readonly phase: string;
  /** The condition that the namespace is unchanged, for writes. */
  readonly condition: WriteCondition;
}

/**
 * Cache of the phases of all namespaces, because every write into a namespace needs its phase. A result includes each write that was
 * acknowledged before the call, by any process.
 */
export class NamespacePhases {
  private readonly phases = new Map<string, NamespacePhase>();
  private readonly follower: Follower;

  constructor(store: Store, namespaces: Resource, clock: Clock, failed: (error: unknown) => void) {
    const handler = {
      put: (entry: Entry) => {
        const { key, revision } = entry;
        const phase = headerOf(entry).fields["status.phase"] ?? "";
        this.phases.set(namesOf(key).name, { phase, condition: { key, revision } });
      },
      remove: (key: string) => this.phases.delete(namesOf(key).name),
      failed,
    };
    this.follower = new Follower(store, namespaces.storePrefix, handler, clock);
  }

  /** Resolves when all namespaces are cached. */
  start(): Promise<void> {
    return this.follower.start();
  }

  /**
   * The phase of a namespace; undefined if it doesn't exist.
   *
   * @throws {StoreUnavailableError} namespaces can't be followed at present.
   */
  of(name: string): MaybePromise<NamespacePhase | undefined> {
    return andThen(this.follower.sync(), () => this.phases.get(name));
  }

  close(): void {
    this.follower.close();
  }
}
