import { atomicStruct } from "./v1.ts";
import { field, string } from "../../schema/types.ts";

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
