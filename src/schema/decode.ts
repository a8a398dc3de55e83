import { pruneMembers, type PruneCallbacks } from "./custom/read.ts";
import type { SchemaNode } from "./custom/schema-node.ts";
import { ObjectMeta } from "./object-meta.ts";
import { fieldPositionsOf } from "./field-positions.ts";
import { setMember, type JsonValue } from "../base/json/value.ts";
import { decodeScalar, describe, zeroOf } from "./scalars.ts";
import type { Field, ScalarType, StructType, Type, UnionType } from "./types.ts";
import { formOf } from "./unions.ts";

/** A value has the wrong type. The message has the path and the expected type. */
export class TypeFault extends Error {
  override name = "TypeFault";
  constructor(
    readonly path: string,
    readonly problem: string,
  ) {
    super(path === "" ? problem : `${path}: ${problem}`);
  }
}

/** Result of decoding. */
export interface Decoded {
  /** The value in canonical form: declared fields in declared order, without nulls and empty values. */
  readonly value: Record<string, unknown>;
  /** Paths of undeclared fields outside of unions, in the format of Kubernetes. All undeclared fields were dropped. */
  readonly unknownFields: readonly string[];
  /** Whether the list of unknown fields was truncated. */
  readonly moreUnknownFields: boolean;
}

/**
 * Decodes a JSON value as a declared struct. Checks types; drops and reports unknown fields. Null counts as absent, and so does
 * the zero value of a field that isn't nullable. The input isn't changed and shares no object with the result.
 *
 * @throws {TypeFault} for the first value of a wrong type.
 */
export function decode(type: StructType, value: unknown): Decoded {
  return decodeWith(new Decoder(true), type, value);
}

/**
 * As {@link decode}, for a partial object such as an apply patch: keeps zero values and nulls, and adds no empty fields.
 */
export function decodePart(type: StructType, value: unknown): Decoded {
  return decodeWith(new Decoder(false), type, value);
}

function decodeWith(decoder: Decoder, type: StructType, value: unknown): Decoded {
  const decoded = decoder.struct(type, value);
  return {
    value: decoded,
    unknownFields: decoder.unknownFields,
    moreUnknownFields: decoder.moreUnknownFields,
  };
}

type JsonObject = Record<string, unknown>;

/** Maximum number of listed unknown fields. */
const maxUnknownFields = 1000;

class Decoder {
  readonly unknownFields: string[] = [];
  moreUnknownFields = false;
  private readonly path: (string | number)[] = [];
  /** Number of unions around the current value. */
  private unions = 0;

  /** @param canonical whether the result is a complete object in canonical form; false for a partial object. */
  constructor(private readonly canonical: boolean) {}

