import { WireType } from "@bufbuild/protobuf/wire";
import { parseDuration } from "../../base/time/duration.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { Field, ListType, MapType, ScalarName, StructType, Type, UnionType } from "../types.ts";
import { unionForm } from "../unions.ts";
import { MessageBytes } from "./message-bytes.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Shared buffer for encoding. It isn't used recursively; see {@link collectBytesSeparately}. */
const scratch = new MessageBytes(64 * 1024);

/** Returns the bytes that a function writes, from end to start. */
export function collectBytes(write: (out: MessageBytes) => void): Buffer {
  try {
    write(scratch);
    return scratch.take();
  } finally {
    scratch.clear();
  }
}

/**
 * Encodes the canonical JSON form of a declared struct as a message (spec: conventions 2.12). Scalars that aren't nullable are
 * written even if they are zero, as Kubernetes does; nullable ones only if they are present.
 */
export function encodeMessage(type: StructType, value: JsonObject): Buffer {
  return collectBytes((out) => writeStruct(out, type, value));
}

/** Writes the content of a message, or a field with its tag. */
export type Write = (out: MessageBytes, value: unknown) => void;

/** How a field of a struct is written; an inlined message with its fields is one part. */
export interface Part {
  readonly number: number;
  /** Name of the field; empty for an inlined message, which is written from the struct itself. */
  readonly name: string;
  /** The type of the field, or the plan of an inlined message. */
  readonly content: Type | Plan;
  /** Writes a value that is present. */
  readonly write: Write;
  /** The encoding of an absent value. */
  readonly absent: Uint8Array;
}

/** How a struct is written. */
export interface Plan {
  /** In order of field numbers. */
  readonly parts: readonly Part[];
  /** Index of the part for each field name. */
  readonly partIndexes: ReadonlyMap<string, number>;
  /** The encodings of all absent parts, concatenated, and their offsets, so that a range of absent parts is copied at once. */
  readonly absent: Uint8Array;
  readonly absentOffsets: readonly number[];
}

const plans = new WeakMap<StructType, Plan>();

/** Returns the plan of a struct, cached per type. */
export function planOf(type: StructType): Plan {
  let plan = plans.get(type);
  if (plan === undefined) plans.set(type, (plan = makePlan(type)));
  return plan;
}

function makePlan(type: StructType): Plan {
  return planOfFields(Object.entries(type.fields), 0);
}

/** @param depth number of inlined messages that contain these fields. */
function planOfFields(fields: readonly (readonly [name: string, field: Field])[], depth: number): Plan {
  const parts: Part[] = [];
  const messages = new Map<number, (readonly [string, Field])[]>();
  for (const [name, field] of fields) {
    const { number, inside } = field.facts;
    if (number === undefined) continue;
    const message = inside[depth];
    if (message !== undefined) messages.set(message, [...(messages.get(message) ?? []), [name, field]]);
    else {
      const write = fieldWriter(number, field.type);
      parts.push({ number, name, content: field.type, write, absent: absentBytes(number, field, write) });
    }
  }
  const inner = new Map([...messages].map(([number, within]) => [number, planOfFields(within, depth + 1)]));
  for (const [number, plan] of inner) {
    const write = lengthDelimited(number, (out, value) => writeParts(out, plan, value as JsonObject));
    parts.push({
      number,
      name: "",
      content: plan,
      write,
      absent: collectBytesSeparately((out) => write(out, {})),
    });
  }
  return planOfParts(parts, inner);
}

function planOfParts(unsorted: readonly Part[], inner: ReadonlyMap<number, Plan>): Plan {
  const parts = unsorted.toSorted((a, b) => a.number - b.number);
  const absentOffsets = [0];
  const places = new Map<string, number>();
  for (const [index, { number, name, absent }] of parts.entries()) {
    absentOffsets.push(absentOffsets.at(-1)! + absent.length);
    const names = name === "" ? inner.get(number)!.partIndexes.keys() : [name];
    for (const one of names) places.set(one, index);
  }
  return {
    parts,
    partIndexes: places,
    absent: Buffer.concat(parts.map(({ absent }) => absent)),
    absentOffsets,
  };
}

/** Writes the fields of a struct as the content of a message. */
export function writeStruct(out: MessageBytes, type: StructType, value: JsonObject): void {
  writeParts(out, planOf(type), value);
}

/** Writes the present parts and copies the ranges of absent ones between them, because most fields are absent. */
function writeParts(out: MessageBytes, plan: Plan, value: JsonObject): void {
  const { parts, absent, absentOffsets } = plan;
  const present = presentParts(plan, value);
  let below = parts.length;
  for (let index = present.length - 1; index >= 0; index--) {
    const partIndex = present[index]!;
    const { name, write } = parts[partIndex]!;
    out.rawPart(absent, absentOffsets[partIndex + 1]!, absentOffsets[below]!);
    write(out, name === "" ? value : value[name]);
    below = partIndex;
  }
  out.rawPart(absent, 0, absentOffsets[below]!);
}

/** Returns the indexes of the parts that a value has, sorted. */
function presentParts({ partIndexes }: Plan, value: JsonObject): readonly number[] {
  const present: number[] = [];
  let last = -1;
  let ordered = true;
  for (const name in value) {
    const fieldValue = value[name];
    if (fieldValue === undefined || fieldValue === null) continue;
    const partIndex = partIndexes.get(name);
    if (partIndex === undefined || partIndex === last) continue;
    if (partIndex < last) ordered = false;
    present.push((last = partIndex));
  }
  return ordered ? present : [...new Set(present)].toSorted((a, b) => a - b);
}

