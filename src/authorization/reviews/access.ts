import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Attributes, Authorizer, Decision } from "../authorizer.ts";

type Maybe<T> = T | null | undefined;

/** `spec.resourceAttributes` of a review; what is absent is empty. */
export interface ReviewedResource {
  readonly namespace?: Maybe<string>;
  readonly verb?: Maybe<string>;
  readonly group?: Maybe<string>;
  readonly version?: Maybe<string>;
  readonly resource?: Maybe<string>;
  readonly subresource?: Maybe<string>;
  readonly name?: Maybe<string>;
}

/** `spec.nonResourceAttributes` of a review. */
export interface ReviewedPath {
  readonly path?: Maybe<string>;
  readonly verb?: Maybe<string>;
}

/** Spec of a SelfSubjectAccessReview; exactly one of the two is given. */
export interface SelfAccessSpec {
  readonly resourceAttributes?: Maybe<ReviewedResource>;
  readonly nonResourceAttributes?: Maybe<ReviewedPath>;
}

/** Spec of a SubjectAccessReview or LocalSubjectAccessReview. */
export interface SubjectAccessSpec extends SelfAccessSpec {
  readonly user?: Maybe<string>;
  readonly groups?: Maybe<readonly string[]>;
  readonly uid?: Maybe<string>;
  readonly extra?: Maybe<Readonly<Record<string, Maybe<readonly string[]>>>>;
}

/** Status of an access review, without the fields that have nothing to say (spec: access review 2.2). */
export interface AccessStatus {
  allowed: boolean;
  denied?: boolean;
  reason?: string;
  evaluationError?: string;
}

/**
 * Answers a SubjectAccessReview, or a LocalSubjectAccessReview whose namespace has been filled in. The user is exactly
 * the one of the spec: nobody adds groups to it.
 */
export function reviewAccess(spec: SubjectAccessSpec, authorizer: Authorizer): MaybePromise<AccessStatus> {
  return reviewSelfAccess(subjectOf(spec), spec, authorizer);
}

/** Answers a SelfSubjectAccessReview of `user`. */
export function reviewSelfAccess(
  user: UserInfo,
  spec: SelfAccessSpec,
  authorizer: Authorizer,
): MaybePromise<AccessStatus> {
  return andThen(authorizer.authorize(reviewedAttributes(user, spec)), accessStatus);
}

/** What a review asks, as an authorizer is asked; an absent version stands for every version. */
export function reviewedAttributes(user: UserInfo, spec: SelfAccessSpec): Attributes {
  const asked = spec.resourceAttributes;
  if (asked === undefined || asked === null) {
    const { path, verb } = spec.nonResourceAttributes ?? {};
    return { kind: "nonResource", user, verb: verb ?? "", path: path ?? "" };
  }
  return {
    kind: "resource",
    user,
    verb: asked.verb ?? "",
    group: asked.group ?? "",
    version: asked.version || "*",
    resource: asked.resource ?? "",
    subresource: asked.subresource ?? "",
    namespace: asked.namespace ?? "",
    name: asked.name ?? "",
  };
}

/** The user of a spec: with its groups and no others. */
export function subjectOf({ user, uid, groups, extra }: SubjectAccessSpec): UserInfo {
  const lists = Object.entries(extra ?? {}).map(([key, values]) => [key, values ?? []] as const);
  return { name: user ?? "", uid: uid ?? "", groups: groups ?? [], extra: Object.fromEntries(lists) };
}

/** A decision as the status of a review says it. */
export function accessStatus({ verdict, reason, evaluationError }: Decision): AccessStatus {
  const status: AccessStatus = { allowed: verdict === "allow" };
  if (verdict === "deny") status.denied = true;
  if (reason !== "") status.reason = reason;
  if (evaluationError !== "") status.evaluationError = evaluationError;
  return status;
}
