import { struct } from "./v1.ts";
import { field, list, string } from "../../schema/types.ts";
import { checkNames } from "./name-rules.ts";

export const CustomResourceDefinitionNames = struct(
  "CustomResourceDefinitionNames",
  "Names under which custom objects are served.",
  {
    plural: field(1, string, "Name in paths, plural and lower case.").declaredRequired(),
    singular: field(2, string, "Singular of the name; the kind in lower case unless given."),
    shortNames: field(3, list(string), "Short names for people's tools.").atomic(),
    kind: field(4, string, "Name of the kind, in camel case.").declaredRequired(),
    listKind: field(5, string, "Name of the kind of lists."),
    categories: field(
      6,
      list(string),
      "Groups of resources that the resource belongs to, such as `all`.",
    ).atomic(),
  },
  { check: checkNames },
);