  struct(type: StructType, value: unknown): JsonObject {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.fault("an object", value);
    }
    const source = value as JsonObject;
    const { names, fields, always, positions, emptySlots } = fieldPositionsOf(type);
    const values = emptySlots.slice();
    const members = Object.keys(source);
    let unknownFields = false;
    for (const member of members) {
      const position = positions.get(member);
      if (position === undefined) unknownFields = true;
      else values[position] = source[member];
    }
    const result: JsonObject = {};
    for (let position = 0; position < names.length; position++) {
      const value = values[position];
      if ((value === undefined || (value === null && this.canonical)) && !always[position]!) continue;
      const decoded = this.field(names[position]!, fields[position]!, value);
      if (decoded !== undefined) result[names[position]!] = decoded;
    }
    if (unknownFields && type.open !== undefined) this.openMembers(type.open, source, positions, result);
    else if (unknownFields) this.reportUnknown(members, type.fields);
    return result;
  }

  /** Decodes the members of a custom object that aren't declared fields. */
  private openMembers(
    node: SchemaNode,
    source: JsonObject,
    fields: ReadonlyMap<string, number>,
    result: JsonObject,
  ): void {
    const rest: Record<string, JsonValue> = {};
    for (const name of Object.keys(source)) {
      if (!fields.has(name)) setMember(rest, name, source[name] as JsonValue);
    }
    const support: PruneCallbacks = {
      unknown: () => this.addUnknown(pathOf(this.path)),
      metadata: (value) => this.embeddedMetadata(value),
    };
    const decoded = pruneMembers(node, rest, this.path, support);
    for (const name of Object.keys(decoded)) setMember(result as typeof decoded, name, decoded[name]!);
  }

  /** Decodes the metadata of an embedded object. `creationTimestamp` is only kept if the client sent it. */
  private embeddedMetadata(value: JsonValue): JsonValue {
    const meta = this.struct(ObjectMeta, value ?? {});
    if (meta["creationTimestamp"] === null) delete meta["creationTimestamp"];
    return meta as JsonValue;
  }

  private field(name: string, field: Field, input: unknown): unknown {
    if (input === undefined || input === null) return this.canonical ? absentValueOf(field) : input;
    this.path.push(name);
    const decoded = this.value(field.type, input);
    this.path.pop();
    if (!this.canonical || field.facts.nullable || !isEmpty(field.type, decoded)) return decoded;
    return field.facts.emitEmpty ? decoded : undefined;
  }

  private value(type: Type, input: unknown): unknown {
    switch (type.shape) {
      case "scalar":
        return this.scalar(type, input);
      case "struct":
        return this.struct(type, input);
      case "list":
        return this.list(type.element, input);
      case "map":
        return this.map(type.value, input);
      case "union":
        return this.union(type, input);
    }
  }

  private union(type: UnionType, input: unknown): unknown {
    const form = formOf(type, input);
    if (form === undefined) throw this.fault(Object.keys(type.forms).join(" or "), input);
    this.unions++;
    const decoded = this.value(form.type, input);
    this.unions--;
    return decoded;
  }

  private scalar(type: ScalarType, input: unknown): unknown {
    const decoded = decodeScalar(type.name, input);
    if (decoded instanceof Error) throw new TypeFault(pathOf(this.path), decoded.message);
    return decoded;
  }

  private list(element: Type, input: unknown): unknown[] {
    if (!Array.isArray(input)) throw this.fault("a list", input);
    return input.map((item: unknown, index) => {
      this.path.push(index);
      const decoded = item === null || item === undefined ? emptyItem(element) : this.value(element, item);
      this.path.pop();
      return decoded;
    });
  }

  private map(valueType: Type, input: unknown): JsonObject {
    if (typeof input !== "object" || input === null || Array.isArray(input))
      throw this.fault("an object", input);
    const result: JsonObject = {};
    for (const key of Object.keys(input)) {
      const item = (input as JsonObject)[key];
      this.path.push(key);
      const decoded = item === null ? emptyItem(valueType) : this.value(valueType, item);
      this.path.pop();
      if (key === "__proto__") Object.defineProperty(result, key, ownMember(decoded));
      else result[key] = decoded;
    }
    return result;
  }

  private reportUnknown(names: readonly string[], fields: StructType["fields"]): void {
    for (const name of names) {
      if (Object.hasOwn(fields, name)) continue;
      this.addUnknown(pathOf([...this.path, name]));
      if (this.moreUnknownFields) return;
    }
  }

  /** Reports an unknown field; not within a union, where the reference decodes leniently (spec: conventions 4.8). */
  private addUnknown(path: string): void {
    if (this.unions > 0) return;
    if (this.unknownFields.length === maxUnknownFields) this.moreUnknownFields = true;
    else this.unknownFields.push(path);
  }

  private fault(expected: string, input: unknown): TypeFault {
    return new TypeFault(pathOf(this.path), `expected ${expected}, got ${describe(input)}`);
  }
}

function ownMember(value: unknown): PropertyDescriptor {
  return { value, enumerable: true, configurable: true, writable: true };
}

/** Returns the JSON value of an absent field. */
function absentValueOf({ type, facts }: Field): unknown {
  if (!facts.emitEmpty) return undefined;
  return facts.nullable ? null : emptyValueOf(type);
}

/** Returns the JSON value of an absent field that is always written. */
export function emptyValueOf(type: Type): unknown {
  if (type.shape === "struct") return emptyStruct(type);
  if (type.shape === "scalar") return zeroOf(type.name);
  return null;
}

function emptyStruct(type: StructType): JsonObject {
  const { names, fields, always } = fieldPositionsOf(type);
  const result: JsonObject = {};
  for (let position = 0; position < names.length; position++) {
    if (always[position]!) result[names[position]!] = absentValueOf(fields[position]!);
  }
  return result;
}

/** Returns the value for null in a list or map: the zero value of the element. */
function emptyItem(type: Type): unknown {
  if (type.shape === "list") return [];
  if (type.shape === "map") return {};
  if (type.shape === "scalar" && type.name === "bytes") return "";
  return emptyValueOf(type);
}

function isEmpty(type: Type, value: unknown): boolean {
  switch (type.shape) {
    case "list":
      return (value as unknown[]).length === 0;
    case "map":
      return isEmptyObject(value as JsonObject);
    case "struct":
    case "union":
      return false;
    case "scalar":
      return value === "" || value === 0 || value === false;
  }
}

function isEmptyObject(value: JsonObject): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}

function pathOf(steps: readonly (string | number)[]): string {
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else path += path === "" ? step : `.${step}`;
  }
  return path;
}
