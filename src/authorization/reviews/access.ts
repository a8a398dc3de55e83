import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Attributes, Authorizer, Decision } from "../authorizer.ts";
import { reviewedSelectors, type ReviewedSelector } from "../request-selectors.ts";

type Maybe<T> = T | null | undefined;

/** `spec.resourceAttributes` of a review. An absent field is the empty string. */
export interface ReviewedResource {
  readonly namespace?: Maybe<string>;
  readonly verb?: Maybe<string>;
  readonly group?: Maybe<string>;
  readonly version?: Maybe<string>;
  readonly resource?: Maybe<string>;
  readonly subresource?: Maybe<string>;
  readonly name?: Maybe<string>;
  readonly fieldSelector?: Maybe<ReviewedSelector>;
  readonly labelSelector?: Maybe<ReviewedSelector>;
}

/** `spec.nonResourceAttributes` of a review. */
export interface ReviewedPath {
  readonly path?: Maybe<string>;
  readonly verb?: Maybe<string>;
}

/** Spec of a SelfSubjectAccessReview; exactly one of the fields is set. */
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

/** Status of an access review; false flags except `allowed` and empty texts are omitted (spec: access review 2.2). */
export interface AccessStatus {
  allowed: boolean;
  denied?: boolean;
  reason?: string;
  evaluationError?: string;
}

/**
 * Returns the status of a SubjectAccessReview, or of a LocalSubjectAccessReview whose namespace has been set. The user has
 * only the groups of the spec.
 */
export function reviewAccess(spec: SubjectAccessSpec, authorizer: Authorizer): MaybePromise<AccessStatus> {
  return reviewSelfAccess(subjectOf(spec), spec, authorizer);
}

/** Returns the status of a SelfSubjectAccessReview of `user`. */
export function reviewSelfAccess(
  user: UserInfo,
  spec: SelfAccessSpec,
  authorizer: Authorizer,
): MaybePromise<AccessStatus> {
  const attributes = reviewedAttributes(user, spec);
  return andThen(authorizer.authorize(attributes), (decision) => accessStatus(decision, attributes));
}

/** Converts the spec of a review to attributes. An absent version means any version. */
export function reviewedAttributes(user: UserInfo, spec: SelfAccessSpec): Attributes {
  const resourceAttributes = spec.resourceAttributes;
  if (resourceAttributes === undefined || resourceAttributes === null) {
    const { path, verb } = spec.nonResourceAttributes ?? {};
    return { kind: "nonResource", user, verb: verb ?? "", path: path ?? "" };
  }
  return {
    kind: "resource",
    user,
    verb: resourceAttributes.verb ?? "",
    group: resourceAttributes.group ?? "",
    version: resourceAttributes.version || "*",
    resource: resourceAttributes.resource ?? "",
    subresource: resourceAttributes.subresource ?? "",
    namespace: resourceAttributes.namespace ?? "",
    name: resourceAttributes.name ?? "",
    selectors: reviewedSelectors(resourceAttributes.fieldSelector, resourceAttributes.labelSelector),
  };
}

/** Returns the user of a spec. No groups are added. */
export function subjectOf({ user, uid, groups, extra }: SubjectAccessSpec): UserInfo {
  const lists = Object.entries(extra ?? {}).map(([key, values]) => [key, values ?? []] as const);
  return { name: user ?? "", uid: uid ?? "", groups: groups ?? [], extra: Object.fromEntries(lists) };
}

/** Converts a decision about the attributes of a review to its status. Selectors that were dropped are evaluation errors. */
export function accessStatus(
  { verdict, reason, evaluationError }: Decision,
  attributes: Attributes,
): AccessStatus {
  const status: AccessStatus = { allowed: verdict === "allow" };
  if (verdict === "deny") status.denied = true;
  if (reason !== "") status.reason = reason;
  const faults = attributes.kind === "resource" ? (attributes.selectors?.faults ?? []) : [];
  const errors = [evaluationError, ...faults.map((fault) => `spec.resourceAttributes.${fault}`)];
  const error = errors.filter((text) => text !== "").join("; ");
  if (error !== "") status.evaluationError = error;
  return status;
}
