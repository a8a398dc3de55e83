import type { Clock } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Entry, Store, WriteCondition } from "../../storage/store.ts";
import type { StagedEntries } from "../objects/staged-entries.ts";
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
  private readonly prefix: string;

  constructor(store: Store, namespaces: Resource, clock: Clock, failed: (error: unknown) => void) {
    this.prefix = namespaces.storePrefix;
    const handler = {
      put: (entry: Entry) => void this.phases.set(namesOf(entry.key).name, phaseIn(entry)),
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
   * @param staged what the transaction of the request has written before.
   * @throws {StoreUnavailableError} namespaces can't be followed at present.
   */
  of(name: string, staged?: StagedEntries): MaybePromise<NamespacePhase | undefined> {
    const own = staged?.stagedEntry(`${this.prefix}/${name}`);
    if (own !== undefined) return phaseIn(own);
    return andThen(this.follower.sync(), () => this.phases.get(name));
  }

  close(): void {
    this.follower.close();
  }
}

function phaseIn(entry: Entry): NamespacePhase {
  const { key, revision } = entry;
  return { phase: headerOf(entry).fields["status.phase"] ?? "", condition: { key, revision } };
}
