import { struct } from "./v1.ts";
import { since } from "../../schema/later-fields.ts";
import { bool, field, int32, list, string } from "../../schema/types.ts";
import { JSONSchemaProps } from "./json-schema-props.ts";
import { checkVersion, columnFormat, columnType, pathBelow, simplePath } from "./version-rules.ts";

const CustomResourceValidation = struct("CustomResourceValidation", "How custom objects are checked.", {
  openAPIV3Schema: field(1, JSONSchemaProps, "The schema of the objects.").nullable(),
});

const CustomResourceSubresourceStatus = struct(
  "CustomResourceSubresourceStatus",
  "Turns on the subresource `status`; it has no settings.",
  {},
);

const CustomResourceSubresourceScale = struct(
  "CustomResourceSubresourceScale",
  "How the subresource `scale` is read from custom objects.",
  {
    specReplicasPath: field(1, string, "Path of the desired number of replicas, below `.spec`.")
      .required()
      .check(pathBelow(".spec.")),
    statusReplicasPath: field(2, string, "Path of the observed number of replicas, below `.status`.")
      .required()
      .check(pathBelow(".status.")),
    labelSelectorPath: field(3, string, "Path of the label selector as text, below `.spec` or `.status`.")
      .nullable()
      .check(pathBelow(".spec.", ".status.")),
  },
);

const CustomResourceSubresources = struct("CustomResourceSubresources", "Subresources of custom objects.", {
  status: field(1, CustomResourceSubresourceStatus, "Turns on `status`.").nullable(),
  scale: field(2, CustomResourceSubresourceScale, "Turns on `scale`.").nullable(),
});

const CustomResourceColumnDefinition = struct(
  "CustomResourceColumnDefinition",
  "A column of the server's table of custom objects.",
  {
    name: field(1, string, "Title of the column.").required(),
    type: field(2, string, "Type of the cells.").required().check(columnType),
    format: field(3, string, "Form of the cells beyond their type.").check(columnFormat),
    description: field(4, string, "What the column shows."),
    priority: field(5, int32, "0 is shown always; higher numbers in wide output only."),
    jsonPath: field(6, string, "JSONPath of the cell's value in the object.").required().check(simplePath),
  },
);

const SelectableField = struct("SelectableField", "A field by which objects can be selected.", {
  jsonPath: field(1, string, "Path of a text, number or boolean, such as `.spec.color`.").required(),
});

export const CustomResourceDefinitionVersion = struct(
  "CustomResourceDefinitionVersion",
  "One version of a custom kind.",
  {
    name: field(1, string, "Name of the version, such as `v1`.").declaredRequired(),
    served: field(2, bool, "Whether the version is served.").required(),
    storage: field(3, bool, "Whether objects are stored in this version; exactly one is.").required(),
    schema: field(4, CustomResourceValidation, "How objects of the version are checked.").nullable(),
    subresources: field(5, CustomResourceSubresources, "Subresources of the version.").nullable(),
    additionalPrinterColumns: field(
      6,
      list(CustomResourceColumnDefinition),
      "Columns of the version's table.",
    ).atomic(),
    deprecated: field(7, bool, "Clients that use the version are warned."),
    deprecationWarning: field(8, string, "Text of the warning instead of the usual one.").nullable(),
  },
  {
    check: checkVersion,
    later: () => ({
      selectableFields: since(
        "1.30",
        field(9, list(SelectableField), "Fields by which objects can be selected, at most 8.")
          .atomic()
          .gated("CustomResourceFieldSelectors"),
      ),
    }),
  },
);
