import { decodeJson } from "../../base/json/decode.ts";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { Field, ListType, MapType, ScalarName, StructType, Type, UnionType } from "../types.ts";
import { ProtobufFault } from "./protobuf-fault.ts";

type JsonObject = Record<string, unknown>;

/** How deep messages may be nested. */
const maxDepth = 200;

/** How many fields and items a message may have with all that are inside; a JSON body may have as many values. */
const maxValues = 200_000;

/**
 * Reads a message as the JSON form of a declared struct, to be checked and made canonical by `decode.ts`. Numbers that
 * the type doesn't declare are skipped, as older and newer clients must understand each other.
 *
 * @throws {ProtobufFault} when the bytes aren't such a message.
 */
export function decodeMessage(type: StructType, bytes: Uint8Array): JsonObject {
  return ProtobufFault.whileReading(() => new MessageDecoder().readStruct(type, bytes, 0));
}

interface NumberedField {
  readonly name: string;
  readonly field: Field;
}

/** The fields of a message by number; a number may also stand for a message whose fields JSON shows flat. */
interface Numbered {
  readonly fields: Map<number, NumberedField>;
  readonly inlined: Map<number, Numbered>;
}

const numbered = new WeakMap<StructType, Numbered>();

function fieldsByNumber(type: StructType): Numbered {
  let found = numbered.get(type);
  if (found === undefined) {
    found = { fields: new Map(), inlined: new Map() };
    for (const [name, field] of Object.entries(type.fields)) {
      const { number, inside } = field.facts;
      if (number === undefined) continue;
      let place: Numbered = found;
      for (const message of inside) {
        const inner: Numbered = place.inlined.get(message) ?? { fields: new Map(), inlined: new Map() };
        place.inlined.set(message, inner);
        place = inner;
      }
      place.fields.set(number, { name, field });
    }
    numbered.set(type, found);
  }
  return found;
}

/** Decodes one message. */
class MessageDecoder {
  /** Fields and items that the message may still have. */
  private valuesLeft = maxValues;

  readStruct(type: StructType, bytes: Uint8Array, depth: number): JsonObject {
    const result: JsonObject = {};
    this.readInto(result, fieldsByNumber(type), bytes, depth);
    return result;
  }

  private readInto(
    result: JsonObject,
    { fields, inlined }: Numbered,
    bytes: Uint8Array,
    depth: number,
  ): void {
    if (depth > maxDepth)
      throw new ProtobufFault(`messages stand more than ${maxDepth} deep inside each other`);
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      this.countValue();
      const known = fields.get(number);
      const inner = inlined.get(number);
      if (known !== undefined)
        result[known.name] = this.readField(known.field.type, reader, wireType, result[known.name], depth);
      else if (inner !== undefined) this.readInto(result, inner, reader.bytes(), depth + 1);
      else reader.skip(wireType, number);
    }
  }

  /** A value of several forms: the one that was sent; beside another form, a boolean says nothing more. */
  private readUnion({ forms }: UnionType, bytes: Uint8Array, depth: number): unknown {
    const byNumber = new Map(
      Object.entries(forms).map(([form, field]) => [field.facts.number!, { form, field }]),
    );
    const reader = new BinaryReader(bytes);
    const found: JsonObject = {};
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      const known = byNumber.get(number);
      if (known === undefined) reader.skip(wireType, number);
      else
        found[known.form] = this.readField(known.field.type, reader, wireType, found[known.form], depth + 1);
    }
    return found["object"] ?? found["list"] ?? found["bool"] ?? (forms.list === undefined ? false : []);
  }

  /** The value of a field after one more occurrence on the wire. */
  private readField(
    type: Type,
    reader: BinaryReader,
    wireType: WireType,
    before: unknown,
    depth: number,
  ): unknown {
    if (type.shape === "list")
      return this.addItems(type, reader, wireType, (before ?? []) as unknown[], depth);
    if (type.shape === "map") return this.addEntry(type, reader, (before ?? {}) as JsonObject, depth);
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
      const each = element.name === "double" ? WireType.Bit64 : WireType.Varint;
      while (packed.pos < packed.len) {
        this.countValue();
        items.push(this.readValue(element, packed, each, depth));
      }
      return items;
    }
    items.push(this.readValue(element, reader, wireType, depth));
    return items;
  }

  /** A map travels as a list of messages with a key (1) and a value (2). */
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
        throw new ProtobufFault("a map can't stand inside a map or list");
      case "scalar":
        return readScalar(type.name, reader, wireType);
    }
  }

  /** A list inside a map or list stands in a message of its own, as field 1. */
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
    if (--this.valuesLeft < 0) throw new ProtobufFault(`more than ${maxValues} values`);
  }
}

function isNumeric(type: Type): type is Type & { name: "bool" | "double" | "int32" | "int64" } {
  return type.shape === "scalar" && ["bool", "double", "int32", "int64"].includes(type.name);
}

function readScalar(name: ScalarName, reader: BinaryReader, wireType: WireType): unknown {
  const expected =
    name === "double" ? WireType.Bit64 : isVarint(name) ? WireType.Varint : WireType.LengthDelimited;
  if (wireType !== expected) throw new ProtobufFault(`wire type ${wireType} where ${expected} is expected`);
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
      return oneOf(reader.bytes()).get(1)?.text() || "0";
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

/** The last value of each field of a small helper message. */
function oneOf(bytes: Uint8Array): ReadonlyMap<number, { number(): number; text(): string }> {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, { number(): number; text(): string }>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const at = wireType === WireType.Varint ? integer(reader.int64()) : reader.bytes();
    found.set(number, {
      number: () => Number(at),
      text: () => (at instanceof Uint8Array ? Buffer.from(at).toString("utf8") : String(at)),
    });
  }
  return found;
}

function integer(value: bigint | string): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : BigInt(value);
}

/** A message without content is no time at all. */
function readTime(bytes: Uint8Array, micro: boolean): string | null {
  if (bytes.length === 0) return null;
  const parts = oneOf(bytes);
  const at = new Date((parts.get(1)?.number() ?? 0) * 1000);
  if (Number.isNaN(at.getTime())) throw new ProtobufFault("a time is out of range");
  const seconds = at.toISOString().slice(0, 19);
  if (!micro) return `${seconds}Z`;
  const micros = Math.trunc((parts.get(2)?.number() ?? 0) / 1000);
  return `${seconds}.${String(micros).padStart(6, "0")}Z`;
}

/** Nanoseconds, as text that the JSON form takes. */
function readDuration(bytes: Uint8Array): string {
  return `${oneOf(bytes).get(1)?.text() ?? "0"}ns`;
}

function readIntOrString(bytes: Uint8Array): number | string {
  const parts = oneOf(bytes);
  return parts.get(1)?.number() === 1 ? (parts.get(3)?.text() ?? "") : (parts.get(2)?.number() ?? 0);
}

function readRaw(bytes: Uint8Array): unknown {
  const text = oneOf(bytes).get(1)?.text() ?? "";
  return text === "" ? null : decodeJson(Buffer.from(text)).value;
}
