import { readMembers, type ReadSupport } from "./custom/read.ts";
import type { SchemaNode } from "./custom/schema-node.ts";
import { ObjectMeta } from "./object-meta.ts";
import { placesOf } from "./places.ts";
import { setMember, type JsonValue } from "../base/json/value.ts";
import { decodeScalar, describe, zeroOf } from "./scalars.ts";
import type { Field, ScalarType, StructType, Type, UnionType } from "./types.ts";
import { formOf } from "./unions.ts";

/** A value of the wrong type. The message names the place and says what was expected. */
export class TypeFault extends Error {
  override name = "TypeFault";
  constructor(
    readonly path: string,
    readonly problem: string,
  ) {
    super(path === "" ? problem : `${path}: ${problem}`);
  }
}

/** What a decoder found beside the value. */
export interface Decoded {
  /** The value in canonical form: declared fields in declared order, without nulls and without what is empty. */
  readonly value: Record<string, unknown>;
  /** Paths of the fields that the type doesn't declare, as the reference writes them; they were dropped. */
  readonly unknownFields: readonly string[];
  /** Whether there were more of them than are listed. */
  readonly moreUnknownFields: boolean;
}

/**
 * Reads a JSON value as a declared struct. Types are always checked; unknown fields are dropped and reported; null is
 * absent; a zero value of a field that isn't nullable is absent. The input isn't changed and shares no object with the
 * result.
 *
 * @throws {TypeFault} on the first value of a wrong type.
 */
export function decode(type: StructType, value: unknown): Decoded {
  return read(new Reader(true), type, value);
}

/**
 * As {@link decode}, for a part of an object: what isn't given stays absent, and what is given stays, also zero values and nulls.
 */
export function decodePart(type: StructType, value: unknown): Decoded {
  return read(new Reader(false), type, value);
}

function read(reader: Reader, type: StructType, value: unknown): Decoded {
  const read = reader.struct(type, value);
  return { value: read, unknownFields: reader.unknown, moreUnknownFields: reader.moreUnknown };
}

type JsonObject = Record<string, unknown>;

/** So many unknown fields are listed; a client that made more of them needs no longer list, but to know of the rest. */
const maxUnknown = 1000;

class Reader {
  readonly unknown: string[] = [];
  moreUnknown = false;
  private readonly steps: (string | number)[] = [];

  /** @param whole whether the value is a whole object, which is made canonical. */
  constructor(private readonly whole: boolean) {}