/** Returns a function that writes a length-delimited field. */
function lengthDelimited(number: number, write: Write): Write {
  return (out, value) => {
    const { length } = out;
    write(out, value);
    out.open(number, length);
  };
}

const nothing = new Uint8Array();

/** Returns the encoding of an absent field: the zero value of a field that isn't nullable, else nothing. */
function absentBytes(number: number, { type, facts }: Field, write: Write): Uint8Array {
  if (facts.nullable || (type.shape !== "struct" && type.shape !== "scalar")) return nothing;
  return collectBytesSeparately((out) => {
    if (type.shape === "struct") write(out, {});
    else if (emptyMessages.has(type.name)) out.open(number, out.length);
    else if (zeros[type.name] !== undefined) write(out, zeros[type.name]);
  });
}

/** As {@link collectBytes}, with a separate buffer, for use while another message is written. */
export function collectBytesSeparately(write: (out: MessageBytes) => void): Uint8Array {
  const out = new MessageBytes(256);
  write(out);
  return out.take();
}

/** Scalars whose zero value is an empty message. */
const emptyMessages: ReadonlySet<ScalarName> = new Set(["time", "microTime", "json", "object"]);

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

function fieldWriter(number: number, type: Type): Write {
  switch (type.shape) {
    case "list":
      return itemsWriter(number, type);
    case "map":
      return entriesWriter(number, type);
    case "struct":
      return lengthDelimited(number, (out, value) => writeStruct(out, type, value as JsonObject));
    case "union":
      return lengthDelimited(number, unionWriter(type));
    case "scalar":
      return scalarWriter(number, type.name);
  }
}

/** Returns the writer of an element of a list or map. A list inside of a list or map is a message with the items (1). */
export function elementWriter(number: number, type: Type): Write {
  if (type.shape === "map") throw new TypeError("a map can't be inside of a list or map");
  return type.shape === "list" ? lengthDelimited(number, itemsWriter(1, type)) : fieldWriter(number, type);
}

function itemsWriter(number: number, { element }: ListType): Write {
  const write = elementWriter(number, element);
  return (out, value) => {
    const items = value as readonly unknown[];
    for (let index = items.length - 1; index >= 0; index--) write(out, items[index]);
  };
}

/** Returns the writer of a map: a list of messages with key (1) and value (2), sorted by key. */
function entriesWriter(number: number, { value: type }: MapType): Write {
  const write = elementWriter(2, type);
  return (out, value) => {
    const entries = value as JsonObject;
    const keys = Object.keys(entries).toSorted();
    for (let index = keys.length - 1; index >= 0; index--) {
      const key = keys[index]!;
      const { length } = out;
      write(out, entries[key]);
      out.text(key);
      out.tag(1, WireType.LengthDelimited);
      out.open(number, length);
    }
  };
}

/** Returns the writer of a union. If it has a boolean form, `true` is also written for an object. */
function unionWriter({ forms }: UnionType): Write {
  const writers = new Map(
    Object.entries(forms).map(([form, { type, facts }]) => [form, fieldWriter(facts.number!, type)]),
  );
  const writeBool = writers.get("bool");
  return (out, value) => {
    const form = unionForm(value);
    if (form !== undefined) writers.get(form)?.(out, value);
    if (form !== "bool") writeBool?.(out, true);
  };
}

function scalarWriter(number: number, name: ScalarName): Write {
  switch (name) {
    case "string":
      return (out, value) => {
        out.text(value as string);
        out.tag(number, WireType.LengthDelimited);
      };
    case "bool":
      return (out, value) => {
        out.byte(value === true ? 1 : 0);
        out.tag(number, WireType.Varint);
      };
    case "int32":
    case "int64":
      return (out, value) => {
        out.varint(value as number | bigint);
        out.tag(number, WireType.Varint);
      };
    case "double":
      return (out, value) => {
        out.double(Number(value));
        out.tag(number, WireType.Bit64);
      };
    case "bytes":
      return lengthDelimited(number, (out, value) => out.raw(Buffer.from(value as string, "base64")));
    default:
      return lengthDelimited(number, helperWriter(name));
  }
}

/** Returns the writer of a scalar that is a message in protobuf. */
function helperWriter(name: ScalarName): Write {
  switch (name) {
    case "time":
    case "microTime":
      return (out, value) => writeTime(out, value as string);
    case "duration":
      return (out, value) => {
        out.varint(parseDuration(value as string) ?? 0n);
        out.tag(1, WireType.Varint);
      };
    case "quantity":
      return scalarWriter(1, "string");
    case "intOrString":
      return (out, value) => writeIntOrString(out, value as number | string);
    default: {
      const writeText = scalarWriter(1, "string");
      return (out, value) => writeText(out, encodeJson(value as JsonValue));
    }
  }
}

/** Writes the type (1: 0 for a number, 1 for a string), the number (2) and the string (3). */
function writeIntOrString(out: MessageBytes, value: number | string): void {
  const isString = typeof value === "string";
  out.text(isString ? value : "");
  out.tag(3, WireType.LengthDelimited);
  out.varint(isString ? 0 : value);
  out.tag(2, WireType.Varint);
  out.varint(isString ? 1 : 0);
  out.tag(1, WireType.Varint);
}

const timeParts = /^(.{19})(?:\.(\d{1,9}))?Z$/;

/** Writes seconds (1) and nanoseconds (2). */
function writeTime(out: MessageBytes, text: string): void {
  const [, whole, fraction = ""] = timeParts.exec(text) ?? [];
  out.varint(fraction === "" ? 0 : Number(fraction.padEnd(9, "0")));
  out.tag(2, WireType.Varint);
  out.varint(Math.floor(Date.parse(`${whole}Z`) / 1000));
  out.tag(1, WireType.Varint);
}
