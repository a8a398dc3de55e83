import { struct } from "./v1.ts";
import { field, list, map, string } from "../../schema/types.ts";

export const UserInfo = struct("UserInfo", "What the server holds about a user.", {
  username: field(1, string, "Name that identifies the user among all active users."),
  uid: field(2, string, "Identifies the user over time."),
  groups: field(3, list(string), "Groups the user is in.").atomic(),
  extra: field(4, map(list(string)), "Further facts from the authenticator."),
});
