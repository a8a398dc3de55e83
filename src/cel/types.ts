/**
 * The types of CEL expressions and values. Types are plain data; those of objects are made when first asked for, so that kinds
 * which contain themselves are no trouble.
 */
export type CelType = SimpleType | ListType | MapType | ObjectType | TypeType | ParameterType | OpaqueType;

export type SimpleName =
  "dyn" | "null" | "bool" | "int" | "uint" | "double" | "string" | "bytes" | "timestamp" | "duration";

/** What is known of a value's size: characters of a string, bytes, items of a list, entries of a map. */
interface Sized {
  /** The most that it can be; absent where nothing limits it but the size of the request. */
  readonly maxSize?: number | undefined;
}

export interface SimpleType extends Sized {
  readonly is: SimpleName;
}

export interface ListType extends Sized {
  readonly is: "list";
  readonly element: CelType;
  /** How the items are told apart where their order doesn't count; absent for lists in which it does. */
  readonly identity?: ListIdentity | undefined;
}

/** The items of a `set` are told apart by their values, those of a map by the named fields, as expressions name them. */
export type ListIdentity = "set" | readonly string[];

export interface MapType extends Sized {
  readonly is: "map";
  readonly key: CelType;
  readonly value: CelType;
}

/** An object with known fields. */
export interface ObjectType {
  readonly is: "object";
  readonly name: string;
  /** By the names that expressions use; see `field-names.ts`. */
  readonly fields: ReadonlyMap<string, ObjectField>;
}

export interface ObjectField {
  readonly type: CelType;
  /** Name in JSON. */
  readonly jsonName: string;
}

/** The type of a type, such as that of `int`. */
export interface TypeType {
  readonly is: "type";
  readonly of: CelType;
}

/** A place in the declaration of a function for which any type can be put in, everywhere the same. */
export interface ParameterType {
  readonly is: "parameter";
  readonly name: string;
}

/** A type with functions of its own, such as that of URLs. */
export interface OpaqueType {
  readonly is: "opaque";
  readonly name: string;
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
export const typeOf = (of: CelType): TypeType => ({ is: "type", of });

/** An object type whose fields are worked out when they are first asked for. */
export function objectType(name: string, fields: () => ReadonlyMap<string, ObjectField>): ObjectType {
  let found: ReadonlyMap<string, ObjectField> | undefined;
  return {
    is: "object",
    name,
    get fields() {
      return (found ??= fields());
    },
  };
}

/** The names that stand for types in expressions. */
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

/** A type as faults name it: `list(int)`. */
export function typeText(type: CelType): string {
  switch (type.is) {
    case "list":
      return `list(${typeText(type.element)})`;
    case "map":
      return `map(${typeText(type.key)}, ${typeText(type.value)})`;
    case "type":
      return `type(${typeText(type.of)})`;
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
