import { atomicStruct, struct } from "./v1.ts";
import { type Static, field, string } from "../../schema/types.ts";

export const ObjectReference = atomicStruct("ObjectReference", "Names another object, or a part of it.", {
  kind: field(1, string, "Kind of the object."),
  namespace: field(2, string, "Namespace of the object."),
  name: field(3, string, "Name of the object."),
  uid: field(4, string, "Unique identifier of the object."),
  apiVersion: field(5, string, "Group and version of the object."),
  resourceVersion: field(6, string, "Version of the object that is meant."),
  fieldPath: field(7, string, "Part of the object, as a path into its fields."),
});

export const LocalObjectReference = atomicStruct(
  "LocalObjectReference",
  "Names an object of the same namespace.",
  {
    name: field(1, string, "Name of the object."),
  },
);

export const TypedLocalObjectReference = atomicStruct(
  "TypedLocalObjectReference",
  "Names an object of any kind in the same namespace.",
  {
    apiGroup: field(1, string, "Group of the object's kind; empty for the core group.")
      .emitEmpty()
      .nullable(),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
  },
);
export type TypedLocalObjectReference = Static<typeof TypedLocalObjectReference>;

export const TypedObjectReference = struct(
  "TypedObjectReference",
  "Names an object of any kind, possibly in another namespace.",
  {
    apiGroup: field(1, string, "Group of the object's kind; empty for the core group.")
      .emitEmpty()
      .nullable(),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
    namespace: field(4, string, "Namespace of the object; empty is the own one.").nullable(),
  },
);
export type TypedObjectReference = Static<typeof TypedObjectReference>;

export const SecretReference = atomicStruct("SecretReference", "Names a secret in any namespace.", {
  name: field(1, string, "Name of the secret."),
  namespace: field(2, string, "Namespace of the secret."),
});
