import { decodeJson } from "../../base/json/decode.ts";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { Field, ListType, MapType, ScalarName, StructType, Type, UnionType } from "../types.ts";
import { ProtobufFault } from "./protobuf-fault.ts";

type JsonObject = Record<string, unknown>;

/** Maximum nesting depth of messages. */
const maxDepth = 200;

/** Maximum number of fields and items in a message, including nested ones; the same as for values of a JSON body. */
const maxValues = 200_000;

/**
 * Decodes a message to the JSON form of a declared struct, which `decode.ts` then validates and makes canonical. Unknown field
 * numbers are skipped.
 *
 * @throws {ProtobufFault} if the bytes aren't a valid message.
 */
export function decodeMessage(type: StructType, bytes: Uint8Array): JsonObject {
  return ProtobufFault.whileReading(() => new MessageDecoder().readStruct(type, bytes, 0));
}

interface NumberedField {
  readonly name: string;
  readonly field: Field;
}

/** The fields of a message by number, and the inlined messages by number. */
interface FieldsByNumber {
  readonly fields: Map<number, NumberedField>;
  readonly inlined: Map<number, FieldsByNumber>;
}

const cache = new WeakMap<StructType, FieldsByNumber>();

function fieldsByNumber(type: StructType): FieldsByNumber {
  let result = cache.get(type);
  if (result === undefined) {
    result = { fields: new Map(), inlined: new Map() };
    for (const [name, field] of Object.entries(type.fields)) {
      const { number, inside } = field.facts;
      if (number === undefined) continue;
      let target: FieldsByNumber = result;
      for (const message of inside) {
        const inner: FieldsByNumber = target.inlined.get(message) ?? {
          fields: new Map(),
          inlined: new Map(),
        };
        target.inlined.set(message, inner);
        target = inner;
      }
      target.fields.set(number, { name, field });
    }
    cache.set(type, result);
  }
  return result;
}

/** Decodes one top-level message. */
class MessageDecoder {
  /** Remaining number of fields and items. */
  private remainingValues = maxValues;

  readStruct(type: StructType, bytes: Uint8Array, depth: number): JsonObject {
    const result: JsonObject = {};
    this.readInto(result, fieldsByNumber(type), bytes, depth);
    return result;
  }

  private readInto(
    result: JsonObject,
    { fields, inlined }: FieldsByNumber,
    bytes: Uint8Array,
    depth: number,
  ): void {
    if (depth > maxDepth) throw new ProtobufFault(`messages are nested more than ${maxDepth} levels deep`);
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      this.countValue();
      const declared = fields.get(number);
      const inner = inlined.get(number);
      if (declared !== undefined)
        result[declared.name] = this.readField(
          declared.field.type,
          reader,
          wireType,
          result[declared.name],
          depth,
        );
      else if (inner !== undefined) this.readInto(result, inner, reader.bytes(), depth + 1);
      else reader.skip(wireType, number);
    }
  }

  /** Decodes a union: object and list take precedence over the boolean. */
  private readUnion({ forms }: UnionType, bytes: Uint8Array, depth: number): unknown {
    const byNumber = new Map(
      Object.entries(forms).map(([form, field]) => [field.facts.number!, { form, field }]),
    );
    const reader = new BinaryReader(bytes);
    const values: JsonObject = {};
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      const declared = byNumber.get(number);
      if (declared === undefined) reader.skip(wireType, number);
      else
        values[declared.form] = this.readField(
          declared.field.type,
          reader,
          wireType,
          values[declared.form],
          depth + 1,
        );
    }
    return values["object"] ?? values["list"] ?? values["bool"] ?? (forms.list === undefined ? false : []);
  }

  /** Returns the value of a field after another occurrence: items and entries are added to the previous value. */
  private readField(
    type: Type,
    reader: BinaryReader,
    wireType: WireType,
    previous: unknown,
    depth: number,
  ): unknown {
    if (type.shape === "list")
      return this.addItems(type, reader, wireType, (previous ?? []) as unknown[], depth);
    if (type.shape === "map") return this.addEntry(type, reader, (previous ?? {}) as JsonObject, depth);
    return this.readValue(type, reader, wireType, depth);
  }

  private addItems(
    { element }: ListType,
    reader: BinaryReader,
    wireType: WireType,
    items: unknown[],
    depth: number,
  ): unknown[] {
    if (wireType === WireType.LengthDelimited && isNumeric(element)) {
      const packed = new BinaryReader(reader.bytes());
      const itemWireType = element.name === "double" ? WireType.Bit64 : WireType.Varint;
      while (packed.pos < packed.len) {
        this.countValue();
        items.push(this.readValue(element, packed, itemWireType, depth));
      }
      return items;
    }
    items.push(this.readValue(element, reader, wireType, depth));
    return items;
  }

  /** Adds a map entry: a message with key (1) and value (2). */
  private addEntry({ value }: MapType, reader: BinaryReader, entries: JsonObject, depth: number): JsonObject {
    const entry = new BinaryReader(reader.bytes());
    let key = "";
    let item: unknown = null;
    while (entry.pos < entry.len) {
      const [number, wireType] = entry.tag();
      if (number === 1) key = entry.string(true);
      else if (number === 2) item = this.readValue(value, entry, wireType, depth);
      else entry.skip(wireType, number);
    }
    Object.defineProperty(entries, key, {
      value: item,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    return entries;
  }

  private readValue(type: Type, reader: BinaryReader, wireType: WireType, depth: number): unknown {
    switch (type.shape) {
      case "struct":
        return this.readStruct(type, reader.bytes(), depth + 1);
      case "union":
        return this.readUnion(type, reader.bytes(), depth + 1);
      case "list":
        return this.readWrappedList(type, reader.bytes(), depth + 1);
      case "map":
        throw new ProtobufFault("a map can't be inside of a map or list");
      case "scalar":
        return readScalar(type.name, reader, wireType);
    }
  }

  /** Decodes a list inside of a map or list: a message with the items as field 1. */
  private readWrappedList(type: ListType, bytes: Uint8Array, depth: number): unknown[] {
    const reader = new BinaryReader(bytes);
    const items: unknown[] = [];
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      this.countValue();
      if (number === 1) this.addItems(type, reader, wireType, items, depth);
      else reader.skip(wireType, number);
    }
    return items;
  }

  private countValue(): void {
    if (--this.remainingValues < 0) throw new ProtobufFault(`more than ${maxValues} values`);
  }
}

