import { since } from "../../base/release-rows.ts";
import { struct } from "./v1.ts";
import { bool, field, int32, list, string } from "../../schema/types.ts";
import { JSONSchemaProps } from "./json-schema-props.ts";
import { dns1035LabelFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { checkSelectableFields } from "./selectable-fields.ts";
import { checkRootSchema } from "./schema-rules.ts";
import type { Schema } from "./schema.ts";

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** Checks the type of a column. */
function columnType(type: string, report: FieldReport): void {
  if (!columnTypes.includes(type)) report.invalid(type, `must be one of ${columnTypes.join(", ")}`);
}

/** Checks the format of a column. */
function columnFormat(format: string, report: FieldReport): void {
  if (!columnFormats.includes(format)) report.invalid(format, `must be one of ${columnFormats.join(", ")}`);
}

/** Requires a simple path that starts with a dot. */
function simplePath(path: string, report: FieldReport): void {
  if (!path.startsWith(".")) report.invalid(path, "must be a simple json path starting with .");
}

/** Returns a check for a path below one of the given paths. */
function pathBelow(...places: readonly string[]): (path: string, report: FieldReport) => void {
  const parts = places.map((one) => one.slice(0, -1)).join(" or ");
  return (path, report) => {
    if (!path.startsWith(".")) simplePath(path, report);
    else if (!places.some((one) => path.startsWith(one))) {
      report.invalid(path, `should be a json path under ${parts}`);
    }
  };
}

interface Version {
  readonly name: string;
  readonly served?: boolean | undefined;
  readonly schema?: { readonly openAPIV3Schema?: unknown } | undefined;
  readonly subresources?: { readonly status?: unknown } | undefined;
  readonly deprecated?: boolean | undefined;
  readonly deprecationWarning?: string | undefined;
  readonly selectableFields?: readonly { readonly jsonPath: string }[] | undefined;
}

const maxWarningLength = 256;

/** Requires a name and a schema; checks the deprecation warning. */
function checkVersion(version: Version, report: FieldReport, context: KindContext): void {
  for (const message of dns1035LabelFaults(version.name)) report.at("name").invalid(version.name, message);
  checkWarning(version, report.at("deprecationWarning"));
  const schema = version.schema?.openAPIV3Schema as Schema | undefined;
  checkSelectableFields(version.selectableFields ?? [], schema, report.at("selectableFields"));
  const at = report.at("schema", "openAPIV3Schema");
  if (schema === undefined) {
    if (version.served === true) at.required("schemas are required");
    return;
  }
  // A write of the status keeps the live schema.
  if (context.subresource !== "") return;
  const hasStatus = version.subresources?.status !== undefined;
  at.defer((own) => checkRootSchema(schema, hasStatus, own, context));
}

function checkWarning({ deprecated, deprecationWarning: warning }: Version, report: FieldReport): void {
  if (warning === undefined) return;
  if (deprecated !== true) report.invalid(warning, "can only be set for deprecated versions");
  if (warning.length > maxWarningLength) {
    report.invalid(warning, `must be <= ${maxWarningLength} characters in length`);
  }
  if (warning.trim() === "") report.invalid(warning, "must not be an empty string");
  if (/[\p{C}\u2028\u2029]/u.test(warning)) {
    report.invalid(warning, "must only contain printable UTF-8 characters");
  }
}

const CustomResourceValidation = struct("CustomResourceValidation", "Validation of custom objects.", {
  openAPIV3Schema: field(1, JSONSchemaProps, "The schema of the objects.").nullable(),
});

const CustomResourceSubresourceStatus = struct(
  "CustomResourceSubresourceStatus",
  "Enables the subresource `status`; it has no settings.",
  {},
);

const CustomResourceSubresourceScale = struct(
  "CustomResourceSubresourceScale",
  "Paths in custom objects that the subresource `scale` uses.",
  {
    specReplicasPath: field(1, string, "JSONPath of the desired number of replicas, below `.spec`.")
      .required()
      .check(pathBelow(".spec.")),
    statusReplicasPath: field(2, string, "JSONPath of the current number of replicas, below `.status`.")
      .required()
      .check(pathBelow(".status.")),
    labelSelectorPath: field(
      3,
      string,
      "JSONPath of the label selector in text form, below `.spec` or `.status`.",
    )
      .nullable()
      .check(pathBelow(".spec.", ".status.")),
  },
);

const CustomResourceSubresources = struct("CustomResourceSubresources", "Subresources of custom objects.", {
  status: field(1, CustomResourceSubresourceStatus, "Enables the subresource `status`.").nullable(),
  scale: field(2, CustomResourceSubresourceScale, "Enables the subresource `scale`.").nullable(),
});

const CustomResourceColumnDefinition = struct(
  "CustomResourceColumnDefinition",
  "A column of the table of custom objects.",
  {
    name: field(1, string, "Title of the column.").required(),
    type: field(2, string, "Type of the cells, such as string, integer or date.")
      .required()
      .check(columnType),
    format: field(3, string, "Format of the cells, such as `date`.").check(columnFormat),
    description: field(4, string, "Description of the column."),
    priority: field(
      5,
      int32,
      "Priority of the column; columns above 0 are only shown in wide output. Default: 0.",
    ),
    jsonPath: field(6, string, "JSONPath of the value in the object.").required().check(simplePath),
  },
);

const SelectableField = struct("SelectableField", "A field that field selectors can use.", {
  jsonPath: field(1, string, "JSONPath of a string, number or boolean, such as `.spec.color`.").required(),
});

export const CustomResourceDefinitionVersion = struct(
  "CustomResourceDefinitionVersion",
  "One version of a custom kind.",
  {
    name: field(1, string, "Name of the version, such as `v1`.").declaredRequired(),
    served: field(2, bool, "Whether the version is served.").required(),
    storage: field(
      3,
      bool,
      "Whether objects are stored in this version; true for exactly one version.",
    ).required(),
    schema: field(4, CustomResourceValidation, "Validation of objects in this version.").nullable(),
    subresources: field(5, CustomResourceSubresources, "Subresources of the version.").nullable(),
    additionalPrinterColumns: field(
      6,
      list(CustomResourceColumnDefinition),
      "Further columns of the version's table.",
    ).atomic(),
    deprecated: field(7, bool, "Whether the version is deprecated; its use is answered with a warning."),
    deprecationWarning: field(
      8,
      string,
      "Text of the deprecation warning, in place of the default text.",
    ).nullable(),
  },
  {
    check: checkVersion,
    later: () => ({
      selectableFields: since(
        "1.30",
        field(9, list(SelectableField), "Fields that field selectors can use, at most 8.")
          .atomic()
          .gated("CustomResourceFieldSelectors"),
      ),
    }),
  },
);
