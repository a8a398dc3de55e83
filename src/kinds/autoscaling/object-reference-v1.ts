import { atomicStruct } from "./v1.ts";
import { field, string } from "../../schema/types.ts";
import { pathSegment } from "../checks/names.ts";

export const CrossVersionObjectReference = atomicStruct(
  "CrossVersionObjectReference",
  "Reference to an object in the same namespace.",
  {
    kind: field(1, string, "Kind of the object.").required().check(pathSegment),
    name: field(2, string, "Name of the object.").required().check(pathSegment),
    apiVersion: field(3, string, "API group and version of the object."),
  },
);
