import { emptyTimes } from "../../schema/object-meta.ts";
import type { Authenticator } from "../../authentication/authenticator.ts";
import { reviewToken, type TokenReviewSpec } from "../../authentication/token-review.ts";
import { reviewAccess, reviewSelfAccess } from "../../authorization/reviews/access.ts";
import { reviewInBulk } from "../../authorization/reviews/bulk.ts";
import { explainAccess, type NotesOn } from "../../authorization/reviews/explanation.ts";
import { reviewRules } from "../../authorization/reviews/rules.ts";
import { reviewSelf } from "../../authorization/reviews/self.ts";
import { listSubjects } from "../../authorization/reviews/subject-list.ts";
import type { AuthorizerChain } from "../../authorization/authorizer-chain.ts";
import type { ReviewHandler } from "../../resources/writes/review.ts";
import type {
  SelfSubjectAccessReviewSpec,
  SubjectAccessReviewSpec,
} from "../../kinds/authorization/attributes.ts";
import type { BulkAccessReviewSpec } from "../../kinds/insight/bulk-access-review.ts";
import { decodeContinueToken, encodeContinueToken } from "../../kinds/insight/continue-token.ts";
import { defaultSubjects, type SubjectAccessListSpec } from "../../kinds/insight/subject-access-list.ts";
import type { Timestamps } from "../../base/time/timestamps.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { insightNotes } from "../../authorization/reviews/insight-notes.ts";

/** The dependencies of the review handlers. */
interface Reviewers {
  readonly authorizer: AuthorizerChain;
  readonly authenticator: Authenticator;
  /** The audiences that tokens for this server have. */
  readonly ownAudiences: readonly string[];
  readonly registry: Registry;
  readonly timestamps: Timestamps;
}

/**
 * Returns the handlers of the access and token reviews (spec: access review 2.2, 2.3) and of the insight group, by
 * kind.
 */
export function reviewHandlers(reviewers: Reviewers): Map<string, ReviewHandler> {
  return new Map([...accessReviewHandlers(reviewers), ...insightHandlers(reviewers)]);
}

function insightHandlers({ authorizer: chain, registry }: Reviewers): Map<string, ReviewHandler> {
  const { vocabulary } = registry;
  const notesOn: NotesOn = (attributes, allowed) => insightNotes(attributes, allowed, registry);
  return new Map<string, ReviewHandler>([
    [
      "AccessExplanation",
      async (review) => {
        await registry.readAll();
        review["status"] = await explainAccess(
          review["spec"] as SubjectAccessReviewSpec,
          chain,
          vocabulary,
          notesOn,
        );
      },
    ],
    [
      "SubjectAccessList",
      async (review) => {
        const spec = review["spec"] as SubjectAccessListSpec;
        const after = spec.continue === undefined ? undefined : decodeContinueToken(spec.continue);
        const query = { ...spec, limit: spec.limit ?? defaultSubjects, after };
        const { subjects, last, unlisted } = await listSubjects(query, chain, vocabulary);
        const next = last === undefined ? {} : { continue: encodeContinueToken(last) };
        review["status"] = { subjects, ...next, unlisted };
      },
    ],
    [
      "BulkAccessReview",
      async (review, user) => {
        const spec = review["spec"] as BulkAccessReviewSpec;
        review["status"] = { results: await reviewInBulk(spec, user, chain) };
      },
    ],
  ]);
}

function accessReviewHandlers({
  authorizer,
  authenticator,
  ownAudiences,
  registry,
  timestamps,
}: Reviewers): Map<string, ReviewHandler> {
  const subject: ReviewHandler = async (review) => {
    review["status"] = await reviewAccess(review["spec"] as SubjectAccessReviewSpec, authorizer);
  };
  return new Map<string, ReviewHandler>([
    [
      "TokenReview",
      async (review) => {
        const spec = review["spec"] as TokenReviewSpec;
        review["status"] = await reviewToken(spec, authenticator, ownAudiences);
      },
    ],
    ["SubjectAccessReview", subject],
    ["LocalSubjectAccessReview", subject],
    [
      "SelfSubjectAccessReview",
      async (review, user) => {
        const spec = review["spec"] as SelfSubjectAccessReviewSpec;
        review["status"] = await reviewSelfAccess(user, spec, authorizer);
      },
    ],
    [
      "SelfSubjectRulesReview",
      async (review, user) => {
        const { namespace } = review["spec"] as { namespace: string };
        // The response has only the rules.
        review["spec"] = {};
        review["metadata"] = emptyTimes(registry);
        review["status"] = await reviewRules(user, namespace, authorizer);
      },
    ],
    [
      "SelfSubjectReview",
      (review, user) => {
        // The response is a new object without the metadata of the request.
        review["metadata"] = { creationTimestamp: timestamps.now() };
        review["status"] = reviewSelf(user);
      },
    ],
  ]);
}
