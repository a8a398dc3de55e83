import { struct } from "./meta.ts";
import { ListMeta } from "./object-meta.ts";
import { field, int32, list, string, object } from "./types.ts";

/** One event of a watch (spec: conventions 2.3). */
export const WatchEventType = struct("WatchEvent", "An event of a watch.", {
  type: field(1, string, "Type of the event: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.").required(),
  object: field(
    2,
    object,
    "The object after the change or before its deletion; a Status for the type ERROR.",
  ).required(),
});

const StatusCause = struct("StatusCause", "One cause of a failure.", {
  reason: field(1, string, "Machine-readable type of the cause."),
  message: field(2, string, "Human-readable details."),
  field: field(3, string, "Path of the field with the cause, such as `items[0].name`."),
});

const StatusDetails = struct("StatusDetails", "Details of a status.", {
  name: field(1, string, "Name of the object."),
  group: field(2, string, "API group of the resource."),
  kind: field(3, string, "Kind or resource type of the object."),
  uid: field(6, string, "Unique identifier of the object."),
  causes: field(4, list(StatusCause), "The causes of the failure, such as invalid fields.").atomic(),
  retryAfterSeconds: field(5, int32, "Seconds after which the client may retry."),
});

/** The response of a request without an object to return (spec: conventions 4.9). */
export const StatusType = struct("Status", "The result of a request that does not return an object.", {
  kind: field(undefined, string, "Kind of the document: Status."),
  apiVersion: field(undefined, string, "API version of the status."),
  metadata: field(1, ListMeta, "Metadata of the status, without content.").emitEmpty(),
  status: field(2, string, "Outcome of the request: Success or Failure.").knownValues("Failure", "Success"),
  message: field(3, string, "Human-readable details."),
  reason: field(4, string, "Machine-readable reason of the failure, such as NotFound."),
  details: field(5, StatusDetails, "Details of the failure.").nullable(),
  code: field(6, int32, "HTTP status code."),
});
