import { shownUser, type ShownUser, type UserInfo } from "../../base/user-info.ts";

/** Answers a SelfSubjectReview: who the caller is, after any impersonation (spec: access review 2.3). */
export function reviewSelf(user: UserInfo): { userInfo: ShownUser } {
  return { userInfo: shownUser(user) };
}
