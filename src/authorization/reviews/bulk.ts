import type { UserInfo } from "../../base/user-info.ts";
import { turnGiver } from "../../base/turns.ts";
import type { Authorizer } from "../authorizer.ts";
import {
  reviewAccess,
  reviewSelfAccess,
  type AccessStatus,
  type SelfAccessSpec,
  type SubjectAccessSpec,
} from "./access.ts";

/** One check of a BulkAccessReview: exactly one of the two is given. */
export interface Check {
  readonly subject?: SubjectAccessSpec | null | undefined;
  readonly self?: SelfAccessSpec | null | undefined;
}

/** Checks that are under way together: where an answer takes time, they take it together. */
const together = 50;

/** Answers each check of a BulkAccessReview of `caller`, in their order; others have their turn in between. */
export async function reviewInBulk(
  checks: readonly Check[],
  caller: UserInfo,
  authorizer: Authorizer,
): Promise<AccessStatus[]> {
  const results: AccessStatus[] = [];
  const giveTurn = turnGiver();
  for (let from = 0; from < checks.length; from += together) {
    const answers = checks.slice(from, from + together).map(({ subject, self }) =>
      // Rules of form see to it that one of the two is there.
      subject === undefined || subject === null
        ? reviewSelfAccess(caller, self ?? {}, authorizer)
        : reviewAccess(subject, authorizer),
    );
    results.push(...(await Promise.all(answers)));
    await giveTurn();
  }
  return results;
}
