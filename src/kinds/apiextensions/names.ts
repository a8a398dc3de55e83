import { struct } from "./v1.ts";
import { field, list, string } from "../../schema/types.ts";
import { checkNames } from "./name-rules.ts";

export const CustomResourceDefinitionNames = struct(
  "CustomResourceDefinitionNames",
  "Names under which a custom resource is served.",
  {
    plural: field(1, string, "Plural name of the resource, used in paths; lower case.").declaredRequired(),
    singular: field(2, string, "Singular name of the resource. Default: the kind in lower case."),
    shortNames: field(3, list(string), "Short names for command lines.").atomic(),
    kind: field(4, string, "Kind of the objects, in CamelCase.").declaredRequired(),
    listKind: field(5, string, "Kind of lists of the objects. Default: the kind with the suffix `List`."),
    categories: field(6, list(string), "Categories of the resource, such as `all`.").atomic(),
  },
  { check: checkNames },
);
