import type { MaybePromise } from "../../../base/turns/maybe-promise.ts";
import { ResourceQuota } from "../../../kinds/core/resource-quota.ts";
import { Follower } from "../../../resources/followers/follower.ts";
import { namesOf, resourceOf, type Registry, type Resource } from "../../../resources/registry/registry.ts";
import { decodeEntry } from "../../../resources/objects/stored.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { Entry } from "../../../storage/store.ts";
import type { FollowSources } from "../../followed-objects.ts";
import { type Evaluator, evaluatorOf, isCounted } from "./evaluators.ts";
import { NamespaceUsage, type CountedType } from "./namespace-usage.ts";
import { quotaFacts } from "./quota-facts.ts";

/** Called with a namespace after changes of usage or limits. It must not throw. */
export type QuotaListener = (namespace: string) => void;

/** The quotas of all namespaces, and the usage of namespaces with quotas. The first use starts a watch. */
export class QuotaIndex {
  private readonly namespaces = new Map<string, NamespaceUsage>();
  private readonly listeners = new Set<QuotaListener>();
  private readonly chargeListeners = new Set<QuotaListener>();
  private follower: Follower | undefined;
  private cached: { readonly revision: number; readonly types: ReadonlyMap<string, CountedType> } | undefined;

  constructor(
    private readonly sources: FollowSources,
    private readonly registry: Registry,
  ) {}

  /**
   * Waits until the quotas include all writes that any process acknowledged before the call.
   *
   * @throws {StoreUnavailableError} the quotas can't be read.
   */
  sync(): MaybePromise<void> {
    return (this.follower ?? this.follow()).sync();
  }

  /** Returns the usage of a namespace; undefined if it has no quotas. Call {@link sync} before. */
  in(namespace: string): NamespaceUsage | undefined {
    return this.namespaces.get(namespace);
  }

  /** The usage of all namespaces with quotas. */
  all(): IterableIterator<NamespaceUsage> {
    return this.namespaces.values();
  }

  /** Returns the evaluator of a type; undefined if quotas don't count it. */
  evaluatorOf(resource: Resource): Evaluator | undefined {
    const { stored } = resource;
    // Without any quota, the list of types is not built.
    if (this.cached === undefined) return isCounted(stored) ? evaluatorOf(stored, this.context) : undefined;
    return this.types.get(stored.storePrefix)?.evaluator;
  }

  /** Registers a listener until `close` is called. */
  listen(listener: QuotaListener): { close(): void } {
    this.listeners.add(listener);
    return { close: () => void this.listeners.delete(listener) };
  }

  /** Registers a listener for namespaces in which this process has charged a quota, until `close` is called. */
  listenToCharges(listener: QuotaListener): { close(): void } {
    this.chargeListeners.add(listener);
    return { close: () => void this.chargeListeners.delete(listener) };
  }

  /** Reports that a write charged to a quota of the namespace may have been committed. */
  charged(namespace: string): void {
    for (const listener of this.chargeListeners) listener(namespace);
  }

  /** Whether the watch of quotas is failing. */
  get failing(): boolean {
    return this.follower?.failing ?? false;
  }

  close(): void {
    this.follower?.close();
    for (const usage of this.namespaces.values()) usage.close();
  }

  private get context(): KindContext {
    const { vocabulary, release } = this.registry;
    return { vocabulary, release, enabled: () => false, subresource: "" };
  }

  /** Counted types by store prefix. */
  private get types(): ReadonlyMap<string, CountedType> {
    const { revision } = this.registry;
    if (this.cached?.revision !== revision) {
      const counted = this.registry.stored().filter((resource) => isCounted(resource));
      const before = this.cached?.types;
      const types = counted.map(({ stored: resource }) => {
        // A type that is defined again keeps its evaluator, so its watch continues.
        const evaluator = before?.get(resource.storePrefix)?.evaluator ?? evaluatorOf(resource, this.context);
        return [resource.storePrefix, { resource, evaluator }] as const;
      });
      this.cached = { revision, types: new Map(types) };
      for (const usage of this.namespaces.values()) usage.changeTypes([...this.cached.types.values()]);
    }
    return this.cached.types;
  }

  private follow(): Follower {
    const { store, clock, failed } = this.sources;
    const { stored } = resourceOf(ResourceQuota, this.registry.vocabulary);
    const handler = {
      put: (entry: Entry) => this.put(entry),
      remove: (key: string) => this.remove(key),
      failed,
    };
    this.follower = new Follower(store, stored.storePrefix, handler, clock);
    this.follower.startInBackground();
    return this.follower;
  }

  private put(entry: Entry): void {
    const { namespace } = namesOf(entry.key);
    let usage = this.namespaces.get(namespace);
    if (usage === undefined) {
      const changed = () => this.listeners.forEach((listener) => listener(namespace));
      usage = new NamespaceUsage(namespace, this.sources, [...this.types.values()], changed);
      this.namespaces.set(namespace, usage);
    }
    usage.put(quotaFacts(decodeEntry(entry)));
  }

  private remove(key: string): void {
    const { namespace, name } = namesOf(key);
    const usage = this.namespaces.get(namespace);
    if (usage === undefined || usage.remove(name)) return;
    usage.close();
    this.namespaces.delete(namespace);
  }
}
