import type { StructType } from "../types.ts";
import { Irregular, irregular } from "../../base/json/json-scanner.ts";
import {
  hashStep,
  structPlanOf,
  type FieldPlan,
  type NamedField,
  type StructPlan,
} from "./transcode-plan.ts";
import {
  base64,
  integer,
  intOrString,
  json,
  openField,
  out,
  quantity,
  scan,
  text,
  time,
  tree,
} from "./transcode-scalars.ts";

const quote = 0x22;
const comma = 0x2c;
const colonAndQuote = 2;
const letterN = 0x6e;
const letterT = 0x74;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Canonical JSON in which an object begins at a place. */
export interface JsonAt {
  readonly bytes: Buffer;
  readonly start: number;
}

const noBytes = Buffer.alloc(0);
/** Fields that were passed over, with the places of their values, until their number's turn comes. */
const passed: FieldPlan[] = [];
const passedAt: number[] = [];

/**
 * Writes the message of an object of a declared struct straight from its canonical JSON, without decoding it: the same bytes
 * as `encodeMessage` gives for the decoded object. Members that the type doesn't declare are passed over.
 *
 * @returns undefined where the JSON isn't as regular as this server stores it: then the object has to be decoded.
 */
export function transcodeMessage(type: StructType, json: JsonAt): Buffer | undefined {
  return written(() => {
    scan.use(json.bytes);
    struct(structPlanOf(type), json.start);
  });
}

/**
 * As {@link transcodeMessage}, for many objects: each as a field of the given number, one after the other.
 */
export function transcodeFields(
  type: StructType,
  number: number,
  objects: readonly JsonAt[],
): Buffer | undefined {
  const plan = structPlanOf(type);
  let lengthBytes = 2;
  return written(() => {
    for (const { bytes, start } of objects) {
      scan.use(bytes);
      openField(number);
      const content = out.open(lengthBytes);
      struct(plan, start);
      lengthBytes = out.close(content, lengthBytes);
    }
  });
}

function written(write: () => void): Buffer | undefined {
  try {
    write();
    return out.copyFrom(0);
  } catch (error) {
    if (error instanceof Irregular) return undefined;
    throw error;
  } finally {
    out.clear();
    scan.use(noBytes);
    passed.length = 0;
    passedAt.length = 0;
  }
}

/** @param at of the opening brace; gives the place behind the closing one. */
function struct(plan: StructPlan, at: number): number {
  if (scan.bytes[at] !== openBrace) throw irregular;
  return members(plan, at + 1) + 1;
}

/**
 * Writes the members that a plan knows, with what stands for those that are absent. An inlined message ends before the first
 * member that it doesn't know.
 *
 * @param from of the first member; gives the place of the first one that isn't of the plan, or of the closing brace.
 */
function members(plan: StructPlan, from: number, inlined = false): number {
  const { bytes } = scan;
  const below = passed.length;
  let at = from;
  let next = 0;
  let last = plan.start;
  while (bytes[at] === quote) {
    const named = fieldAt(plan, last, at + 1);
    const field = named?.plan;
    if (named !== undefined) last = named;
    const value = named === undefined ? nameEnd(at + 1) + 2 : at + 2 + named.name.length;
    if (field === undefined) {
      if (inlined) break;
      at = scan.valueEnd(value);
    } else if (bytes[value] === letterN) at = value + 4;
    else {
      const { place } = field;
      if (place < next) throw irregular;
      if (field.early) {
        at = passOver(field, value);
      } else {
        absentUpTo(plan, next, place, below);
        at = field.form === "inlined" ? inlinedMessage(field, at) : fieldValue(field, value);
        next = place + 1;
      }
    }
    if (bytes[at] === comma) at++;
  }
  absentUpTo(plan, next, plan.parts, below);
  return at;
}

/** The field whose name begins at a place, behind the field `last`; undefined where the plan has none. */
function fieldAt(plan: StructPlan, last: NamedField, from: number): NamedField | undefined {
  const { bytes } = scan;
  const { next } = last;
  if (next?.isAt(bytes, from) === true) return next;
  let hash = 0;
  const end = nameEnd(from);
  for (let at = from; at < end; at++) hash = hashStep(hash, bytes[at]!);
  const found = plan.find(bytes, from, hash);
  if (found !== undefined) last.next = found;
  return found;
}

/** Names of fields have no escapes. */
function nameEnd(from: number): number {
  const end = scan.textEnd(from);
  if (scan.escaped) throw irregular;
  return end;
}

function passOver(field: FieldPlan, at: number): number {
  if (field.form === "inlined") throw irregular;
  passed.push(field);
  passedAt.push(at);
  return scan.valueEnd(at);
}

