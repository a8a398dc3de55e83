import { since } from "../../base/release-rows.ts";
import { struct, union } from "./v1.ts";
import { bool, double, field, int64, json, list, map, string, type StructType } from "../../schema/types.ts";
import { platform } from "../../vocabulary/platform.ts";

const ExternalDocumentation = struct("ExternalDocumentation", "A link to external documentation.", {
  description: field(1, string, "Description of the documentation."),
  url: field(2, string, "URL of the documentation."),
});

const ValidationRule = struct(
  "ValidationRule",
  "A CEL expression that values must satisfy.",
  {
    rule: field(
      1,
      string,
      "CEL expression that returns true for valid values; `self` is the value.",
    ).declaredRequired(),
    message: field(2, string, "Message if the expression is false."),
  },
  {
    later: () => ({
      messageExpression: since(
        "1.27",
        field(3, string, "CEL expression that returns the message if the rule is false."),
      ),
      reason: since(
        "1.28",
        field(4, string, "Reason of the field error, such as FieldValueInvalid.").nullable(),
      ),
      fieldPath: since("1.28", field(5, string, "Path of the field in error, relative to the value.")),
      optionalOldSelf: since(
        "1.29",
        field(
          6,
          bool,
          "Whether to evaluate the rule for new values too; `oldSelf` is then optional.",
        ).nullable(),
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
    id: field(1, string, "Identifier of the schema; ignored."),
    $schema: field(2, string, "URI of the schema dialect; ignored."),
    $ref: field(3, string, "Unsupported; must be absent.").nullable(),
    description: field(4, string, "Description of the value."),
    type: field(5, string, "JSON type of the value."),
    format: field(6, string, "Format of the value, such as `date-time`."),
    title: field(7, string, "Title of the value."),
    default: field(8, json, "Default of the value, set when it is absent.").nullable(),
    maximum: field(9, double, "Maximum of a number, inclusive unless `exclusiveMaximum` is set.").nullable(),
    exclusiveMaximum: field(10, bool, "Whether `maximum` itself is excluded."),
    minimum: field(11, double, "Minimum of a number, inclusive unless `exclusiveMinimum` is set.").nullable(),
    exclusiveMinimum: field(12, bool, "Whether `minimum` itself is excluded."),
    maxLength: field(13, int64, "Maximum length of a string, in characters.").nullable(),
    minLength: field(14, int64, "Minimum length of a string, in characters.").nullable(),
    pattern: field(15, string, "Regular expression that a string must match."),
    maxItems: field(16, int64, "Maximum number of items.").nullable(),
    minItems: field(17, int64, "Minimum number of items.").nullable(),
    uniqueItems: field(18, bool, "Whether the items must be unique."),
    multipleOf: field(19, double, "A number of which the value must be a multiple.").nullable(),
    enum: field(20, list(json), "The allowed values.").atomic(),
    maxProperties: field(21, int64, "Maximum number of properties.").nullable(),
    minProperties: field(22, int64, "Minimum number of properties.").nullable(),
    required: field(23, list(string), "Names of the required properties.").atomic(),
    items: field(24, JSONSchemaPropsOrArray, "Schema of the items of an array.").nullable(),
    allOf: field(25, list(JSONSchemaProps), "Schemas that must all match.").atomic(),
    oneOf: field(26, list(JSONSchemaProps), "Schemas of which exactly one must match.").atomic(),
    anyOf: field(27, list(JSONSchemaProps), "Schemas of which at least one must match.").atomic(),
    not: field(28, JSONSchemaProps, "Schema that must not match.").nullable(),
    properties: field(29, map(JSONSchemaProps), "Schemas of the properties, by name."),
    additionalProperties: field(30, JSONSchemaPropsOrBool, "Schema of all other properties.").nullable(),
    patternProperties: field(31, map(JSONSchemaProps), "Schemas by pattern of the property names."),
    dependencies: field(
      32,
      map(JSONSchemaPropsOrStringArray),
      "Properties or schemas that are required when a property is present.",
    ),
    additionalItems: field(33, JSONSchemaPropsOrBool, "Schema of items beyond those in `items`.").nullable(),
    definitions: field(34, map(JSONSchemaProps), "Schemas for use in references."),
    externalDocs: field(35, ExternalDocumentation, "Link to external documentation.").nullable(),
    example: field(36, json, "An example value.").nullable(),
    nullable: field(37, bool, "Whether the value can be null."),
    [mark("preserve-unknown-fields")]: field(
      38,
      bool,
      "Whether to keep properties that the schema does not declare.",
    ).nullable(),
    [mark("embedded-resource")]: field(
      39,
      bool,
      "Whether the value is an embedded object with apiVersion, kind and metadata.",
    ),
    [mark("int-or-string")]: field(40, bool, "Whether the value is an integer or a string."),
    [mark("list-map-keys")]: field(
      41,
      list(string),
      "Properties that identify an item of a list of the type `map`.",
    ).atomic(),
    [mark("list-type")]: field(42, string, "Type of a list for merging: atomic, set or map.").nullable(),
    [mark("map-type")]: field(43, string, "Type of an object for merging: granular or atomic.").nullable(),
    [mark("validations")]: field(44, list(ValidationRule), "CEL expressions that the value must satisfy.")
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
  "A schema, or a boolean that allows or forbids any value.",
  () => ({
    bool: field(1, bool, "Whether any value is allowed."),
    object: field(2, JSONSchemaProps, "Schema of the value."),
  }),
);

const JSONSchemaPropsOrStringArray = union(
  "JSONSchemaPropsOrStringArray",
  "A schema, or a list of property names.",
  () => ({
    object: field(1, JSONSchemaProps, "Schema of the value."),
    list: field(2, list(string), "The property names."),
  }),
);
