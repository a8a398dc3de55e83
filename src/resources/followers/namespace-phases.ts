import type { Clock } from "../../base/clock.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { Entry, Store, WriteCondition } from "../../storage/store.ts";
import { Follower } from "./follower.ts";
import { namesOf, type Resource } from "../registry/registry.ts";
import { headerOf } from "../objects/stored.ts";

/** A namespace as it was last seen. */
export interface NamespacePhase {
  /** Such as `Active`. */
  readonly phase: string;
  /** Holds for a write while the namespace is the one that was seen. */
  readonly condition: WriteCondition;
}

/**
 * The phases of all namespaces, kept up to date. Every write into a namespace asks for its phase, so it is held in memory
 * instead of being read each time. An answer takes in each write that was acknowledged before the question, by whichever
 * process.
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

  /** Resolves when every namespace is known. */
  start(): Promise<void> {
    return this.follower.start();
  }

  /**
   * The phase of a namespace; undefined when there is none of that name.
   *
   * @throws {StoreUnavailableError} the subscription to namespaces is down at present.
   */
  of(name: string): MaybePromise<NamespacePhase | undefined> {
    return andThen(this.follower.sync(), () => this.phases.get(name));
  }

  close(): void {
    this.follower.close();
  }
}
