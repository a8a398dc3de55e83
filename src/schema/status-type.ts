import { struct } from "./meta.ts";
import { ListMeta } from "./object-meta.ts";
import { field, int32, list, string } from "./types.ts";

const StatusCause = struct("StatusCause", "One reason of a failure, where a request can have several.", {
  reason: field(1, string, "Short reason for programs."),
  message: field(2, string, "Explanation for people."),
  field: field(3, string, "Place in the request that the cause is about, for example `items[0].name`."),
});

const StatusDetails = struct("StatusDetails", "What a status is about, and further facts for programs.", {
  name: field(1, string, "Name of the object."),
  group: field(2, string, "Group of the object's resource."),
  kind: field(3, string, "Kind or resource type of the object."),
  uid: field(6, string, "Unique identifier of the object."),
  causes: field(4, list(StatusCause), "Every cause that was found.").atomic(),
  retryAfterSeconds: field(5, int32, "When the client may try again, in seconds."),
});

/** The response of a request without an object to return (spec: conventions 4.9). */
export const StatusType = struct("Status", "The result of a request that has no object to show.", {
  kind: field(undefined, string, "Status."),
  apiVersion: field(undefined, string, "Version of the status's form."),
  metadata: field(1, ListMeta, "Metadata as of a list.").emitEmpty(),
  status: field(2, string, "Success or Failure.").knownValues("Failure", "Success"),
  message: field(3, string, "Explanation for people."),
  reason: field(4, string, "Short reason of a failure, for programs."),
  details: field(5, StatusDetails, "What the status is about.").nullable(),
  code: field(6, int32, "HTTP status code."),
});
