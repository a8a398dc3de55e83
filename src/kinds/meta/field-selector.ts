import { struct } from "../../schema/meta.ts";
import { field, list, string } from "../../schema/types.ts";

export const FieldSelectorRequirement = struct(
  "FieldSelectorRequirement",
  "A requirement of a field selector.",
  {
    key: field(1, string, "Path of the field.").declaredRequired(),
    operator: field(2, string, "Operator such as In, NotIn, Exists or DoesNotExist.").declaredRequired(),
    values: field(3, list(string), "Values for In and NotIn; empty for the others.").atomic(),
  },
);
