import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { Pattern } from "./pattern.ts";

/**
 * The parsed structural schema of a CustomResourceDefinition, which pruning, defaulting, validation, merging and ordering use
 * (spec: conventions 4.8, 4.10).
 */
export interface SchemaNode {
  /** Empty if any type is allowed. */
  readonly type: JsonTypeName | "";
  readonly nullable: boolean;
  /** The value is an integer or a string (`int-or-string`). */
  readonly intOrString: boolean;
  /** Members without a schema are kept (`preserve-unknown-fields`). */
  readonly preserves: boolean;
  /** The value is an object with apiVersion, kind and metadata (`embedded-resource`). */
  readonly embedded: boolean;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** Schema of additional members (`additionalProperties`); undefined without one. */
  readonly additional: SchemaNode | undefined;
  /** Additional members are rejected (`additionalProperties: false`). */
  readonly closed: boolean;
  readonly items: SchemaNode | undefined;
  /** Default of an absent value; undefined if none. */
  readonly default: unknown;
  /** Length of the default in JSON. */
  readonly defaultLength: number;
  readonly listType: "atomic" | "set" | "map" | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: "atomic" | "granular" | undefined;
  /** Validation rules of the value. */
  readonly rules: ValueRules;
  /** CEL validation rules of the value. */
  readonly validations: readonly ValidationRule[];
}

/** A validation rule in CEL (`x-…-validations`). */
export interface ValidationRule {
  readonly rule: string;
  /** Message of the fault; defaults to the expression. */
  readonly message?: string | undefined;
  /** Expression of the message; the message applies if it fails. */
  readonly messageExpression?: string | undefined;
  /** Reason of the fault; `FieldValueInvalid` by default. */
  readonly reason?: string | null | undefined;
  /** Path of the fault, relative to the value. */
  readonly fieldPath?: string | undefined;
  /** Whether the rule applies to values without an old one too; `oldSelf` is then optional. */
  readonly optionalOldSelf?: boolean | null | undefined;
}

export type JsonTypeName = "array" | "boolean" | "integer" | "number" | "object" | "string";

/** The validation rules of a schema besides the type; absent rules are undefined. */
export interface ValueRules {
  readonly format: string | undefined;
  readonly maximum: number | bigint | undefined;
  readonly exclusiveMaximum: boolean;
  readonly minimum: number | bigint | undefined;
  readonly exclusiveMinimum: boolean;
  readonly multipleOf: number | bigint | undefined;
  readonly maxLength: number | bigint | undefined;
  readonly minLength: number | bigint | undefined;
  readonly pattern: Pattern | undefined;
  readonly maxItems: number | bigint | undefined;
  readonly minItems: number | bigint | undefined;
  readonly uniqueItems: boolean;
  readonly maxProperties: number | bigint | undefined;
  readonly minProperties: number | bigint | undefined;
  readonly enum: readonly unknown[] | undefined;
  readonly required: readonly string[];
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not: SchemaNode | undefined;
}

/** A schema in JSON form, as in a definition. */
type SchemaText = Readonly<Record<string, unknown>>;

/**
 * Parses a schema that has passed validation.
 *
 * @param prefix prefix of the extensions, such as `x-kubernetes-`.
 */
export function parseSchema(schema: object, prefix: string): SchemaNode {
  return parseNode(schema as SchemaText, extensionNames(prefix));
}

/** Returns the number of objects in a schema, which is proportional to its size in memory. */
export function schemaCost(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let cost = 1;
  for (const member of Object.values(value)) cost += schemaCost(member);
  return cost;
}

const noRules: ValueRules = {
  format: undefined,
  maximum: undefined,
  exclusiveMaximum: false,
  minimum: undefined,
  exclusiveMinimum: false,
  multipleOf: undefined,
  maxLength: undefined,
  minLength: undefined,
  pattern: undefined,
  maxItems: undefined,
  minItems: undefined,
  uniqueItems: false,
  maxProperties: undefined,
  minProperties: undefined,
  enum: undefined,
  required: [],
  allOf: [],
  anyOf: [],
  oneOf: [],
  not: undefined,
};

