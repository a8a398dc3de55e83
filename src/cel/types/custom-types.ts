import type { SchemaNode } from "../../schema/custom/schema-node.ts";
import { escapedFieldName } from "./field-names.ts";
import { bool, double, int, mapOf, objectType, string, type CelType, type ObjectField } from "./types.ts";

/** The CEL type of a schema. */
export interface CustomType {
  readonly type: CelType;
  /** Minimum size of a value in JSON, in bytes. It limits the number of elements in lists and maps without limit. */
  readonly minBytes: number;
}

/** Maximum size of a request, in bytes. */
const maxRequestBytes = 3 * 1024 * 1024;
/** Size of `""`, `[]` or `{}`. */
const emptyBytes = 2;
/** Without the two quotes. */
const maxTextLength = maxRequestBytes - emptyBytes;

/** String formats with another CEL type, and their minimum and maximum size in JSON. */
const formats: Readonly<Record<string, { readonly is: "duration" | "timestamp"; min: number; max: number }>> =
  {
    duration: { is: "duration", min: 3, max: 32 },
    date: { is: "timestamp", min: 12, max: 12 },
    "date-time": { is: "timestamp", min: 21, max: 32 },
  };

const booleanType: CustomType = { type: bool, minBytes: 4 };
const integerType: CustomType = { type: int, minBytes: 1 };
const numberType: CustomType = { type: double, minBytes: 1 };
const intOrStringType: CustomType = { type: { is: "dyn", maxSize: maxTextLength }, minBytes: 1 };
/** Names of objects, whose length no schema limits. */
const nameType: CustomType = { type: { is: "string", maxSize: maxTextLength }, minBytes: emptyBytes };

/**
 * Converts the nodes of a schema to CEL types. Nodes without a known type, and lists and maps of such nodes, have none: expressions can't
 * access them.
 */
export class CustomTypes {
  private readonly cache = new Map<SchemaNode, CustomType | undefined>();

  /** @param root the schema of the object; expressions can access its apiVersion, kind, metadata.name and metadata.generateName. */
  constructor(private readonly root: SchemaNode) {}

  /**
   * Returns the type of a node; undefined if expressions can't access it.
   *
   * @param name name of the type in messages; unique for each node.
   */
  of(node: SchemaNode, name: string): CustomType | undefined {
    if (this.cache.has(node)) return this.cache.get(node);
    const type = this.convert(node, name);
    this.cache.set(node, type);
    return type;
  }

  private convert(node: SchemaNode, name: string): CustomType | undefined {
    if (node.intOrString) return intOrStringType;
    switch (node.type) {
      case "array":
        return this.list(node, name);
      case "object":
        return node.additional === undefined
          ? this.object(node, name)
          : this.map(node, node.additional, name);
      case "string":
        return text(node);
      case "boolean":
        return booleanType;
      case "integer":
        return integerType;
      case "number":
        return numberType;
      default:
        return undefined;
    }
  }

  private list({ items, rules, listType, listMapKeys }: SchemaNode, name: string): CustomType | undefined {
    const item = items && this.of(items, `${name}.@idx`);
    if (item === undefined) return undefined;
    const maxSize =
      limitOf(rules.maxItems) ?? Math.floor((maxRequestBytes - emptyBytes) / (item.minBytes + 1));
    const keys = listMapKeys.map((key) => escapedFieldName(key) ?? key);
    const identity = listType === "set" ? listType : listType === "map" ? keys : undefined;
    return { type: { is: "list", element: item.type, maxSize, identity }, minBytes: emptyBytes };
  }

  private map({ rules }: SchemaNode, additional: SchemaNode, name: string): CustomType | undefined {
    const value = this.of(additional, `${name}.@elem`);
    if (value === undefined) return undefined;
    // An entry has at least a key of one letter with quotes, a colon, a comma and its value.
    const maxSize =
      limitOf(rules.maxProperties) ?? Math.floor((maxRequestBytes - emptyBytes) / (value.minBytes + 6));
    return { type: mapOf(string, value.type, maxSize), minBytes: emptyBytes };
  }

  private object(node: SchemaNode, name: string): CustomType {
    let minBytes = emptyBytes;
    for (const required of node.rules.required) {
      const property = node.properties.get(required);
      if (property === undefined || property.default !== undefined) continue;
      const type = this.of(property, `${name}.${required}`);
      if (type !== undefined) minBytes += required.length + type.minBytes + 4;
    }
    return { type: objectType(name, () => this.fieldsOf(node, name)), minBytes };
  }

  private fieldsOf(node: SchemaNode, name: string): ReadonlyMap<string, ObjectField> {
    const fields = new Map<string, ObjectField>();
    for (const [jsonName, property] of node.properties) {
      const escaped = escapedFieldName(jsonName);
      const member = escaped === undefined ? undefined : this.of(property, `${name}.${jsonName}`);
      if (member !== undefined) fields.set(escaped!, { type: member.type, jsonName });
    }
    if (node === this.root || node.embedded) addIdentity(fields, name);
    return fields;
  }
}

/** Adds the fields that expressions can access in every object. */
function addIdentity(fields: Map<string, ObjectField>, name: string): void {
  const { type } = nameType;
  const metadata = objectType(
    `${name}.metadata`,
    () => new Map(["name", "generateName"].map((jsonName) => [jsonName, { type, jsonName }])),
  );
  fields.set("apiVersion", { type, jsonName: "apiVersion" });
  fields.set("kind", { type, jsonName: "kind" });
  fields.set("metadata", { type: metadata, jsonName: "metadata" });
}

/** Converts a limit of a schema, which may be negative or a bigint. */
function limitOf(limit: number | bigint | undefined): number | undefined {
  return limit === undefined ? undefined : Math.max(0, Number(limit));
}

function text({ rules }: SchemaNode): CustomType {
  const { format = "" } = rules;
  const maxLength = limitOf(rules.maxLength);
  const celFormat = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (celFormat !== undefined)
    return { type: { is: celFormat.is, maxSize: celFormat.max }, minBytes: celFormat.min };
  if (format === "byte")
    return { type: { is: "bytes", maxSize: maxLength ?? maxTextLength }, minBytes: emptyBytes };
  // A character has up to four bytes.
  const maxSize = maxLength === undefined ? maxTextLength : maxLength * 4;
  return { type: { is: "string", maxSize }, minBytes: emptyBytes };
}