  struct(type: StructType, value: unknown): JsonObject {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.fault("an object", value);
    }
    const source = value as JsonObject;
    const { names, fields, always, places, slots } = placesOf(type);
    const given = slots.slice();
    const members = Object.keys(source);
    let unknown = false;
    for (const member of members) {
      const place = places.get(member);
      if (place === undefined) unknown = true;
      else given[place] = source[member];
    }
    const result: JsonObject = {};
    for (let place = 0; place < names.length; place++) {
      const one = given[place];
      if ((one === undefined || (one === null && this.whole)) && !always[place]!) continue;
      const read = this.field(names[place]!, fields[place]!, one);
      if (read !== undefined) result[names[place]!] = read;
    }
    if (unknown && type.open !== undefined) this.open(type.open, source, places, result);
    else if (unknown) this.reportUnknown(members, type.fields);
    return result;
  }

  /** Reads the members of an object of a custom kind that aren't fields. */
  private open(
    node: SchemaNode,
    source: JsonObject,
    fields: ReadonlyMap<string, number>,
    result: JsonObject,
  ): void {
    const rest: Record<string, JsonValue> = {};
    for (const name of Object.keys(source)) {
      if (!fields.has(name)) setMember(rest, name, source[name] as JsonValue);
    }
    const support: ReadSupport = {
      unknown: () => this.noteUnknown(pathOf(this.steps)),
      metadata: (value) => this.embeddedMetadata(value),
    };
    const read = readMembers(node, rest, this.steps, support);
    for (const name of Object.keys(read)) setMember(result as typeof read, name, read[name]!);
  }

  /** Reads the metadata of an embedded object. It has no time of creation unless the client gives one. */
  private embeddedMetadata(value: JsonValue): JsonValue {
    const meta = this.struct(ObjectMeta, value ?? {});
    if (meta["creationTimestamp"] === null) delete meta["creationTimestamp"];
    return meta as JsonValue;
  }

  private field(name: string, field: Field, given: unknown): unknown {
    if (given === undefined || given === null) return this.whole ? absentOf(field) : given;
    this.steps.push(name);
    const read = this.value(field.type, given);
    this.steps.pop();
    if (!this.whole || field.facts.nullable || !isEmpty(field.type, read)) return read;
    return field.facts.emitEmpty ? read : undefined;
  }

  private value(type: Type, given: unknown): unknown {
    switch (type.shape) {
      case "scalar":
        return this.scalar(type, given);
      case "struct":
        return this.struct(type, given);
      case "list":
        return this.list(type.element, given);
      case "map":
        return this.map(type.value, given);
      case "union":
        return this.union(type, given);
    }
  }

  private union(type: UnionType, given: unknown): unknown {
    const form = formOf(type, given);
    if (form === undefined) throw this.fault(Object.keys(type.forms).join(" or "), given);
    return this.value(form.type, given);
  }

  private scalar(type: ScalarType, given: unknown): unknown {
    const read = decodeScalar(type.name, given);
    if (read instanceof Error) throw new TypeFault(pathOf(this.steps), read.message);
    return read;
  }

  private list(element: Type, given: unknown): unknown[] {
    if (!Array.isArray(given)) throw this.fault("a list", given);
    return given.map((item: unknown, index) => {
      this.steps.push(index);
      const read = item === null || item === undefined ? emptyItem(element) : this.value(element, item);
      this.steps.pop();
      return read;
    });
  }

  private map(valueType: Type, given: unknown): JsonObject {
    if (typeof given !== "object" || given === null || Array.isArray(given))
      throw this.fault("an object", given);
    const result: JsonObject = {};
    for (const key of Object.keys(given)) {
      const item = (given as JsonObject)[key];
      this.steps.push(key);
      const read = item === null ? emptyItem(valueType) : this.value(valueType, item);
      this.steps.pop();
      if (key === "__proto__") Object.defineProperty(result, key, ownMember(read));
      else result[key] = read;
    }
    return result;
  }

  private reportUnknown(names: readonly string[], fields: StructType["fields"]): void {
    for (const name of names) {
      if (Object.hasOwn(fields, name)) continue;
      this.noteUnknown(pathOf([...this.steps, name]));
      if (this.moreUnknown) return;
    }
  }

  private noteUnknown(path: string): void {
    if (this.unknown.length === maxUnknown) this.moreUnknown = true;
    else this.unknown.push(path);
  }

  private fault(expected: string, given: unknown): TypeFault {
    return new TypeFault(pathOf(this.steps), `expected ${expected}, got ${describe(given)}`);
  }
}

function ownMember(value: unknown): PropertyDescriptor {
  return { value, enumerable: true, configurable: true, writable: true };
}

/** The JSON value of an absent field. */
function absentOf({ type, facts }: Field): unknown {
  if (!facts.emitEmpty) return undefined;
  return facts.nullable ? null : emptyOf(type);
}

/** The JSON value of an absent value that must be written. */
export function emptyOf(type: Type): unknown {
  if (type.shape === "struct") return emptyStruct(type);
  if (type.shape === "scalar") return zeroOf(type.name);
  return null;
}

function emptyStruct(type: StructType): JsonObject {
  const { names, fields, always } = placesOf(type);
  const result: JsonObject = {};
  for (let place = 0; place < names.length; place++) {
    if (always[place]!) result[names[place]!] = absentOf(fields[place]!);
  }
  return result;
}

/** A null inside a list or map is the zero value of the element. */
function emptyItem(type: Type): unknown {
  if (type.shape === "list") return [];
  if (type.shape === "map") return {};
  if (type.shape === "scalar" && type.name === "bytes") return "";
  return emptyOf(type);
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
