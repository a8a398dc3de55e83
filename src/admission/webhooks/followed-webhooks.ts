import { andThen, detach, type MaybePromise } from "../../base/maybe-promise.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { SkippedRequest } from "../admission-chain.ts";
import type { FollowedObjects } from "../followed-objects.ts";
import { MatchIndex, type Match } from "../matching/match-index.ts";
import type { Webhook } from "./webhook.ts";

/** The webhooks of one configuration. */
export interface FollowedConfiguration {
  readonly name: string;
  readonly webhooks: readonly Webhook[];
}

const none: readonly Match<Webhook>[] = [];

/**
 * Finds the webhooks with rules that match a request, sorted by the names of their configurations, then by their order in the
 * configuration. A change of a configuration is effective for the next request.
 */
export class FollowedWebhooks {
  private indexed: readonly FollowedConfiguration[] | undefined;
  private index: MatchIndex<Webhook> | undefined;
  /** Reads that have begun, by request. */
  private readonly started = new WeakMap<SkippedRequest, Promise<readonly Match<Webhook>[]>>();

  constructor(
    private readonly configurations: FollowedObjects<FollowedConfiguration>,
    private readonly registry: Registry,
  ) {}

  /** Whether no webhook matches; false if the configurations must be read first. */
  matchesNone(request: SkippedRequest): boolean {
    const matches = this.matching(request);
    // The next call of `matching` waits for the same read and reports its failure.
    detach(matches, () => undefined);
    return !(matches instanceof Promise) && matches.length === 0;
  }

  /**
   * Returns the webhooks that match a request. If the store must be asked, the calls of a request share its answer.
   *
   * @throws {StoreUnavailableError} the configurations can't be read.
   */
  matching(request: SkippedRequest): MaybePromise<readonly Match<Webhook>[]> {
    const started = this.started.get(request);
    if (started !== undefined) return started;
    const matches = this.currentMatches(request);
    if (matches instanceof Promise) this.started.set(request, matches);
    return matches;
  }

  private currentMatches(request: SkippedRequest): MaybePromise<readonly Match<Webhook>[]> {
    return andThen(this.configurations.in(""), (configurations) => {
      if (configurations.length === 0) return none;
      if (configurations !== this.indexed) this.index = this.indexOf(configurations);
      this.indexed = configurations;
      const { operation, requestResource: resource, target } = request;
      return this.index!.matching({ operation, resource, subresource: target.subresource });
    });
  }

  private indexOf(configurations: readonly FollowedConfiguration[]): MatchIndex<Webhook> {
    const sorted = configurations.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return new MatchIndex(
      sorted.flatMap(({ webhooks }) => webhooks),
      this.registry,
    );
  }
}
