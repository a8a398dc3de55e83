import { byRelease, since } from "../base/release-rows.ts";
import { atomicStruct, struct } from "./meta.ts";
import { replacedIn } from "./added-fields.ts";
import { bool, field, fieldsV1, int64, list, map, string, time } from "./types.ts";

const OwnerReference = atomicStruct(
  "OwnerReference",
  "Reference to an owner of the object; owned objects are garbage-collected.",
  {
    apiVersion: field(5, string, "API group and version of the owner.").declaredRequired(),
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
      "Whether a foreground deletion of the owner waits until this object is gone.",
    ).nullable(),
  },
);

const ManagedFieldsEntry = struct("ManagedFieldsEntry", "Fields of the object that a field manager owns.", {
  manager: field(1, string, "Name of the field manager."),
  operation: field(2, string, "Operation of the manager: Apply or Update.").knownValues("Apply", "Update"),
  apiVersion: field(3, string, "API version to which the field paths belong."),
  time: field(4, time, "Time of the last change of the entry.").nullable(),
  fieldsType: field(6, string, "Format of the field set; always FieldsV1."),
  fieldsV1: field(7, fieldsV1, "Owned fields, as nested objects with prefixed keys.").nullable(),
  subresource: field(8, string, "Subresource that was written; empty for the object itself."),
});

/** Metadata of every stored object (spec: conventions 2.2). */
export const ObjectMeta = struct(
  "ObjectMeta",
  "Metadata of a stored object.",
  {
    name: field(1, string, "Name of the object, unique for its kind and namespace; immutable."),
    generateName: field(2, string, "Prefix for a unique name that the server generates if `name` is absent."),
    namespace: field(3, string, "Namespace of the object; empty for cluster-scoped kinds."),
    selfLink: field(4, string, "Deprecated; the server does not set it."),
    uid: field(5, string, "Unique identifier of the object, never reused; set by the server."),
    resourceVersion: field(
      6,
      string,
      "Opaque version of the stored object; an update with an older version is rejected with 409.",
    ),
    generation: field(
      7,
      int64,
      "Number that increases with every change of the desired state; set by the server.",
    ),
    creationTimestamp: field(8, time, "Time of the creation; set by the server.").emitEmpty(),
    deletionTimestamp: field(
      9,
      time,
      "Time at which the object is due to be removed; set by the server on a deletion.",
    ).nullable(),
    deletionGracePeriodSeconds: field(
      10,
      int64,
      "Grace period of the deletion in seconds; set by the server.",
    ).nullable(),
    labels: field(11, map(string), "Labels for grouping and selecting objects."),
    annotations: field(12, map(string), "Arbitrary metadata for tools; selectors cannot use it."),
    ownerReferences: field(
      13,
      list(OwnerReference),
      "Owners of the object; it is deleted when all of them are gone.",
    )
      .mapBy("uid")
      .patchMerge("uid"),
    finalizers: field(
      14,
      list(string),
      "Names of finalizers; a deleted object is removed only when the list is empty.",
    )
      .set()
      .patchMerge(),
    managedFields: field(
      17,
      list(ManagedFieldsEntry),
      "Owned fields of each field manager; maintained by the server.",
    ).atomic(),
  },
  {
    later: () => ({
      // Absent in templates, where earlier releases write null.
      creationTimestamp: replacedIn("1.34", field(8, time, "Time of the creation; set by the server.")),
    }),
  },
);

/** Returns the members of the metadata of an object that was never created: earlier releases write an empty time. */
export const emptyTimes = byRelease<{ readonly creationTimestamp?: null }>(
  { creationTimestamp: null },
  since("1.34", {}),
);

const ShardInfo = struct("ShardInfo", "The shards to which a list is limited.", {
  selector: field(1, string, "The shard selector of the request.").required(),
});

/** Metadata of a list (spec: conventions 2.2). */
export const ListMeta = struct(
  "ListMeta",
  "Metadata of a list.",
  {
    selfLink: field(1, string, "Deprecated; the server does not set it."),
    resourceVersion: field(2, string, "Opaque version of the collection at the time of the list."),
    continue: field(3, string, "Continuation token for the next chunk; empty in the last one."),
    remainingItemCount: field(4, int64, "Number of items after this chunk, if known.").nullable(),
  },
  {
    later: () => ({
      shardInfo: since(
        "1.36",
        field(5, ShardInfo, "Shards of the list; absent if it is not limited to shards.").nullable(),
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
    apiVersion: field(undefined, string, "API version of the object."),
    metadata: field(1, ObjectMeta, "Metadata of the object.").emitEmpty(),
  },
);
