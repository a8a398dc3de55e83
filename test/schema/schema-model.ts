import { type JsonObject, type JsonValue } from "../../src/base/json/value.ts";

/** A structural schema in JSON form. */
export interface Schema {
  type?: string;
  nullable?: boolean;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  default?: JsonValue;
  required?: string[];
  enum?: JsonValue[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  "x-platform-int-or-string"?: boolean;
  "x-platform-preserve-unknown-fields"?: boolean;
  "x-platform-list-type"?: string;
  "x-platform-list-map-keys"?: string[];
}

/** Returns the paths at which a value violates a schema, once for each rule. */
export function faultsOf(schema: Schema, value: JsonValue, path: string): string[] {
  const own = [...typeFaults(schema, value, path)];
  const isListed = schema.enum?.some((one) => JSON.stringify(one) === JSON.stringify(value));
  if (isListed === false) own.push(path);
  if (value === null) return own;
  const fits = (part: Schema): boolean => faultsOf(part, value, path).length === 0;
  if (schema.allOf?.every(fits) === false) own.push(path);
  if (schema.anyOf?.some(fits) === false) own.push(path);
  if (schema.oneOf !== undefined && schema.oneOf.filter(fits).length !== 1) own.push(path);
  if (schema.not !== undefined && fits(schema.not)) own.push(path);
  if (typeof value === "string") own.push(...textFaults(schema, value, path));
  if (typeof value === "number") own.push(...numberFaults(schema, value, path));
  if (Array.isArray(value)) own.push(...listFaults(schema, value, path));
  else if (typeof value === "object") own.push(...objectFaults(schema, value as JsonObject, path));
  return own;
}

function typeFaults(schema: Schema, value: JsonValue, path: string): string[] {
  const { type, nullable } = schema;
  const intOrString = schema["x-platform-int-or-string"] === true;
  if (value === null) return nullable === true || (type === undefined && !intOrString) ? [] : [path];
  const is: Readonly<Record<string, boolean>> = {
    string: typeof value === "string",
    boolean: typeof value === "boolean",
    integer: Number.isInteger(value),
    number: typeof value === "number",
    array: Array.isArray(value),
    object: typeof value === "object" && !Array.isArray(value),
  };
  if (intOrString) return is["integer"] === true || is["string"] === true ? [] : [path];
  return type === undefined || is[type] === true ? [] : [path];
}

function textFaults(
  { minLength = 0, maxLength = Infinity, pattern }: Schema,
  text: string,
  path: string,
): string[] {
  const { length } = Array.from(text);
  return [
    length < minLength,
    length > maxLength,
    pattern !== undefined && !new RegExp(pattern, "u").test(text),
  ]
    .filter(Boolean)
    .map(() => path);
}

function numberFaults(schema: Schema, value: number, path: string): string[] {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  return [
    value < minimum || (exclusiveMinimum === true && value === minimum),
    value > maximum || (exclusiveMaximum === true && value === maximum),
    multipleOf !== undefined && value % multipleOf !== 0,
  ]
    .filter(Boolean)
    .map(() => path);
}

function listFaults(schema: Schema, list: readonly JsonValue[], path: string): string[] {
  const { minItems = 0, maxItems = Infinity, items } = schema;
  const faults = [list.length < minItems, list.length > maxItems].filter(Boolean).map(() => path);
  const below =
    items === undefined ? [] : list.flatMap((item, index) => faultsOf(items, item, `${path}[${index}]`));
  const listType = schema["x-platform-list-type"];
  const keyOf = (item: JsonValue): string => {
    if (listType !== "map" || !isPlain(item)) return inOrder(item);
    const { a } = item as JsonObject;
    return inOrder(a === undefined ? {} : { a });
  };
  const keys = list.map(keyOf);
  const duplicates = keys.flatMap((key, index) => (keys.indexOf(key) < index ? [`${path}[${index}]`] : []));
  return [...faults, ...below, ...(listType === undefined ? [] : duplicates)];
}

function isPlain(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns JSON with sorted members. */
function inOrder(value: JsonValue): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

function objectFaults(schema: Schema, object: JsonObject, path: string): string[] {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const { minProperties = 0, maxProperties = Infinity } = schema;
  const present = Object.keys(object);
  // The members are not checked if there are too many or too few.
  if (present.length < minProperties || present.length > maxProperties) return [path];
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  return [
    ...required.filter((name) => !Object.hasOwn(object, name)).map(at),
    ...present.flatMap((name) => {
      const below = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      return typeof below === "object" ? faultsOf(below, object[name]!, at(name)) : [];
    }),
  ];
}

/** Returns a value without undeclared fields and with the defaults. */
export function expectedOf(schema: Schema, value: JsonValue): JsonValue {
  if (Array.isArray(value))
    return value.map((item) => (schema.items === undefined ? item : expectedOf(schema.items, item)));
  if (!isPlain(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const members: [string, JsonValue][] = [];
  for (const [name, member] of Object.entries(value as JsonObject)) {
    const below = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const stray = member === null && typeof below === "object" && below.nullable !== true;
    if (typeof below !== "object") {
      if (schema["x-platform-preserve-unknown-fields"] === true) members.push([name, member]);
    } else if (!stray) members.push([name, expectedOf(below, member)]);
  }
  const present = new Set(members.map(([name]) => name));
  for (const [name, { default: defaultValue, ...below }] of Object.entries(properties)) {
    if (defaultValue !== undefined && !present.has(name))
      members.push([name, expectedOf(below, defaultValue)]);
  }
  return Object.fromEntries(members);
}
