import type { SchemaNode } from "../schema/custom/schema-node.ts";
import { escapedFieldName } from "./field-names.ts";
import { bool, double, int, mapOf, objectType, string, type CelType, type ObjectField } from "./types.ts";

/** What values of a custom kind's schema are to expressions. */
export interface CustomType {
  readonly type: CelType;
  /** Bytes of the shortest JSON of such a value; lists and maps without a limit can hold as many as fit into a request. */
  readonly minBytes: number;
}

/** Bytes of the largest request. */
const maxRequestBytes = 3 * 1024 * 1024;
/** Bytes of the JSON of a text without characters, an empty list or an empty object. */
const emptyBytes = 2;
/** A text takes two quotes. */
const maxTextLength = maxRequestBytes - emptyBytes;

/** Texts that are something else to expressions, with the bytes of their shortest and longest JSON. */
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
/** Names of objects, of which no schema limits the length. */
const nameType: CustomType = { type: { is: "string", maxSize: maxTextLength }, minBytes: emptyBytes };

/**
 * The types that the nodes of a schema are to expressions. Values of which the schema doesn't say what they are, and what holds
 * only such, have none: expressions can't name them.
 */
export class CustomTypes {
  private readonly known = new Map<SchemaNode, CustomType | undefined>();

  /** @param root the schema of whole objects, of which apiVersion, kind and some metadata can be named. */
  constructor(private readonly root: SchemaNode) {}

  /**
   * The type of a node.
   *
   * @param name of its type in messages; different for each node.
   */
  of(node: SchemaNode, name: string): CustomType | undefined {
    if (this.known.has(node)) return this.known.get(node);
    const found = this.make(node, name);
    this.known.set(node, found);
    return found;
  }

  private make(node: SchemaNode, name: string): CustomType | undefined {
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
    // An entry has two quotes and a letter for its key, a colon, a comma and its value.
    const maxSize =
      limitOf(rules.maxProperties) ?? Math.floor((maxRequestBytes - emptyBytes) / (value.minBytes + 6));
    return { type: mapOf(string, value.type, maxSize), minBytes: emptyBytes };
  }

  private object(node: SchemaNode, name: string): CustomType {
    let minBytes = emptyBytes;
    for (const required of node.rules.required) {
      const property = node.properties.get(required);
      if (property === undefined || property.default !== undefined) continue;
      const found = this.of(property, `${name}.${required}`);
      if (found !== undefined) minBytes += required.length + found.minBytes + 4;
    }
    return { type: objectType(name, () => this.fieldsOf(node, name)), minBytes };
  }

  private fieldsOf(node: SchemaNode, name: string): ReadonlyMap<string, ObjectField> {
    const fields = new Map<string, ObjectField>();
    for (const [jsonName, property] of node.properties) {
      const escaped = escapedFieldName(jsonName);
      const found = escaped === undefined ? undefined : this.of(property, `${name}.${jsonName}`);
      if (found !== undefined) fields.set(escaped!, { type: found.type, jsonName });
    }
    if (node === this.root || node.embedded) addIdentity(fields, name);
    return fields;
  }
}

/** What can be named of every object, and nothing else of its metadata. */
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

/** A limit as definitions write it, which may be negative or need 64 bits. */
function limitOf(given: number | bigint | undefined): number | undefined {
  return given === undefined ? undefined : Math.max(0, Number(given));
}

function text({ rules }: SchemaNode): CustomType {
  const { format = "" } = rules;
  const maxLength = limitOf(rules.maxLength);
  const found = Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (found !== undefined) return { type: { is: found.is, maxSize: found.max }, minBytes: found.min };
  if (format === "byte")
    return { type: { is: "bytes", maxSize: maxLength ?? maxTextLength }, minBytes: emptyBytes };
  // A character takes up to four bytes.
  const maxSize = maxLength === undefined ? maxTextLength : maxLength * 4;
  return { type: { is: "string", maxSize }, minBytes: emptyBytes };
}
