/**
 * The user of a request, as the authenticator determined it (spec: conventions 5). The values are opaque to
 * authentication and interpreted by authorization.
 */
export interface UserInfo {
  readonly name: string;
  /** Identifies the user over time; empty if the method has none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** Returns the user for a review, without empty fields. */
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
