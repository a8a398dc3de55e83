import { struct } from "./v1.ts";
import { field, list, map, string } from "../../schema/types.ts";

export const UserInfo = struct("UserInfo", "Attributes of an authenticated user.", {
  username: field(1, string, "Name that uniquely identifies the user."),
  uid: field(2, string, "Unique identifier that stays the same over time."),
  groups: field(3, list(string), "Groups of which the user is a member.").atomic(),
  extra: field(4, map(list(string)), "Further attributes set by the authenticator."),
});
