import type { UserInfo } from "../../base/user-info.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Returns the user name of a service account (spec: conventions 5.5). */
export function accountUser({ systemPrefix }: Vocabulary, namespace: string, name: string): string {
  return `${systemPrefix}serviceaccount:${namespace}:${name}`;
}

/** Returns the groups of a service account by its user name; empty for other users. */
export function accountGroupsOf(vocabulary: Vocabulary, user: string): string[] {
  const prefix = `${vocabulary.systemPrefix}serviceaccount:`;
  if (!user.startsWith(prefix)) return [];
  const [namespace = "", name] = user.slice(prefix.length).split(":");
  return namespace === "" || name === undefined ? [] : accountGroups(vocabulary, namespace);
}

/** Returns the groups of the service accounts of a namespace. */
function accountGroups({ systemPrefix }: Vocabulary, namespace: string): string[] {
  return [`${systemPrefix}serviceaccounts`, `${systemPrefix}serviceaccounts:${namespace}`];
}

/** Returns the user of a service account. */
export function accountInfo(
  vocabulary: Vocabulary,
  namespace: string,
  account: { readonly name: string; readonly uid: string },
  extra: UserInfo["extra"],
): UserInfo {
  return {
    name: accountUser(vocabulary, namespace, account.name),
    uid: account.uid,
    groups: accountGroups(vocabulary, namespace),
    extra,
  };
}
