import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { Pattern } from "./pattern.ts";

/**
 * A schema of JSON values as custom kinds have it: read once from the text of its definition, and from then on what pruning,
 * defaulting, checking, merging and ordering of their values go by (spec: conventions 4.8, 4.10).
 */
export interface SchemaNode {
  /** Empty where values of several types are allowed. */
  readonly type: JsonTypeName | "";
  readonly nullable: boolean;
  /** The value is an integer or a text. */
  readonly intOrString: boolean;
  /** Members without a schema are kept. */
  readonly preserves: boolean;
  /** The value is an object with apiVersion, kind and metadata. */
  readonly embedded: boolean;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** Schema of the members that have none of their own; undefined where there may be no others. */
  readonly additional: SchemaNode | undefined;
  /** Members without a schema of their own are refused (`additionalProperties: false`). */
  readonly closed: boolean;
  readonly items: SchemaNode | undefined;
  /** Filled in where the value is absent; undefined: nothing. */
  readonly default: unknown;
  /** Length of the default in JSON. */
  readonly defaultLength: number;
  readonly listType: "atomic" | "set" | "map" | undefined;
  readonly listMapKeys: readonly string[];
  readonly mapType: "atomic" | "granular" | undefined;
  /** What else the value must fulfil. */
  readonly rules: ValueRules;
  /** Expressions that the value must fulfil. */
  readonly validations: readonly ValidationRule[];
}

/** An expression of a schema (`x-…-validations`), in the Common Expression Language. */
export interface ValidationRule {
  readonly rule: string;
  /** What the caller is told when the expression is false; undefined: the expression. */
  readonly message?: string | undefined;
}

export type JsonTypeName = "array" | "boolean" | "integer" | "number" | "object" | "string";

/** What a schema demands of a value beside its type; members that say nothing are undefined. */
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

/** A schema in JSON form, as definitions have it. */
type SchemaText = Readonly<Record<string, unknown>>;

/**
 * Reads a schema. It has passed the rules of definitions, so that it is a tree of the right shapes.
 *
 * @param prefix of the names of the product's marks: `x-platform-`.
 */
export function readSchema(schema: object, prefix: string): SchemaNode {
  return readNode(schema as SchemaText, prefix);
}

/** How many schemas and other objects stand in a schema, which is what its size in memory goes by. */
export function schemaCost(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let cost = 1;
  for (const each of Object.values(value)) cost += schemaCost(each);
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

/** Values of which nothing is known; their members are dropped unless they are to be kept. */
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

/** Objects of a kind that says nothing of its values: everything is kept. */
export const anyObject: SchemaNode = { ...unknownValue, type: "object", preserves: true };

function readNode(schema: SchemaText, prefix: string): SchemaNode {
  const mark = <T>(name: string): T | undefined => schema[prefix + name] as T | undefined;
  const { properties, additionalProperties, items } = schema;
  const below = (one: unknown): SchemaNode => readNode(one as SchemaText, prefix);
  return {
    type: (schema["type"] ?? "") as SchemaNode["type"],
    nullable: schema["nullable"] === true,
    intOrString: mark("int-or-string") === true,
    preserves: mark("preserve-unknown-fields") === true,
    embedded: mark("embedded-resource") === true,
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
    listType: mark("list-type"),
    listMapKeys: mark("list-map-keys") ?? unknownValue.listMapKeys,
    mapType: mark("map-type"),
    validations: mark("validations") ?? unknownValue.validations,
    rules: readRules(schema, below),
  };
}

const ruleNames = new Set(Object.keys(noRules));

function readRules(schema: SchemaText, below: (one: unknown) => SchemaNode): ValueRules {
  const given = Object.entries(schema).filter(([name, value]) => ruleNames.has(name) && value !== undefined);
  if (given.length === 0) return noRules;
  const rules = { ...noRules, ...Object.fromEntries(given) } as ValueRules;
  const list = (parts: readonly unknown[]): readonly SchemaNode[] => parts.map(below);
  return {
    ...rules,
    pattern: given.some(([name]) => name === "pattern")
      ? new Pattern(schema["pattern"] as string)
      : undefined,
    allOf: list(rules.allOf),
    anyOf: list(rules.anyOf),
    oneOf: list(rules.oneOf),
    not: rules.not === undefined ? undefined : below(rules.not),
  };
}