/**
 * Writes what stands between two places of a plan: fields that were passed over, and the zeros of absent ones.
 *
 * @param below how many of the fields that were passed over are of other structs.
 */
function absentUpTo(plan: StructPlan, from: number, to: number, below: number): void {
  const { absent, absentAt } = plan;
  let next = from;
  while (passed.length > below) {
    let first = below;
    for (let index = below + 1; index < passed.length; index++) {
      if (passed[index]!.place < passed[first]!.place) first = index;
    }
    const field = passed[first]!;
    if (field.place >= to) break;
    if (field.place < next) throw irregular;
    const at = passedAt[first]!;
    const lastField = passed.pop()!;
    const lastAt = passedAt.pop()!;
    if (first < passed.length) {
      passed[first] = lastField;
      passedAt[first] = lastAt;
    }
    if (absentAt[field.place]! > absentAt[next]!)
      out.rawPart(absent, absentAt[next]!, absentAt[field.place]!);
    fieldValue(field, at);
    next = field.place + 1;
  }
  if (absentAt[to]! > absentAt[next]!) out.rawPart(absent, absentAt[next]!, absentAt[to]!);
}

function inlinedMessage(field: FieldPlan, at: number): number {
  openField(field.number);
  // The field itself may stand in what is written meanwhile, as in schemas, and change the guess.
  const { lengthBytes } = field;
  const content = out.open(lengthBytes);
  const end = members(field.struct!, at, true);
  field.lengthBytes = out.close(content, lengthBytes);
  return end;
}

/** Writes a field with its tag. @param at of its value; gives the place behind it. */
function fieldValue(field: FieldPlan, at: number): number {
  switch (field.form) {
    case "text":
      if (scan.bytes[at] !== quote) throw irregular;
      openField(field.number);
      return text(at);
    case "struct": {
      openField(field.number);
      const { lengthBytes } = field;
      const content = out.open(lengthBytes);
      const end = struct(field.struct!, at);
      field.lengthBytes = out.close(content, lengthBytes);
      return end;
    }
    case "list":
      return list(field.element!, at);
    case "map":
      return map(field, at);
    case "bool":
      out.varint(field.number * 8);
      out.byte(scan.bytes[at] === letterT ? 1 : 0);
      return at + (scan.bytes[at] === letterT ? 4 : 5);
    case "integer":
      return integer(field, at);
    case "quantity":
      return quantity(field, at);
    case "time":
      return time(field, at);
    case "intOrString":
      return intOrString(field, at);
    case "bytes":
      return base64(field, at);
    case "json":
      return json(field, at);
    default:
      return tree(field, at);
  }
}

function list(element: FieldPlan, from: number): number {
  const { bytes } = scan;
  if (bytes[from] !== openBracket) throw irregular;
  let at = from + 1;
  while (bytes[at] !== closeBracket) {
    if (bytes[at] === letterN) throw irregular;
    at = fieldValue(element, at);
    if (bytes[at] === comma) at++;
  }
  return at + 1;
}

/** A map is a list of messages with a key (1) and a value (2), sorted by key, which those of most objects are. */
function map(field: FieldPlan, from: number): number {
  const { bytes } = scan;
  const element = field.element!;
  const start = out.length;
  let keyFrom = 0;
  let keyTo = 0;
  if (bytes[from] !== openBrace) throw irregular;
  let at = from + 1;
  while (bytes[at] === quote) {
    const end = scan.textEnd(at + 1);
    const value = end + colonAndQuote;
    if (scan.escaped || bytes[value] === letterN || !isAbove(bytes, at + 1, end, keyFrom, keyTo)) {
      out.cut(start);
      return tree(field, from);
    }
    keyFrom = at + 1;
    keyTo = end;
    openField(field.number);
    const { lengthBytes } = field;
    const content = out.open(lengthBytes);
    openField(1);
    out.varint(end - at - 1);
    out.rawPart(bytes, at + 1, end);
    at = fieldValue(element, value);
    field.lengthBytes = out.close(content, lengthBytes);
    if (bytes[at] === comma) at++;
  }
  return at + 1;
}

/** Whether a key is above the one before it, as far as bytes tell: half characters sort otherwise. */
function isAbove(bytes: Buffer, from: number, to: number, lastFrom: number, lastTo: number): boolean {
  const shared = Math.min(to - from, lastTo - lastFrom);
  for (let index = 0; index < shared; index++) {
    const byte = bytes[from + index]!;
    const last = bytes[lastFrom + index]!;
    if (byte !== last) return byte > last && byte < firstOfSurrogates;
  }
  return to - from > shared || lastTo === 0;
}

/** Bytes from here on begin characters that UTF-16 sorts otherwise than UTF-8. */
const firstOfSurrogates = 0xee;
