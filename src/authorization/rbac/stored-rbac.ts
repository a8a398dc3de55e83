import type { Clock } from "../../base/time/clock.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { nextTurn, type YieldIfDue } from "../../base/turns/yielding.ts";
import type { AccessScopes } from "../access-scopes.ts";
import type {
  Attributes,
  Authorizer,
  ChangingScopeResolver,
  DatedScopes,
  Decision,
  FollowRequest,
  RuleList,
  RuleResolver,
  ScopeAttributes,
} from "../authorizer.ts";
import { putGrant, removeGrant } from "./grant-entries.ts";
import { GrantLine } from "./grant-line.ts";
import { grantedScopes, scopeKey } from "./granted-scopes.ts";
import { RbacIndex } from "./rbac-index.ts";
import { rbac } from "../../kinds/groups.ts";
import { Follower } from "../../resources/followers/follower.ts";
import type { FollowedView } from "../../resources/objects/followed-view.ts";
import { groupName } from "../../schema/kind.ts";
import type { Entry, Revision, Store } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** The scopes of a user for a verb and resource type, with the generation of the index from which they were read. */
interface CachedScopes {
  readonly generation: number;
  readonly scopes: AccessScopes;
}

/** The cost is the number of namespaces and names. */
const cacheLimits = { entries: 256, cost: 200_000 };
/** Maximum size of cached scopes; larger ones would evict those of all other users. */
const maxCachedSize = 50_000;
/** Times that scopes are read from the index that changes; then they are read from one whose changes wait. */
const maxAttempts = 3;

/**
 * RBAC over the stored roles and bindings. A decision reflects every write that was acknowledged before the call, also by other
 * server processes.
 */
export class StoredRbac implements Authorizer, RuleResolver, ChangingScopeResolver {
  readonly index: RbacIndex;
  private readonly follower: Follower;
  private readonly scopes = new RecentMap<CachedScopes>(cacheLimits);

  /** Exists while views are watched, or if roles change faster than lists of views read them. */
  private line: GrantLine | undefined;
  private readonly newLine: () => GrantLine;

  constructor(store: Store, vocabulary: Vocabulary, clock: Clock, failed: (error: unknown) => void) {
    this.index = new RbacIndex(vocabulary);
    const handler = {
      put: (entry: Entry, _created: boolean, lasting: boolean) => putGrant(this.index, entry, lasting),
      remove: (key: string) => removeGrant(this.index, key),
      failed,
    };
    const prefix = `/${groupName(rbac, vocabulary)}/`;
    this.follower = new Follower(store, prefix, handler, clock);
    this.newLine = () => {
      const ended = () => (this.line = undefined);
      return new GrantLine({ store, prefix, vocabulary, clock, failed, ended });
    };
  }

  /** Resolves when the index contains all stored roles and bindings. */
  start(): Promise<void> {
    return this.follower.start();
  }

  /** Resolves when the index reflects every write acknowledged before the call. */
  sync(): MaybePromise<void> {
    return this.follower.sync();
  }

  authorize(attributes: Attributes): MaybePromise<Decision> {
    const synced = this.follower.sync();
    return synced instanceof Promise ? synced.then(() => this.decide(attributes)) : this.decide(attributes);
  }

  private decide(attributes: Attributes): MaybePromise<Decision> {
    return this.index.attempt(attributes) ?? this.decideInSteps(attributes);
  }

  /** Yields to the event loop while a large number of rules is added to tables. */
  private async decideInSteps(attributes: Attributes): Promise<Decision> {
    for (;;) {
      await nextTurn();
      const decision = this.index.attempt(attributes);
      if (decision !== undefined) return decision;
    }
  }

  rulesFor(user: UserInfo, namespace: string): MaybePromise<RuleList> {
    return andThen(this.follower.sync(), () => this.index.rulesFor(user, namespace));
  }

  /** Returns the objects that roles grant; cached until a role or binding changes. */
  async currentScopes(attributes: ScopeAttributes, yieldIfDue: YieldIfDue): Promise<DatedScopes> {
    const key = scopeKey(attributes);
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const { revision, generation } = await this.state();
      if (revision === undefined) continue;
      const cached = this.scopes.get(key);
      if (cached?.generation === generation) return { revision, scopes: cached.scopes };
      const scopes = await grantedScopes(this.index, attributes, yieldIfDue);
      // Otherwise the result may have parts of several states.
      if (this.index.generation !== generation) continue;
      if (scopes.size <= maxCachedSize) this.scopes.set(key, { generation, scopes }, scopes.size);
      return { revision, scopes };
    }
    return this.currentLine().scopesNow(attributes);
  }

  /** Returns the generation of the index that reflects every write acknowledged before the call, and its revision. */
  private state(): MaybePromise<{ readonly revision: Revision | undefined; readonly generation: number }> {
    return andThen(this.follower.sync(), () => ({
      revision: this.follower.revision,
      generation: this.index.generation,
    }));
  }

  /** Follows the objects that roles grant to a user. */
  followScopes(request: FollowRequest): Promise<FollowedView> {
    return this.currentLine().follow(request);
  }

  private currentLine(): GrantLine {
    return (this.line ??= this.newLine());
  }

  close(): void {
    this.line?.close();
    this.follower.close();
  }
}
