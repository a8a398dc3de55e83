import { andThen, detach, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { SkippedRequest } from "../admission-chain.ts";
import type { FollowedObjects } from "../followed-objects.ts";
import { isForFilesOnly, type StaticObjects } from "../manifests/static-objects.ts";
import { MatchIndex, type Match } from "../matching/match-index.ts";
import { webhooksOf, type Webhook } from "./webhook.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { PolicyPrograms } from "../policies/environment.ts";

/** The webhooks of one configuration. */
export interface FollowedConfiguration {
  readonly name: string;
  readonly webhooks: readonly Webhook[];
}

/** Reads a configuration. */
export function configurationOf(configuration: ApiObject, programs: PolicyPrograms): FollowedConfiguration {
  return { name: configuration.metadata.name ?? "", webhooks: webhooksOf(configuration, programs) };
}

const none: readonly Match<Webhook>[] = [];

/** The webhooks of some configurations, indexed. */
class IndexedWebhooks {
  private indexed: readonly FollowedConfiguration[] | undefined;
  private index: MatchIndex<Webhook> | undefined;

  constructor(private readonly registry: Registry) {}

  matching(
    configurations: readonly FollowedConfiguration[],
    { operation, requestResource: resource, target }: SkippedRequest,
  ): readonly Match<Webhook>[] {
    if (configurations.length === 0) return none;
    if (configurations !== this.indexed) this.index = this.indexOf(configurations);
    this.indexed = configurations;
    return this.index!.matching({ operation, resource, subresource: target.subresource });
  }

  private indexOf(configurations: readonly FollowedConfiguration[]): MatchIndex<Webhook> {
    const sorted = configurations.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return new MatchIndex(
      sorted.flatMap(({ webhooks }) => webhooks),
      this.registry,
    );
  }
}

/**
 * Finds the webhooks with rules that match a request: those in files, then those in the store; each sorted by the names of their
 * configurations, then by their order in the configuration. A change of a configuration is effective for the next request.
 */
export class FollowedWebhooks {
  private readonly stored: IndexedWebhooks;
  private readonly inFiles: IndexedWebhooks;
  /** Reads that have begun, by request. */
  private readonly started = new WeakMap<SkippedRequest, Promise<readonly Match<Webhook>[]>>();

  constructor(
    private readonly configurations: FollowedObjects<FollowedConfiguration>,
    registry: Registry,
    private readonly files?: StaticObjects<readonly FollowedConfiguration[]>,
  ) {
    this.stored = new IndexedWebhooks(registry);
    this.inFiles = new IndexedWebhooks(registry);
  }

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
    const files = this.files === undefined ? none : this.inFiles.matching(this.files.current, request);
    if (this.files !== undefined && isForFilesOnly(request)) return files;
    return andThen(this.configurations.in(""), (configurations) => {
      const stored = this.stored.matching(configurations, request);
      if (files.length === 0) return stored;
      return stored.length === 0 ? files : [...files, ...stored];
    });
  }
}
