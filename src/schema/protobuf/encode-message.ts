import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { parseDuration } from "../../base/duration.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { Field, ListType, MapType, ScalarName, StructType, Type, UnionType } from "../types.ts";
import { unionForm } from "../unions.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Writes the canonical JSON form of a declared struct as a message (spec: conventions 2.12). Scalars that can't be absent
 * are written even when they are zero, as the field's clients expect; nullable ones only when they are there.
 */
export function encodeMessage(type: StructType, value: JsonObject): Uint8Array {
  const writer = new BinaryWriter();
  writeStruct(writer, type, value);
  return writer.finish();
}

/** How a struct is written: its fields by number, those inside an inlined message together. */
interface Plan {
  readonly number: number;
  /** The field; undefined for an inlined message. */
  readonly name: string;
  readonly field: Field | undefined;
  readonly inside: readonly Plan[];
}

const plans = new WeakMap<StructType, readonly Plan[]>();

function planOf(type: StructType): readonly Plan[] {
  let found = plans.get(type);
  if (found === undefined) plans.set(type, (found = makePlan(type)));
  return found;
}

function makePlan(type: StructType): readonly Plan[] {
  const plan: Plan[] = [];
  const messages = new Map<number, Plan[]>();
  for (const [name, field] of Object.entries(type.fields)) {
    const { number, inside } = field.facts;
    if (number === undefined) continue;
    const one = { number, name, field, inside: [] };
    if (inside === undefined) {
      plan.push(one);
      continue;
    }
    let parts = messages.get(inside);
    if (parts === undefined) {
      messages.set(inside, (parts = []));
      plan.push({ number: inside, name: "", field: undefined, inside: parts });
    }
    parts.push(one);
  }
  for (const parts of messages.values()) parts.sort((a, b) => a.number - b.number);
  return plan.toSorted((a, b) => a.number - b.number);
}

function writeStruct(writer: BinaryWriter, type: StructType, value: JsonObject): void {
  writePlan(writer, planOf(type), value);
}

function writePlan(writer: BinaryWriter, plan: readonly Plan[], value: JsonObject): void {
  for (const { number, name, field, inside } of plan) {
    if (field === undefined) {
      writer.tag(number, WireType.LengthDelimited).fork();
      writePlan(writer, inside, value);
      writer.join();
    } else writeField(writer, number, field, value[name]);
  }
}

function writeField(writer: BinaryWriter, number: number, { type, facts }: Field, value: unknown): void {
  if (value === undefined || value === null) {
    if (!facts.nullable) writeAbsent(writer, number, type);
    return;
  }
  if (type.shape === "list") writeItems(writer, number, type, value as readonly unknown[]);
  else if (type.shape === "map") writeEntries(writer, number, type, value as JsonObject);
  else writeValue(writer, number, type, value);
}

/** What can't be absent is written as its zero. */
function writeAbsent(writer: BinaryWriter, number: number, type: Type): void {
  if (type.shape === "struct") writeValue(writer, number, type, {});
  if (type.shape !== "scalar") return;
  switch (type.name) {
    case "bytes":
    case "fieldsV1":
      return;
    case "time":
    case "microTime":
    case "json":
    case "object":
      writer.tag(number, WireType.LengthDelimited).fork().join();
      return;
    default:
      writeValue(writer, number, type, zeros[type.name]);
  }
}

const zeros: Readonly<Partial<Record<ScalarName, unknown>>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  quantity: "0",
  intOrString: 0,
  duration: "0s",
};

function writeItems(
  writer: BinaryWriter,
  number: number,
  { element }: ListType,
  items: readonly unknown[],
): void {
  for (const item of items) {
    if (element.shape === "list") {
      writer.tag(number, WireType.LengthDelimited).fork();
      writeItems(writer, 1, element, item as readonly unknown[]);
      writer.join();
    } else writeValue(writer, number, element, item);
  }
}

