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
 * Finds the webhooks whose rules match a request, in the order in which they are called: by the names of their
 * configurations, then as the configuration lists them. A change of a configuration counts for the very next request.
 */
export class FollowedWebhooks {
  private from: readonly FollowedConfiguration[] | undefined;
  private index: MatchIndex<Webhook> | undefined;

  constructor(
    private readonly configurations: FollowedObjects<FollowedConfiguration>,
    private readonly registry: Registry,
  ) {}

  /** Whether it is known at once that no webhook's rules match. */
  matchesNone(request: SkippedRequest): boolean {
    const found = this.matching(request);
    // Whoever asks next waits for it, and is told of a failure.
    detach(found, () => undefined);
    return !(found instanceof Promise) && found.length === 0;
  }

  /** @throws {StoreUnavailableError} the configurations can't be read at present. */
  matching(request: SkippedRequest): MaybePromise<readonly Match<Webhook>[]> {
    return andThen(this.configurations.in(""), (configurations) => {
      if (configurations.length === 0) return none;
      if (configurations !== this.from) this.index = this.indexOf(configurations);
      this.from = configurations;
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
