import { isAtLeast, type Release } from "../base/releases.ts";
import { atomicStruct, struct } from "./meta.ts";
import { replacedIn, since } from "./later-fields.ts";
import { bool, field, fieldsV1, int64, list, map, string, time } from "./types.ts";

const OwnerReference = atomicStruct("OwnerReference", "An object that this one depends on.", {
  apiVersion: field(5, string, "Group and version of the owner.").declaredRequired(),
  kind: field(1, string, "Kind of the owner.").declaredRequired(),
  name: field(3, string, "Name of the owner.").declaredRequired(),
  uid: field(4, string, "Unique identifier of the owner.").declaredRequired(),
  controller: field(
    6,
    bool,
    "Whether the owner is the managing controller; at most one owner is.",
  ).nullable(),
  blockOwnerDeletion: field(
    7,
    bool,
    "Whether the owner, deleted in the foreground, waits until this reference is gone.",
  ).nullable(),
});

const ManagedFieldsEntry = struct("ManagedFieldsEntry", "The fields that one manager owns.", {
  manager: field(1, string, "Name of the manager."),
  operation: field(2, string, "How the manager came to own the fields.").knownValues("Apply", "Update"),
  apiVersion: field(3, string, "Version of the object in which the fields are named."),
  time: field(4, time, "When the entry last changed.").nullable(),
  fieldsType: field(6, string, "Format of the field set; only FieldsV1 exists."),
  fieldsV1: field(7, fieldsV1, "The owned fields, as nested objects with prefixed keys.").nullable(),
  subresource: field(
    8,
    string,
    "Subresource through which the fields were written; empty for the object itself.",
  ),
});

/** Metadata of every stored object (spec: conventions 2.2). */
export const ObjectMeta = struct(
  "ObjectMeta",
  "Metadata that every stored object has.",
  {
    name: field(1, string, "Name, unique for the kind within its namespace; it can't be changed."),
    generateName: field(2, string, "Prefix from which the server makes a unique name when no name is given."),
    namespace: field(3, string, "Namespace of the object; empty for kinds of cluster scope."),
    selfLink: field(4, string, "No longer filled in by the server."),
    uid: field(5, string, "Random identifier of this object, never used again; set by the server."),
    resourceVersion: field(
      6,
      string,
      "Opaque version of the object as stored; a write that names an older one fails.",
    ),
    generation: field(7, int64, "Counts the changes of the desired state; set by the server."),
    creationTimestamp: field(8, time, "When the object was created; set by the server.").emitEmpty(),
    deletionTimestamp: field(9, time, "When its deletion was asked for; set by the server.").nullable(),
    deletionGracePeriodSeconds: field(10, int64, "Seconds the object is given to end well.").nullable(),
    labels: field(11, map(string), "Keys and values by which objects are selected."),
    annotations: field(12, map(string), "Keys and free texts for tools; nothing selects by them."),
    ownerReferences: field(
      13,
      list(OwnerReference),
      "Objects this one depends on; when all are gone, so is this.",
    )
      .mapBy("uid")
      .patchMerge("uid"),
    finalizers: field(14, list(string), "The object stays, marked as deleted, until this list is empty.")
      .set()
      .patchMerge(),
    managedFields: field(17, list(ManagedFieldsEntry), "Who owns which fields; kept by the server.").atomic(),
  },
  {
    later: () => ({
      // Absent in templates, where earlier releases write null.
      creationTimestamp: replacedIn(
        "1.34",
        field(8, time, "When the object was created; set by the server."),
      ),
    }),
  },
);

/** Returns the members of the metadata of an object that was never created: earlier releases write an empty time. */
export function emptyTimes(release: Release): { readonly creationTimestamp?: null } {
  return isAtLeast(release, "1.34") ? {} : { creationTimestamp: null };
}

const ShardInfo = struct("ShardInfo", "The shards that a list is limited to.", {
  selector: field(1, string, "The shard selector of the request.").required(),
});

/** Metadata of a list (spec: conventions 2.2). */
export const ListMeta = struct(
  "ListMeta",
  "Metadata of a list.",
  {
    selfLink: field(1, string, "No longer filled in by the server."),
    resourceVersion: field(2, string, "Opaque version at which the list was read."),
    continue: field(3, string, "Token for the next chunk; empty at the end."),
    remainingItemCount: field(4, int64, "How many items follow this chunk, where that is known.").nullable(),
  },
  {
    later: () => ({
      shardInfo: since(
        "1.36",
        field(5, ShardInfo, "Set if the list has only the objects of some shards.").nullable(),
      ),
    }),
  },
);

/** An object of which only the metadata is shown (spec: conventions 4.7). */
export const PartialObjectMetadata = struct(
  "PartialObjectMetadata",
  "The metadata of an object of any kind.",
  {
    kind: field(undefined, string, "PartialObjectMetadata."),
    apiVersion: field(undefined, string, "Version of this form."),
    metadata: field(1, ObjectMeta, "Metadata of the object.").emitEmpty(),
  },
);
