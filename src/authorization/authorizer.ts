import type { MaybePromise } from "../base/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";

/** What a request wants to do, as far as authorization cares. */
export type Attributes = ResourceAttributes | NonResourceAttributes;

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
}

export interface NonResourceAttributes {
  readonly kind: "nonResource";
  readonly user: UserInfo;
  /** HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

/** An authorizer's answer. `evaluationError` may accompany any verdict (spec: access review 2.2). */
export interface Decision {
  /** `noOpinion` passes the request to the next authorizer; when none has an opinion, the request is denied. */
  readonly verdict: "allow" | "deny" | "noOpinion";
  /** Why; for an allowed request it names binding, role and subject. Empty when there is nothing to say. */
  readonly reason: string;
  /** What went wrong while deciding, for example a dangling roleRef; empty when nothing did. */
  readonly evaluationError: string;
}

/** Answers "may they". Implementations must not throw for bad data: that is `evaluationError`. */
export interface Authorizer {
  /** The decision as of every write acknowledged before the call. */
  authorize(attributes: Attributes): MaybePromise<Decision>;
}

/** One rule as a rules review lists it (spec: access review 2.2). */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface RuleList {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** True when rules may be missing, for example because an authorizer can't enumerate. */
  readonly incomplete: boolean;
  readonly evaluationError: string;
}

/** Enumerates what a user may do in a namespace. */
export interface RuleResolver {
  rulesFor(user: UserInfo, namespace: string): MaybePromise<RuleList>;
}