/** Schema without type and rules; unknown members are pruned. */
export const unknownValue: SchemaNode = {
  type: "",
  nullable: false,
  intOrString: false,
  preserves: false,
  embedded: false,
  properties: new Map(),
  additional: undefined,
  closed: false,
  items: undefined,
  default: undefined,
  defaultLength: 0,
  listType: undefined,
  listMapKeys: [],
  mapType: undefined,
  rules: noRules,
  validations: [],
};

/** Schema of a kind without schema: objects with any members. */
export const anyObject: SchemaNode = { ...unknownValue, type: "object", preserves: true };

/** Names of the extensions of schemas, without their prefix. */
const extensions = {
  intOrString: "int-or-string",
  preserves: "preserve-unknown-fields",
  embedded: "embedded-resource",
  listType: "list-type",
  listMapKeys: "list-map-keys",
  mapType: "map-type",
  validations: "validations",
} as const;
type ExtensionNames = Readonly<Record<keyof typeof extensions, string>>;

/** The names with their prefix. Looking up a member by a name that is concatenated at each node takes five times as long. */
function extensionNames(prefix: string): ExtensionNames {
  const names = Object.entries(extensions).map(([key, name]) => [key, prefix + name]);
  return Object.fromEntries(names) as ExtensionNames;
}

function parseNode(schema: SchemaText, extension: ExtensionNames): SchemaNode {
  const { properties, additionalProperties, items } = schema;
  const below = (one: unknown): SchemaNode => parseNode(one as SchemaText, extension);
  return {
    type: (schema["type"] ?? "") as SchemaNode["type"],
    nullable: schema["nullable"] === true,
    intOrString: schema[extension.intOrString] === true,
    preserves: schema[extension.preserves] === true,
    embedded: schema[extension.embedded] === true,
    properties:
      properties === undefined
        ? unknownValue.properties
        : new Map(Object.entries(properties as object).map(([name, one]) => [name, below(one)])),
    additional:
      additionalProperties === true
        ? unknownValue
        : typeof additionalProperties === "object"
          ? below(additionalProperties)
          : undefined,
    closed: additionalProperties === false,
    items: items === undefined || Array.isArray(items) ? undefined : below(items),
    default: schema["default"],
    defaultLength: schema["default"] === undefined ? 0 : encodeJson(schema["default"] as JsonValue).length,
    listType: schema[extension.listType] as SchemaNode["listType"],
    listMapKeys: (schema[extension.listMapKeys] ?? unknownValue.listMapKeys) as SchemaNode["listMapKeys"],
    mapType: schema[extension.mapType] as SchemaNode["mapType"],
    validations: (schema[extension.validations] ?? unknownValue.validations) as SchemaNode["validations"],
    rules: parseRules(schema, below),
  };
}

const ruleNames = new Set(Object.keys(noRules));

function parseRules(schema: SchemaText, below: (one: unknown) => SchemaNode): ValueRules {
  let ownRules: Record<string, unknown> | undefined;
  for (const name of Object.keys(schema)) {
    if (ruleNames.has(name) && schema[name] !== undefined) (ownRules ??= {})[name] = schema[name];
  }
  // Most schemas have a type and a description only.
  if (ownRules === undefined) return noRules;
  const rules = { ...noRules, ...ownRules } as ValueRules;
  const list = (parts: readonly unknown[]): readonly SchemaNode[] => parts.map(below);
  return {
    ...rules,
    pattern: ownRules["pattern"] === undefined ? undefined : new Pattern(ownRules["pattern"] as string),
    allOf: list(rules.allOf),
    anyOf: list(rules.anyOf),
    oneOf: list(rules.oneOf),
    not: rules.not === undefined ? undefined : below(rules.not),
  };
}
