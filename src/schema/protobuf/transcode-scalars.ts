import { JsonScanner } from "../../base/json/json-scanner.ts";
import { decodeTrusted } from "../../base/json/trusted.ts";
import { bytesAside } from "./encode-message.ts";
import { ForwardBytes } from "./forward-bytes.ts";
import type { FieldPlan } from "./transcode-plan.ts";

const quote = 0x22;
const comma = 0x2c;
const point = 0x2e;
const closeBracket = 0x5d;
/** More digits may be more than the fast ways take. */
const maxDigits = 9;

/** What is written, and what is read, of the one message that is under way. */
export const out = new ForwardBytes(64 * 1024);
export const scan = new JsonScanner();

/** Writes a text with its length. @param at of its opening quote. */
export function text(at: number): number {
  const { bytes } = scan;
  const end = scan.textEnd(at + 1);
  if (scan.escaped) out.text(scan.text(at, end), "utf8");
  else {
    out.varint(end - at - 1);
    out.rawPart(bytes, at + 1, end);
  }
  return end + 1;
}

export function integer(field: FieldPlan, from: number): number {
  const end = digitsEnd(from);
  if (end === from || end - from > maxDigits || !isEnd(scan.bytes[end])) return tree(field, from);
  out.varint(field.number * 8);
  out.varint(number(from, end));
  return end;
}

function digitsEnd(from: number): number {
  const { bytes } = scan;
  let at = from;
  while (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++;
  return at;
}

/** Whether a byte stands behind a value. */
function isEnd(byte: number | undefined): boolean {
  return byte === comma || byte === 0x7d || byte === closeBracket;
}

/** The number that digits stand for. */
function number(from: number, to: number): number {
  const { bytes } = scan;
  let value = 0;
  for (let at = from; at < to; at++) value = value * 10 + bytes[at]! - 0x30;
  return value;
}

/** A message with a text (1). */
export function quantity(field: FieldPlan, at: number): number {
  if (scan.bytes[at] !== quote) return tree(field, at);
  openField(field.number);
  const content = out.open(1);
  openField(1);
  const end = text(at);
  out.close(content, 1);
  return end;
}

/** A message that says which of the two it is (1), with the number (2) and the text (3), of which one is zero. */
export function intOrString(field: FieldPlan, from: number): number {
  const isText = scan.bytes[from] === quote;
  const digits = isText ? from : digitsEnd(from);
  if (!isText && (digits === from || digits - from > maxDigits)) return tree(field, from);
  openField(field.number);
  const content = out.open(1);
  out.byte(1 * 8);
  out.byte(isText ? 1 : 0);
  out.byte(2 * 8);
  out.varint(number(from, digits));
  openField(3);
  const end = isText ? text(from) : digits;
  if (!isText) out.byte(0);
  out.close(content, 1);
  return end;
}

/** A message with seconds (1) and nanoseconds (2). */
export function time(field: FieldPlan, at: number): number {
  const { bytes } = scan;
  const first = at + 1;
  // Of the forms 2006-01-02T15:04:05Z and 2006-01-02T15:04:05.000000Z, as nearly all times are.
  const whole = bytes[first + 20] === quote;
  if (!whole && (bytes[first + 19] !== point || bytes[first + 27] !== quote)) return tree(field, at);
  const year = number(first, first + 4);
  const seconds =
    Date.UTC(
      year,
      number(first + 5, first + 7) - 1,
      number(first + 8, first + 10),
      number(first + 11, first + 13),
      number(first + 14, first + 16),
      number(first + 17, first + 19),
    ) / 1000;
  if (year < 1970 || seconds > 0x7fffffff) return tree(field, at);
  openField(field.number);
  const content = out.open(1);
  out.byte(1 * 8);
  out.varint(seconds);
  out.byte(2 * 8);
  out.varint(whole ? 0 : number(first + 20, first + 26) * 1000);
  out.close(content, 1);
  return first + (whole ? 21 : 28);
}

export function base64(field: FieldPlan, at: number): number {
  const end = scan.textEnd(at + 1);
  if (scan.escaped || scan.bytes[at] !== quote) return tree(field, at);
  openField(field.number);
  out.text(scan.bytes.toString("latin1", at + 1, end), "base64");
  return end + 1;
}

/** A message with the JSON itself (1). */
export function json(field: FieldPlan, at: number): number {
  const end = scan.valueEnd(at);
  openField(field.number);
  const content = out.open(field.lengthBytes);
  openField(1);
  out.varint(end - at);
  out.rawPart(scan.bytes, at, end);
  field.lengthBytes = out.close(content, field.lengthBytes);
  return end;
}

/** Any value, decoded and encoded. */
export function tree(field: FieldPlan, at: number): number {
  const end = scan.valueEnd(at);
  const value = decodeTrusted(scan.bytes.subarray(at, end));
  const bytes = bytesAside((message) => field.write(message, value));
  out.rawPart(bytes, 0, bytes.length);
  return end;
}
/** The tag of a field of a length. */
export function openField(number: number): void {
  out.varint(number * 8 + 2);
}
