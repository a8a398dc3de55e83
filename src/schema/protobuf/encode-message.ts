import { WireType } from "@bufbuild/protobuf/wire";
import { parseDuration } from "../../base/duration.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import type { Field, ListType, MapType, ScalarName, StructType, Type, UnionType } from "../types.ts";
import { unionForm } from "../unions.ts";
import { MessageBytes } from "./message-bytes.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Where messages are written before they are handed out; writing one calls nothing that writes another. */
const scratch = new MessageBytes(64 * 1024);

/** The bytes that a function writes, from their end to their start. */
export function bytesWritten(write: (out: MessageBytes) => void): Buffer {
  try {
    write(scratch);
    return scratch.take();
  } finally {
    scratch.clear();
  }
}

/**
 * Writes the canonical JSON form of a declared struct as a message (spec: conventions 2.12). Scalars that can't be absent
 * are written even when they are zero, as the field's clients expect; nullable ones only when they are there.
 */
export function encodeMessage(type: StructType, value: JsonObject): Buffer {
  return bytesWritten((out) => writeStruct(out, type, value));
}

/** Writes one part of a value: what is in a message, or a field with its tag. */
export type Write = (out: MessageBytes, value: unknown) => void;

/** How a field of a struct is written; the fields of an inlined message are one part. */
export interface Part {
  readonly number: number;
  /** The field; empty for an inlined message, which is made of the whole struct. */
  readonly name: string;
  /** The type of the field, or the plan of an inlined message. */
  readonly content: Type | Plan;
  /** Writes a value that is there. */
  readonly write: Write;
  /** The encoding of an absent value. */
  readonly absent: Uint8Array;
}

/** How a struct is written. */
export interface Plan {
  /** In the order of their numbers. */
  readonly parts: readonly Part[];
  /** The part to which each field belongs, by its place. */
  readonly places: ReadonlyMap<string, number>;
  /** What stands for all parts together, and where that of each begins, so that what lies between two is copied at once. */
  readonly absent: Uint8Array;
  readonly absentAt: readonly number[];
}

const plans = new WeakMap<StructType, Plan>();

/** How a struct is written; worked out once a type. */
export function planOf(type: StructType): Plan {
  let found = plans.get(type);
  if (found === undefined) plans.set(type, (found = makePlan(type)));
  return found;
}

function makePlan(type: StructType): Plan {
  return planOfFields(Object.entries(type.fields), 0);
}

/** @param depth how many messages these fields share, inside which they stand. */
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
    const write = opened(number, (out, value) => writeParts(out, plan, value as JsonObject));
    parts.push({ number, name: "", content: plan, write, absent: bytesAside((out) => write(out, {})) });
  }
  return planOfParts(parts, inner);
}

function planOfParts(given: readonly Part[], inner: ReadonlyMap<number, Plan>): Plan {
  const parts = given.toSorted((a, b) => a.number - b.number);
  const absentAt = [0];
  const places = new Map<string, number>();
  for (const [place, { number, name, absent }] of parts.entries()) {
    absentAt.push(absentAt.at(-1)! + absent.length);
    const names = name === "" ? inner.get(number)!.places.keys() : [name];
    for (const one of names) places.set(one, place);
  }
  return { parts, places, absent: Buffer.concat(parts.map(({ absent }) => absent)), absentAt };
}

/** Writes a struct's fields as the content of a message. */
export function writeStruct(out: MessageBytes, type: StructType, value: JsonObject): void {
  writeParts(out, planOf(type), value);
}

/** Goes from one part that is there to the next: most fields of most structs are absent. */
function writeParts(out: MessageBytes, plan: Plan, value: JsonObject): void {
  const { parts, absent, absentAt } = plan;
  const present = placesIn(plan, value);
  let below = parts.length;
  for (let index = present.length - 1; index >= 0; index--) {
    const place = present[index]!;
    const { name, write } = parts[place]!;
    out.rawPart(absent, absentAt[place + 1]!, absentAt[below]!);
    write(out, name === "" ? value : value[name]);
    below = place;
  }
  out.rawPart(absent, 0, absentAt[below]!);
}

/** The places of the parts that a value has, in their order. */
function placesIn({ places }: Plan, value: JsonObject): readonly number[] {
  const present: number[] = [];
  let last = -1;
  let ordered = true;
  for (const name in value) {
    const given = value[name];
    if (given === undefined || given === null) continue;
    const place = places.get(name);
    if (place === undefined || place === last) continue;
    if (place < last) ordered = false;
    present.push((last = place));
  }
  return ordered ? present : [...new Set(present)].toSorted((a, b) => a - b);
}

/** A field of a length, from what writes its value. */
function opened(number: number, write: Write): Write {
  return (out, value) => {
    const { length } = out;
    write(out, value);
    out.open(number, length);
  };
}

const nothing = new Uint8Array();

/** What can't be absent is written as its zero. */
function absentBytes(number: number, { type, facts }: Field, write: Write): Uint8Array {
  if (facts.nullable || (type.shape !== "struct" && type.shape !== "scalar")) return nothing;
  return bytesAside((out) => {
    if (type.shape === "struct") write(out, {});
    else if (emptyMessages.has(type.name)) out.open(number, out.length);
    else if (zeros[type.name] !== undefined) write(out, zeros[type.name]);
  });
}

/** As {@link bytesWritten}, while a message is being written. */
export function bytesAside(write: (out: MessageBytes) => void): Uint8Array {
  const out = new MessageBytes(256);
  write(out);
  return out.take();
}

/** Scalars whose zero is a message without content. */
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
      return opened(number, (out, value) => writeStruct(out, type, value as JsonObject));
    case "union":
      return opened(number, unionWriter(type));
    case "scalar":
      return scalarWriter(number, type.name);
  }
}

/** Writes an element of a list or map. A list inside a list or map travels as a message with the items (1). */
export function elementWriter(number: number, type: Type): Write {
  if (type.shape === "map") throw new TypeError("a map can't stand in a list or map");
  return type.shape === "list" ? opened(number, itemsWriter(1, type)) : fieldWriter(number, type);
}

function itemsWriter(number: number, { element }: ListType): Write {
  const write = elementWriter(number, element);
  return (out, value) => {
    const items = value as readonly unknown[];
    for (let index = items.length - 1; index >= 0; index--) write(out, items[index]);
  };
}

/** A map travels as a list of messages with a key (1) and a value (2), sorted by key. */
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

/** A union with a boolean form says `true` beside an object too. */
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
      return opened(number, (out, value) => out.raw(Buffer.from(value as string, "base64")));
    default:
      return opened(number, helperWriter(name));
  }
}

/** The content of the small messages that encode some scalars. */
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

/** Says which of the two it is (1), then the number (2) and the text (3), of which one is zero. */
function writeIntOrString(out: MessageBytes, value: number | string): void {
  const isText = typeof value === "string";
  out.text(isText ? value : "");
  out.tag(3, WireType.LengthDelimited);
  out.varint(isText ? 0 : value);
  out.tag(2, WireType.Varint);
  out.varint(isText ? 1 : 0);
  out.tag(1, WireType.Varint);
}

const timeParts = /^(.{19})(?:\.(\d{1,9}))?Z$/;

/** Seconds (1) and nanoseconds (2). */
function writeTime(out: MessageBytes, text: string): void {
  const [, whole, fraction = ""] = timeParts.exec(text) ?? [];
  out.varint(fraction === "" ? 0 : Number(fraction.padEnd(9, "0")));
  out.tag(2, WireType.Varint);
  out.varint(Math.floor(Date.parse(`${whole}Z`) / 1000));
  out.tag(1, WireType.Varint);
}