/** A map travels as a list of messages with a key (1) and a value (2), sorted by key. */
function writeEntries(
  writer: BinaryWriter,
  number: number,
  { value: type }: MapType,
  entries: JsonObject,
): void {
  for (const key of Object.keys(entries).toSorted()) {
    writer.tag(number, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key);
    const value = entries[key];
    if (type.shape === "list") {
      writer.tag(2, WireType.LengthDelimited).fork();
      writeItems(writer, 1, type, value as readonly unknown[]);
      writer.join();
    } else writeValue(writer, 2, type, value);
    writer.join();
  }
}

function writeValue(writer: BinaryWriter, number: number, type: Type, value: unknown): void {
  switch (type.shape) {
    case "struct":
      writer.tag(number, WireType.LengthDelimited).fork();
      writeStruct(writer, type, value as JsonObject);
      writer.join();
      return;
    case "union":
      writer.tag(number, WireType.LengthDelimited).fork();
      writeUnion(writer, type, value);
      writer.join();
      return;
    case "scalar":
      writeScalar(writer, number, type.name, value);
      return;
    case "list":
    case "map":
      throw new TypeError("a list or map can't stand here");
  }
}

/** A union with a boolean form says `true` beside an object too. */
function writeUnion(writer: BinaryWriter, { forms }: UnionType, value: unknown): void {
  const form = unionForm(value);
  if (form !== "bool" && forms.bool !== undefined)
    writeField(writer, forms.bool.facts.number!, forms.bool, true);
  const field = form === undefined ? undefined : forms[form];
  if (field !== undefined) writeField(writer, field.facts.number!, field, value);
}

function writeScalar(writer: BinaryWriter, number: number, name: ScalarName, value: unknown): void {
  switch (name) {
    case "string":
      writer.tag(number, WireType.LengthDelimited).string(value as string);
      return;
    case "bool":
      writer.tag(number, WireType.Varint).bool(value as boolean);
      return;
    case "int32":
      writer.tag(number, WireType.Varint).int32(value as number);
      return;
    case "int64":
      writer.tag(number, WireType.Varint).int64(value as number);
      return;
    case "double":
      writer.tag(number, WireType.Bit64).double(value as number);
      return;
    case "bytes":
      writer.tag(number, WireType.LengthDelimited).bytes(Buffer.from(value as string, "base64"));
      return;
    default:
      writer.tag(number, WireType.LengthDelimited).fork();
      writeHelper(writer, name, value);
      writer.join();
  }
}

/** The content of the small messages that stand for scalars with a form of their own. */
function writeHelper(writer: BinaryWriter, name: ScalarName, value: unknown): void {
  switch (name) {
    case "time":
    case "microTime":
      return writeTime(writer, value as string);
    case "duration":
      writer.tag(1, WireType.Varint).int64(parseDuration(value as string) ?? 0n);
      return;
    case "quantity":
      writer.tag(1, WireType.LengthDelimited).string(value as string);
      return;
    case "intOrString": {
      const isText = typeof value === "string";
      writer.tag(1, WireType.Varint).int64(isText ? 1 : 0);
      writer.tag(2, WireType.Varint).int32(isText ? 0 : (value as number));
      writer.tag(3, WireType.LengthDelimited).string(isText ? value : "");
      return;
    }
    default:
      writer.tag(1, WireType.LengthDelimited).string(encodeJson(value as JsonValue));
  }
}

const timeParts = /^(.{19})(?:\.(\d{1,9}))?Z$/;

function writeTime(writer: BinaryWriter, text: string): void {
  const [, whole, fraction = ""] = timeParts.exec(text) ?? [];
  const seconds = Math.floor(Date.parse(`${whole}Z`) / 1000);
  writer.tag(1, WireType.Varint).int64(seconds);
  writer.tag(2, WireType.Varint).int32(Number(fraction.padEnd(9, "0")));
}