function isNumeric(type: Type): type is Type & { name: "bool" | "double" | "int32" | "int64" } {
  return type.shape === "scalar" && ["bool", "double", "int32", "int64"].includes(type.name);
}

function readScalar(name: ScalarName, reader: BinaryReader, wireType: WireType): unknown {
  const expected =
    name === "double" ? WireType.Bit64 : isVarint(name) ? WireType.Varint : WireType.LengthDelimited;
  if (wireType !== expected) throw new ProtobufFault(`wire type ${wireType}, expected ${expected}`);
  switch (name) {
    case "bool":
      return reader.bool();
    case "int32":
      return reader.int32();
    case "int64":
      return integer(reader.int64());
    case "double":
      return reader.double();
    case "string":
      return reader.string(true);
    case "bytes":
      return Buffer.from(reader.bytes()).toString("base64");
    case "time":
    case "microTime":
      return readTime(reader.bytes(), name === "microTime");
    case "duration":
      return readDuration(reader.bytes());
    case "quantity":
      return readHelper(reader.bytes()).get(1)?.text() || "0";
    case "intOrString":
      return readIntOrString(reader.bytes());
    case "json":
    case "object":
    case "fieldsV1":
      return readRaw(reader.bytes());
  }
}

function isVarint(name: ScalarName): boolean {
  return name === "bool" || name === "int32" || name === "int64";
}

/** Decodes a helper message with varint and string fields; returns the last value of each field. */
function readHelper(bytes: Uint8Array): ReadonlyMap<number, { number(): number; text(): string }> {
  const reader = new BinaryReader(bytes);
  const values = new Map<number, { number(): number; text(): string }>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const fieldValue = wireType === WireType.Varint ? integer(reader.int64()) : reader.bytes();
    values.set(number, {
      number: () => Number(fieldValue),
      text: () =>
        fieldValue instanceof Uint8Array ? Buffer.from(fieldValue).toString("utf8") : String(fieldValue),
    });
  }
  return values;
}

function integer(value: bigint | string): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}

/** Decodes a time; an empty message is null. */
function readTime(bytes: Uint8Array, micro: boolean): string | null {
  if (bytes.length === 0) return null;
  const parts = readHelper(bytes);
  const date = new Date((parts.get(1)?.number() ?? 0) * 1000);
  if (Number.isNaN(date.getTime())) throw new ProtobufFault("a time is out of range");
  const seconds = date.toISOString().slice(0, 19);
  if (!micro) return `${seconds}Z`;
  const micros = Math.trunc((parts.get(2)?.number() ?? 0) / 1000);
  return `${seconds}.${String(micros).padStart(6, "0")}Z`;
}

/** Decodes a duration: nanoseconds as a Go duration such as `5ns`. */
function readDuration(bytes: Uint8Array): string {
  return `${readHelper(bytes).get(1)?.text() ?? "0"}ns`;
}

function readIntOrString(bytes: Uint8Array): number | string {
  const parts = readHelper(bytes);
  return parts.get(1)?.number() === 1 ? (parts.get(3)?.text() ?? "") : (parts.get(2)?.number() ?? 0);
}

function readRaw(bytes: Uint8Array): unknown {
  const text = readHelper(bytes).get(1)?.text() ?? "";
  return text === "" ? null : decodeJson(Buffer.from(text)).value;
}
