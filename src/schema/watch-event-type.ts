import { struct } from "./meta.ts";
import { field, object, string } from "./types.ts";

/** One event of a watch (spec: conventions 2.3). */
export const WatchEventType = struct("WatchEvent", "An event of a watch.", {
  type: field(1, string, "Type of the event: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.").required(),
  object: field(
    2,
    object,
    "The object after the change or before its deletion; a Status for the type ERROR.",
  ).required(),
});
