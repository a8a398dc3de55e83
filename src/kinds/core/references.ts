import { atomicStruct, struct } from "./v1.ts";
import { type Static, field, string } from "../../schema/types.ts";

export const ObjectReference = atomicStruct("ObjectReference", "Reference to an object or a part of it.", {
  kind: field(1, string, "Kind of the object."),
  namespace: field(2, string, "Namespace of the object."),
  name: field(3, string, "Name of the object."),
  uid: field(4, string, "Unique identifier of the object."),
  apiVersion: field(5, string, "API group and version of the object."),
  resourceVersion: field(6, string, "Resource version of the object."),
  fieldPath: field(7, string, "Path of a field of the object, such as `spec.containers{web}`."),
});

export const LocalObjectReference = atomicStruct(
  "LocalObjectReference",
  "Reference to an object in the same namespace.",
  {
    name: field(1, string, "Name of the object."),
  },
);

export const TypedLocalObjectReference = atomicStruct(
  "TypedLocalObjectReference",
  "Reference to an object of any kind in the same namespace.",
  {
    apiGroup: field(1, string, "API group of the object; empty for the core group.").emitEmpty().nullable(),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
  },
);
export type TypedLocalObjectReference = Static<typeof TypedLocalObjectReference>;

export const TypedObjectReference = struct(
  "TypedObjectReference",
  "Reference to an object of any kind, possibly in another namespace.",
  {
    apiGroup: field(1, string, "API group of the object; empty for the core group.").emitEmpty().nullable(),
    kind: field(2, string, "Kind of the object.").required(),
    name: field(3, string, "Name of the object.").required(),
    namespace: field(4, string, "Namespace of the object; empty for the same namespace.").nullable(),
  },
);
export type TypedObjectReference = Static<typeof TypedObjectReference>;

export const SecretReference = atomicStruct("SecretReference", "Reference to a Secret in any namespace.", {
  name: field(1, string, "Name of the Secret."),
  namespace: field(2, string, "Namespace of the Secret."),
});
