import type { Authenticator } from "../authentication/authenticator.ts";
import { reviewToken, type TokenReviewSpec } from "../authentication/token-review.ts";
import type { Authorizer, RuleResolver } from "../authorization/authorizer.ts";
import { reviewAccess, reviewSelfAccess } from "../authorization/reviews/access.ts";
import { reviewRules } from "../authorization/reviews/rules.ts";
import { reviewSelf } from "../authorization/reviews/self.ts";
import type { ReviewHandler } from "../http/service.ts";
import type {
  SelfSubjectAccessReviewSpec,
  SubjectAccessReviewSpec,
} from "../kinds/authorization/attributes.ts";

/** Who knows the answers. */
interface Reviewers {
  readonly authorizer: Authorizer & RuleResolver;
  readonly authenticator: Authenticator;
  /** Those who stand for this server in tokens. */
  readonly ownAudiences: readonly string[];
}

/** Who answers the reviews (spec: access review 2.2, 2.3). */
export function reviewHandlers({
  authorizer,
  authenticator,
  ownAudiences,
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
      async (review, { user }) => {
        const spec = review["spec"] as SelfSubjectAccessReviewSpec;
        review["status"] = await reviewSelfAccess(user, spec, authorizer);
      },
    ],
    [
      "SelfSubjectRulesReview",
      async (review, { user }) => {
        const { namespace } = review["spec"] as { namespace: string };
        review["status"] = await reviewRules(user, namespace, authorizer);
      },
    ],
    [
      "SelfSubjectReview",
      (review, { user }) => {
        review["status"] = reviewSelf(user);
      },
    ],
  ]);
}
