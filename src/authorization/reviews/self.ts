import { shownUser, type ShownUser, type UserInfo } from "../../base/user-info.ts";

/** Returns the status of a SelfSubjectReview: the user after impersonation (spec: access review 2.3). */
export function reviewSelf(user: UserInfo): { userInfo: ShownUser } {
  return { userInfo: shownUser(user) };
}
