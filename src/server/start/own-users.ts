import type { UserInfo } from "../../base/user-info.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Returns the identity of the server for its own requests. */
export function loopbackUser({ vocabulary: { systemPrefix } }: Pick<ServerOptions, "vocabulary">): UserInfo {
  return { name: `${systemPrefix}apiserver`, uid: "", groups: [`${systemPrefix}masters`], extra: {} };
}

/** Returns the administrator with the token of this run. */
export function administratorEntry(
  { vocabulary: { systemPrefix } }: Pick<ServerOptions, "vocabulary">,
  token: string,
) {
  return { token, name: "admin", uid: "", groups: [`${systemPrefix}masters`] };
}
