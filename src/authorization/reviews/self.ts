import type { UserInfo } from "../../base/user-info.ts";

/** `userInfo` as a SelfSubjectReview answers it, without the fields that have nothing to say. */
export interface ReviewedUserInfo {
  username?: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** Answers a SelfSubjectReview: who the caller is, after any impersonation (spec: access review 2.3). */
export function reviewSelf({ name, uid, groups, extra }: UserInfo): { userInfo: ReviewedUserInfo } {
  const userInfo: ReviewedUserInfo = {};
  if (name !== "") userInfo.username = name;
  if (uid !== "") userInfo.uid = uid;
  if (groups.length > 0) userInfo.groups = groups;
  if (Object.keys(extra).length > 0) userInfo.extra = extra;
  return { userInfo };
}
