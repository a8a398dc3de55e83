/**
 * Who makes a request, as an authenticator attaches it (spec: conventions 5). The values are opaque to
 * authentication and interpreted by authorization.
 */
export interface UserInfo {
  readonly name: string;
  /** Identifies the user over time; empty when the method knows none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}
