/**
 * The types of CEL expressions and values. Types are plain data; object types are created on demand, because kinds may be recursive.
 */
export type CelType =
  SimpleType | ListType | MapType | ObjectType | TypeType | ParameterType | OpaqueType | OptionalType;

export type SimpleName =
  "dyn" | "null" | "bool" | "int" | "uint" | "double" | "string" | "bytes" | "timestamp" | "duration";

/** Size of a value: characters of a string, bytes, items of a list, entries of a map. */
interface Sized {
  /** Maximum size; absent if only the size of the request limits it. */
  readonly maxSize?: number | undefined;
}

export interface SimpleType extends Sized {
  readonly is: SimpleName;
}

export interface ListType extends Sized {
  readonly is: "list";
  readonly element: CelType;
  /** Identity of the items of a set or list map; absent for an ordered list. */
  readonly identity?: ListIdentity | undefined;
}

/** Items of a `set` are identified by their values, items of a list map by key fields (escaped names). */
export type ListIdentity = "set" | readonly string[];

export interface MapType extends Sized {
  readonly is: "map";
  readonly key: CelType;
  readonly value: CelType;
  /** Whether the cost estimate knows the size of a value that is selected by name, as in an object. */
  readonly sizesMembers?: boolean;
}

/** An object with known fields. */
export interface ObjectType {
  readonly is: "object";
  readonly name: string;
  /** By escaped name; see `field-names.ts`. */
  readonly fields: ReadonlyMap<string, ObjectField>;
}

export interface ObjectField {
  readonly type: CelType;
  /** Field name in JSON. */
  readonly jsonName: string;
}

/** The type of a type, such as that of `int`. */
export interface TypeType {
  readonly is: "type";
  readonly of: CelType;
}

/** A type parameter of a function. */
export interface ParameterType {
  readonly is: "parameter";
  readonly name: string;
}

/** An opaque type with its own functions, such as URL. */
export interface OpaqueType {
  readonly is: "opaque";
  readonly name: string;
}

/** A value that may be absent. */
export interface OptionalType {
  readonly is: "optional";
  readonly of: CelType;
}

const simple = (is: SimpleName): SimpleType => ({ is });

export const dyn = simple("dyn");
export const nullType = simple("null");
export const bool = simple("bool");
export const int = simple("int");
export const uint = simple("uint");
export const double = simple("double");
export const string = simple("string");
export const bytes = simple("bytes");
export const timestamp = simple("timestamp");
export const duration = simple("duration");
export const urlType: OpaqueType = { is: "opaque", name: "URL" };

export const listOf = (element: CelType, maxSize?: number): ListType => ({ is: "list", element, maxSize });
export const mapOf = (key: CelType, value: CelType, maxSize?: number): MapType => ({
  is: "map",
  key,
  value,
  maxSize,
});
export const optionalOf = (of: CelType): OptionalType => ({ is: "optional", of });
export const typeOf = (of: CelType): TypeType => ({ is: "type", of });

/** Returns an object type whose fields are created on first access. */
export function objectType(name: string, fields: () => ReadonlyMap<string, ObjectField>): ObjectType {
  let cached: ReadonlyMap<string, ObjectField> | undefined;
  return {
    is: "object",
    name,
    get fields() {
      return (cached ??= fields());
    },
  };
}

/** Type names in expressions. */
export const namedTypes: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["bool", bool],
  ["int", int],
  ["uint", uint],
  ["double", double],
  ["string", string],
  ["bytes", bytes],
  ["null_type", nullType],
  ["list", listOf(dyn)],
  ["map", mapOf(dyn, dyn)],
  ["type", typeOf(dyn)],
  ["google.protobuf.Timestamp", timestamp],
  ["google.protobuf.Duration", duration],
]);

/** Formats a type for messages: `list(int)`. */
export function typeText(type: CelType): string {
  switch (type.is) {
    case "list":
      return `list(${typeText(type.element)})`;
    case "map":
      return `map(${typeText(type.key)}, ${typeText(type.value)})`;
    case "type":
      return `type(${typeText(type.of)})`;
    case "optional":
      return `optional_type(${typeText(type.of)})`;
    case "object":
    case "opaque":
    case "parameter":
      return type.name;
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    case "null":
      return "null_type";
    default:
      return type.is;
  }
}
