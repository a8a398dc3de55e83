import { getMember, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { kubernetes } from "../../vocabulary/kubernetes.ts";
import { platform } from "../../vocabulary/platform.ts";
import { DefinitionFault } from "./definition-source.ts";

/** Values nested deeper are `unknown`, because compilers have a limit. */
const maxDepth = 60;

/** One member of an object type. */
interface Member {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly doc: string;
}

/**
 * Returns the TypeScript type of the values of a schema.
 *
 * @param path of the schema, for messages.
 * @param depth number of enclosing object types, for indentation.
 * @throws {DefinitionFault} if a keyword has a value of the wrong type.
 */
function typeText(schema: JsonObject, path: string, depth: number): string {
  const type = plainType(schema, path, depth);
  if (flag(schema, "nullable", path) && type !== "unknown") return `${type} | null`;
  return type;
}

function plainType(schema: JsonObject, path: string, depth: number): string {
  if (getMember(schema, "$ref") !== undefined) {
    throw new DefinitionFault(`${path}.$ref`, "a definition's schema can't refer to another one");
  }
  if (depth > maxDepth) return "unknown";
  if (mark(schema, "int-or-string", path)) return "number | string";
  const { enum: values } = schema;
  if (values !== undefined) {
    if (!Array.isArray(values)) throw new DefinitionFault(`${path}.enum`, "must be a list");
    if (values.length > 0) return [...new Set(values.map(literal))].join(" | ");
  }
  const { type } = schema;
  switch (type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "array":
      return arrayType(schema, path, depth);
    case "object":
      return objectType(schema, path, depth);
    case undefined:
    case "": {
      const isObjectType = schema["properties"] !== undefined || mark(schema, "embedded-resource", path);
      return isObjectType ? objectType(schema, path, depth) : "unknown";
    }
    default:
      throw new DefinitionFault(`${path}.type`, `${JSON.stringify(type)?.slice(0, 40) ?? "this"} is no type`);
  }
}

/** Returns a value as a literal type; numbers that a double can't hold exactly are `number`. */
function literal(value: JsonValue): string {
  if (typeof value === "bigint") return "number";
  if (typeof value === "object" && value !== null) return "unknown";
  return JSON.stringify(value);
}

function arrayType(schema: JsonObject, path: string, depth: number): string {
  const { items } = schema;
  if (items === undefined) return "unknown[]";
  if (!isObject(items)) throw new DefinitionFault(`${path}.items`, "must be a schema");
  const item = typeText(items, `${path}.items`, depth);
  return /^[a-z]+$/.test(item) ? `${item}[]` : `Array<${item}>`;
}

function objectType(schema: JsonObject, path: string, depth: number): string {
  const members = membersOf(schema, path, depth);
  const embedded = mark(schema, "embedded-resource", path);
  if (embedded) addEmbedded(members);
  const open = mark(schema, "preserve-unknown-fields", path);
  const { additionalProperties } = schema;
  // An index signature must allow all member types, so with members it is `unknown`.
  if (open || (isAdditional(additionalProperties) && members.length > 0)) return block(members, depth, true);
  if (isAdditional(additionalProperties)) {
    if (additionalProperties === true) return "Record<string, unknown>";
    return `Record<string, ${typeText(additionalProperties, `${path}.additionalProperties`, depth)}>`;
  }
  if (additionalProperties !== undefined && additionalProperties !== false) {
    throw new DefinitionFault(`${path}.additionalProperties`, "must be a schema or a boolean");
  }
  return members.length === 0 ? "Record<string, never>" : block(members, depth, false);
}

function isAdditional(value: JsonValue | undefined): value is JsonObject | true {
  return value === true || isObject(value);
}

/** Returns the members of an object's schema, ordered by name, so that the order in the definition doesn't matter. */
function membersOf(schema: JsonObject, path: string, depth: number): Member[] {
  const { properties = {} } = schema;
  if (!isObject(properties)) throw new DefinitionFault(`${path}.properties`, "must be an object");
  const required = requiredOf(schema, path);
  return Object.keys(properties)
    .toSorted()
    .map((name) => {
      const memberPath = `${path}.properties[${name}]`;
      const inner = getMember(properties, name);
      if (!isObject(inner)) throw new DefinitionFault(memberPath, "must be a schema");
      const type = typeText(inner, memberPath, depth + 1);
      return { name, type, optional: !required.has(name), doc: descriptionOf(inner, memberPath) };
    });
}

function requiredOf(schema: JsonObject, path: string): ReadonlySet<JsonValue> {
  const { required = [] } = schema;
  if (!Array.isArray(required)) throw new DefinitionFault(`${path}.required`, "must be a list of names");
  return new Set(required);
}

/** Adds the members of an embedded resource. */
function addEmbedded(members: Member[]): void {
  for (const [name, type] of [
    ["apiVersion", "string"],
    ["kind", "string"],
    ["metadata", "ObjectMeta"],
  ] as const) {
    const at = members.findIndex((one) => one.name === name);
    const optional = name === "metadata";
    if (at === -1) members.push({ name, type, optional, doc: "" });
    else members[at] = { ...members[at]!, type, optional };
  }
}

function block(members: readonly Member[], depth: number, open: boolean): string {
  const lines = memberLines(members, depth + 1);
  if (open) lines.push(`${indent(depth + 1)}[member: string]: unknown;`);
  return `{\n${lines.join("\n")}\n${indent(depth)}}`;
}

/**
 * Returns the body of the interface of a version.
 *
 * @throws {DefinitionFault}
 */
export function objectBody(schema: JsonObject, path: string, apiVersion: string, kind: string): string {
  const own = membersOf(schema, path, 0).filter(
    ({ name }) => !["apiVersion", "kind", "metadata"].includes(name),
  );
  const common = (name: string, type: string): Member => ({ name, type, optional: false, doc: "" });
  const members = [
    common("apiVersion", JSON.stringify(apiVersion)),
    common("kind", JSON.stringify(kind)),
    common("metadata", "ObjectMeta"),
    ...own,
  ];
  return block(members, 0, mark(schema, "preserve-unknown-fields", path));
}

function memberLines(members: readonly Member[], depth: number): string[] {
  return members.flatMap(({ name, type, optional, doc }) => [
    ...commentLines(doc, depth),
    `${indent(depth)}${memberName(name)}${optional ? "?" : ""}: ${type};`,
  ]);
}

function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) && name !== "__proto__" ? name : JSON.stringify(name);
}

