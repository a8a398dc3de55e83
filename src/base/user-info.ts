/**
 * The authenticated user of a request (spec: conventions 5).
 */
export interface UserInfo {
  readonly name: string;
  /** Identifies the user across renames; empty if the authenticator has none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A user as in the status of reviews, without empty fields. */
export interface ShownUser {
  username?: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** See {@link ShownUser}. */
export function shownUser({ name, uid, groups, extra }: UserInfo): ShownUser {
  const shown: ShownUser = {};
  if (name !== "") shown.username = name;
  if (uid !== "") shown.uid = uid;
  if (groups.length > 0) shown.groups = groups;
  if (Object.keys(extra).length > 0) shown.extra = extra;
  return shown;
}
