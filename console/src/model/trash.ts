import type { Metadata, OwnerReference } from "./metadata.ts";
import { apiVersionOf, type ResourceType } from "./resource-types.ts";

/** A state of an object. */
export interface ObjectState {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

/** The last state of a deleted object. */
export interface DeletedObject {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  /** Time of the deletion. */
  readonly deletedAt: string;
  /** The user who deleted it; empty if that is unknown. */
  readonly deletedBy: string;
  readonly object: ObjectState;
}

/** An owner reference with the uid that its owner has now; undefined if the owner no longer exists. */
export interface PresentOwner {
  readonly reference: OwnerReference;
  readonly uid: string | undefined;
}

/** A deleted object as it can be created again. */
export interface Recreation {
  readonly object: ObjectState;
  /** A line for each owner reference that differs. */
  readonly notes: readonly string[];
}

/** Members of the metadata that the server sets, or that belong to the deletion. */
const serverSet: ReadonlySet<string> = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "selfLink",
  "managedFields",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
]);
/** Finalizers with which the garbage collector deletes an object. */
const ofDeletion: ReadonlySet<string> = new Set(["foregroundDeletion", "orphan"]);

const deletedByAnnotation = (groupSuffix: string) => `history.${groupSuffix}/deleted-by`;

/** Reads an item of a list of deleted objects. */
export function deletedObject(type: ResourceType, item: ObjectState, groupSuffix: string): DeletedObject {
  const { namespace = "", name, deletionTimestamp, annotations = {} } = item.metadata;
  const deletedBy = annotations[deletedByAnnotation(groupSuffix)] ?? "";
  const object = { ...item, apiVersion: apiVersionOf(type), kind: type.kind };
  return { type, namespace, name, deletedAt: deletionTimestamp ?? "", deletedBy, object };
}

/** Returns what to create, without what the server sets. @param owners its owner references. */
export function recreation(
  { object }: DeletedObject,
  owners: readonly PresentOwner[],
  groupSuffix: string,
): Recreation {
  const { status: _status, ...rest } = object;
  const { name, annotations = {}, finalizers = [], ...others } = object.metadata;
  const kept = Object.entries(others).filter(
    ([member]) => !serverSet.has(member) && member !== "ownerReferences",
  );
  const ownAnnotations = Object.entries(annotations).filter(
    ([key]) => key !== deletedByAnnotation(groupSuffix),
  );
  const ownFinalizers = finalizers.filter((one) => !ofDeletion.has(one));
  const ownerReferences = owners.flatMap(({ reference, uid }) =>
    uid === undefined ? [] : [{ ...reference, uid }],
  );
  const metadata = {
    ...Object.fromEntries(kept),
    name,
    ...(ownAnnotations.length > 0 && { annotations: Object.fromEntries(ownAnnotations) }),
    ...(ownFinalizers.length > 0 && { finalizers: ownFinalizers }),
    ...(ownerReferences.length > 0 && { ownerReferences }),
  };
  const notes = owners.flatMap(({ reference, uid }) => {
    const owner = `Owner ${reference.kind} ${reference.name}`;
    if (uid === undefined) return [`${owner} no longer exists; the reference to it is dropped.`];
    return uid === reference.uid ? [] : [`${owner} was created again; the reference is to the new one.`];
  });
  return { object: { ...rest, metadata }, notes };
}

/** Orders deleted objects, the last deleted first. */
export function newestFirst(objects: readonly DeletedObject[]): DeletedObject[] {
  const orderOf = ({ type, namespace, name }: DeletedObject) => `${type.kind} ${namespace} ${name}`;
  return objects.toSorted((one, other) =>
    one.deletedAt === other.deletedAt
      ? orderOf(one).localeCompare(orderOf(other))
      : one.deletedAt < other.deletedAt
        ? 1
        : -1,
  );
}