/** Returns a description as a doc comment; escapes the end of a comment. */
export function commentLines(doc: string, depth: number): string[] {
  const lines = doc
    .trim()
    .replaceAll("*/", String.raw`*\/`)
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.trimEnd());
  const space = indent(depth);
  if (lines.length === 1) return lines[0] === "" ? [] : [`${space}/** ${lines[0]} */`];
  return [
    `${space}/**`,
    ...lines.map((line) => (line === "" ? `${space} *` : `${space} * ${line}`)),
    `${space} */`,
  ];
}

/** Returns a schema's description; empty if it has none. */
export function descriptionOf(schema: JsonObject, path: string): string {
  const { description = "" } = schema;
  if (typeof description !== "string") throw new DefinitionFault(`${path}.description`, "must be a text");
  return description;
}

const prefixes = [platform, kubernetes].map(({ schemaExtensionPrefix }) => schemaExtensionPrefix);

/** Whether a schema has an extension of Kubernetes, in the names of either vocabulary. */
function mark(schema: JsonObject, name: string, path: string): boolean {
  return prefixes.some((prefix) => flag(schema, prefix + name, path));
}

function flag(schema: JsonObject, name: string, path: string): boolean {
  const value = getMember(schema, name);
  if (value !== undefined && value !== null && typeof value !== "boolean") {
    throw new DefinitionFault(`${path}.${name}`, "must be true or false");
  }
  return value === true;
}

function indent(depth: number): string {
  return "  ".repeat(depth);
}
