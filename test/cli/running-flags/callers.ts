import { AUTHN } from "../../api/support.ts";
import type { Answer } from "../../support/api.ts";
import type { FlaggedServer } from "./table.ts";

/** Path of the reviews that tell callers who they are, and the flag that turns them on. */
export const self = `${AUTHN}/selfsubjectreviews`;
export const selfReviews = "--runtime-config=authentication.platform.io/v1alpha1";

/** Who the server takes a caller for; the status where it refuses. */
export function userOf({ status, body }: Answer): unknown {
  return status === 201 ? body.status.userInfo : status;
}

export async function nameWith(server: FlaggedServer, token: string): Promise<unknown> {
  const user = userOf(await server.as(token).post(self, {}));
  return typeof user === "number" ? user : (user as { username: string }).username;
}
