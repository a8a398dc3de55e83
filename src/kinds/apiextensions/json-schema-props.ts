import { struct, union } from "./v1.ts";
import { since } from "../../schema/later-fields.ts";
import { bool, double, field, int64, json, list, map, string, type StructType } from "../../schema/types.ts";
import { platform } from "../../vocabulary/platform.ts";

const ExternalDocumentation = struct("ExternalDocumentation", "Points to further documentation.", {
  description: field(1, string, "Description of the documentation."),
  url: field(2, string, "URL of the documentation."),
});

const ValidationRule = struct(
  "ValidationRule",
  "An expression that values must satisfy.",
  {
    rule: field(1, string, "The expression; `self` is the value.").declaredRequired(),
    message: field(2, string, "Message if the expression is false."),
  },
  {
    later: () => ({
      messageExpression: since("1.27", field(3, string, "Expression of the message if the rule is false.")),
      reason: since("1.28", field(4, string, "Reason of the fault.").nullable()),
      fieldPath: since("1.28", field(5, string, "Path of the fault, relative to the value.")),
      optionalOldSelf: since(
        "1.29",
        field(6, bool, "The rule applies to new values too; `oldSelf` is optional.").nullable(),
      ),
    }),
  },
);

/** Returns the name of a schema extension. The declaration serves both vocabularies and has the names of `platform`. */
function mark(name: string): string {
  return platform.schemaExtensionPrefix + name;
}

/** A schema. It contains schemas, so its static type is written out instead of inferred. */
export const JSONSchemaProps: StructType = struct(
  "JSONSchemaProps",
  "A schema of JSON values (after draft 4 of JSON Schema).",
  () => ({
    id: field(1, string, "Not used."),
    $schema: field(2, string, "Not used."),
    $ref: field(3, string, "Not used.").nullable(),
    description: field(4, string, "What the value means."),
    type: field(5, string, "Type of the value."),
    format: field(6, string, "Form of the value beyond its type."),
    title: field(7, string, "Short name of the value."),
    default: field(8, json, "Filled in where the value is absent.").nullable(),
    maximum: field(9, double, "Greatest number.").nullable(),
    exclusiveMaximum: field(10, bool, "The greatest number is itself too great."),
    minimum: field(11, double, "Smallest number.").nullable(),
    exclusiveMinimum: field(12, bool, "The smallest number is itself too small."),
    maxLength: field(13, int64, "Greatest length of a text.").nullable(),
    minLength: field(14, int64, "Smallest length of a text.").nullable(),
    pattern: field(15, string, "Regular expression that a text must match."),
    maxItems: field(16, int64, "Greatest number of items.").nullable(),
    minItems: field(17, int64, "Smallest number of items.").nullable(),
    uniqueItems: field(18, bool, "No two items are the same."),
    multipleOf: field(19, double, "The number is a multiple of this one.").nullable(),
    enum: field(20, list(json), "The values that are allowed.").atomic(),
    maxProperties: field(21, int64, "Greatest number of members.").nullable(),
    minProperties: field(22, int64, "Smallest number of members.").nullable(),
    required: field(23, list(string), "Required members.").atomic(),
    items: field(24, JSONSchemaPropsOrArray, "Schema of the items.").nullable(),
    allOf: field(25, list(JSONSchemaProps), "All of these must fit.").atomic(),
    oneOf: field(26, list(JSONSchemaProps), "Exactly one of these must fit.").atomic(),
    anyOf: field(27, list(JSONSchemaProps), "At least one of these must fit.").atomic(),
    not: field(28, JSONSchemaProps, "This must not fit.").nullable(),
    properties: field(29, map(JSONSchemaProps), "Schemas of the members."),
    additionalProperties: field(
      30,
      JSONSchemaPropsOrBool,
      "Schema of members without one of their own.",
    ).nullable(),
    patternProperties: field(31, map(JSONSchemaProps), "Schemas of members whose names match."),
    dependencies: field(
      32,
      map(JSONSchemaPropsOrStringArray),
      "Members or schemas that the presence of a member requires.",
    ),
    additionalItems: field(33, JSONSchemaPropsOrBool, "Schema of further items.").nullable(),
    definitions: field(34, map(JSONSchemaProps), "Schemas that others can refer to."),
    externalDocs: field(35, ExternalDocumentation, "Further documentation.").nullable(),
    example: field(36, json, "An example of the value.").nullable(),
    nullable: field(37, bool, "The value may be null."),
    [mark("preserve-unknown-fields")]: field(38, bool, "Members without a schema are kept.").nullable(),
    [mark("embedded-resource")]: field(
      39,
      bool,
      "The value is an object with apiVersion, kind and metadata.",
    ),
    [mark("int-or-string")]: field(40, bool, "The value is an integer or a text."),
    [mark("list-map-keys")]: field(
      41,
      list(string),
      "Members that identify an item of a list of type map.",
    ).atomic(),
    [mark("list-type")]: field(42, string, "How a list is merged: atomic, set or map.").nullable(),
    [mark("map-type")]: field(43, string, "How an object is merged: granular or atomic.").nullable(),
    [mark("validations")]: field(44, list(ValidationRule), "Expressions that the value must satisfy.")
      .mapBy("rule")
      .patchMerge("rule")
      .gated("CustomResourceValidationExpressions"),
  }),
);

const JSONSchemaPropsOrArray = union("JSONSchemaPropsOrArray", "One schema, or a list of schemas.", () => ({
  object: field(1, JSONSchemaProps, "One schema."),
  list: field(2, list(JSONSchemaProps), "A list of schemas."),
}));

const JSONSchemaPropsOrBool = union(
  "JSONSchemaPropsOrBool",
  "A schema, or whether anything is allowed.",
  () => ({
    bool: field(1, bool, "Whether anything is allowed."),
    object: field(2, JSONSchemaProps, "The schema."),
  }),
);

const JSONSchemaPropsOrStringArray = union(
  "JSONSchemaPropsOrStringArray",
  "A schema, or a list of names.",
  () => ({
    object: field(1, JSONSchemaProps, "The schema."),
    list: field(2, list(string), "The names."),
  }),
);
