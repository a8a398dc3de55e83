import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { YieldIfDue } from "../base/turns/yielding.ts";
import type { FollowedView } from "../resources/objects/followed-view.ts";
import type { EnumeratedView } from "../resources/objects/object-view.ts";
import type { Revision } from "../storage/store.ts";
import type { AccessScopes } from "./access-scopes.ts";
import type { RequestSelectors } from "./request-selectors.ts";

/** The attributes of a request that authorization depends on. */
export type Attributes = ResourceAttributes | NonResourceAttributes;

/** A request for a resource. */
export interface ResourceAttributes {
  readonly kind: "resource";
  readonly user: UserInfo;
  /** API verb: get, list, watch, create, update, patch, delete, deletecollection, proxy, bind, escalate, … */
  readonly verb: string;
  /** Full group name; the core group is the empty string. */
  readonly group: string;
  readonly version: string;
  /** Resource type, for example `roles`. */
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** Empty: cluster scope, or all namespaces. */
  readonly namespace: string;
  /** Empty: all names. */
  readonly name: string;
  /** Undefined without selectors, and if the feature gate AuthorizeWithSelectors is off. */
  readonly selectors?: RequestSelectors | undefined;
}

/** A request for a path that isn't a resource. */
export interface NonResourceAttributes {
  readonly kind: "nonResource";
  readonly user: UserInfo;
  /** HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

/** Result of an authorizer. Any verdict may have an `evaluationError` (spec: access review 2.2). */
export interface Decision {
  /** `noOpinion` passes the request to the next authorizer; if all have no opinion, the request is denied. */
  readonly verdict: "allow" | "deny" | "noOpinion";
  /** Reason of the verdict, may be empty. If RBAC allows the request, it names binding, role and subject. */
  readonly reason: string;
  /** Errors during evaluation, for example a roleRef to a missing role; empty if there were none. */
  readonly evaluationError: string;
}

/** Decides requests. Implementations must not throw for invalid data; they set `evaluationError`. */
export interface Authorizer {
  /** Returns a decision that reflects every write acknowledged before the call. */
  authorize(attributes: Attributes): MaybePromise<Decision>;
}

/** A rule in the status of a SelfSubjectRulesReview (spec: access review 2.2). */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

/** A rule for paths. */
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** The rules of an authorizer for a user. */
export interface RuleList {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** True if rules may be missing, for example because an authorizer can't enumerate its rules. */
  readonly incomplete: boolean;
  readonly evaluationError: string;
}

/** Lists the rules that apply to a user in a namespace. */
export interface RuleResolver {
  /** Returns the rules, for SelfSubjectRulesReviews. */
  rulesFor(user: UserInfo, namespace: string): MaybePromise<RuleList>;
}

/** Attributes of a request for objects to enumerate. */
export interface ScopeAttributes extends ResourceAttributes {
  /** A verb of which grants to single names count too; undefined for none. */
  readonly namedVerb?: string;
}

/** The objects to follow, for {@link ChangingScopeResolver.followScopes}. */
export interface FollowRequest {
  /** The namespace limits the grants that matter; empty for all. The name is ignored. */
  readonly attributes: ScopeAttributes;
  /** Returns the view of a user with these grants of the authorizer; depends on the attributes only. */
  readonly toView: (scopes: AccessScopes) => EnumeratedView;
  /** Revision of the first state; undefined: one that has every write acknowledged before the call. */
  readonly after: Revision | undefined;
}

/** Enumerates the objects that a user may access. */
export type ScopeResolver = FixedScopeResolver | ChangingScopeResolver;

/** Enumerates objects by grants that never change for a user. */
export interface FixedScopeResolver {
  /**
   * Returns the objects for which the authorizer allows the verb of a request; it must never deny a request. The name in the attributes is
   * ignored; the result needs to be complete only for their namespace (empty: for all). The result isn't changed afterwards.
   *
   * @returns undefined if the objects of this user can't be enumerated, so that each has to be decided by {@link Authorizer.authorize},
   * which takes microseconds.
   */
  scopesFor(attributes: ScopeAttributes, yieldIfDue: YieldIfDue): MaybePromise<AccessScopes | undefined>;
}

/** The objects that a user may access at one revision of the store. */
export interface DatedScopes {
  readonly scopes: AccessScopes;
  readonly revision: Revision;
}

/** Enumerates objects by grants in the store. */
export interface ChangingScopeResolver {
  /**
   * As {@link FixedScopeResolver.scopesFor}, exactly at the revision that is returned: one that has every write acknowledged before the
   * call.
   */
  currentScopes(attributes: ScopeAttributes, yieldIfDue: YieldIfDue): Promise<DatedScopes>;
  /** Follows what {@link currentScopes} returns. */
  followScopes(request: FollowRequest): Promise<FollowedView>;
}

/** Whether the grants of a resolver change with the revisions of the store. */
export function isChanging(resolver: ScopeResolver): resolver is ChangingScopeResolver {
  return "followScopes" in resolver;
}
