import type { StructType } from "../types.ts";
import { Irregular, irregular } from "../../base/json/json-scanner.ts";
import {
  hashStep,
  structPlanOf,
  type FieldPlan,
  type NamedField,
  type StructPlan,
} from "./transcode-plan.ts";
import { ScalarTranscoder } from "./transcode-scalars.ts";

const quote = 0x22;
const comma = 0x2c;
const colonAndQuote = 2;
const letterN = 0x6e;
const letterT = 0x74;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** An object in canonical JSON that begins at `start`. */
export interface JsonAt {
  readonly bytes: Buffer;
  readonly start: number;
}

/**
 * Writes the message of an object of a declared struct directly from its canonical JSON, without decoding it: the same bytes as
 * `encodeMessage` returns for the decoded object. Members that the type doesn't declare are skipped.
 *
 * @returns undefined if the JSON isn't in the form in which this server stores it; then the object must be decoded.
 */
export function transcodeMessage(type: StructType, json: JsonAt): Buffer | undefined {
  return new Transcoder().message(structPlanOf(type), json);
}

/**
 * Transcodes many objects, as {@link transcodeMessage} does one, and writes each as a field with the given number.
 */
export function transcodeFields(
  type: StructType,
  number: number,
  objects: readonly JsonAt[],
): Buffer | undefined {
  return new Transcoder().fields(structPlanOf(type), number, objects);
}

/** One transcoding. It is used for a single call of {@link message} or {@link fields}. */
class Transcoder extends ScalarTranscoder {
  /** Fields that were skipped because fields with lower numbers may follow, and the positions of their values. */
  private readonly deferred: FieldPlan[] = [];
  private readonly deferredPositions: number[] = [];

  message(plan: StructPlan, json: JsonAt): Buffer | undefined {
    return this.writeMessage(() => {
      this.scan.use(json.bytes);
      this.struct(plan, json.start);
    });
  }

  fields(plan: StructPlan, number: number, objects: readonly JsonAt[]): Buffer | undefined {
    let lengthBytes = 2;
    return this.writeMessage(() => {
      for (const { bytes, start } of objects) {
        this.scan.use(bytes);
        this.openField(number);
        const content = this.out.open(lengthBytes);
        this.struct(plan, start);
        lengthBytes = this.out.close(content, lengthBytes);
      }
    });
  }

  private writeMessage(write: () => void): Buffer | undefined {
    try {
      write();
      return this.out.copy();
    } catch (error) {
      if (error instanceof Irregular) return undefined;
      throw error;
    } finally {
      this.out.release();
    }
  }

  /** @param at position of the opening brace. Returns the position after the closing one. */
  private struct(plan: StructPlan, at: number): number {
    if (this.scan.bytes[at] !== openBrace) throw irregular;
    return this.members(plan, at + 1) + 1;
  }

  /**
   * Writes the members of a plan and the encodings of absent ones. An inlined message ends before the first member that isn't in
   * its plan.
   *
   * @param from position of the first member.
   * @returns position of the first member that isn't in the plan, or of the closing brace.
   */
  private members(plan: StructPlan, from: number, inlined = false): number {
    const { bytes } = this.scan;
    const below = this.deferred.length;
    let at = from;
    let next = 0;
    let last = plan.start;
    while (bytes[at] === quote) {
      const named = this.fieldAt(plan, last, at + 1);
      const field = named?.plan;
      if (named !== undefined) last = named;
      const value = named === undefined ? this.nameEnd(at + 1) + 2 : at + 2 + named.name.length;
      if (field === undefined) {
        if (inlined) break;
        at = this.scan.valueEnd(value);
      } else if (bytes[value] === letterN) at = value + 4;
      else {
        const { partIndex } = field;
        if (partIndex < next) throw irregular;
        if (field.isDeferred) {
          at = this.deferField(field, value);
        } else {
          this.writeSkippedParts(plan, next, partIndex, below);
          at = field.form === "inlined" ? this.inlinedMessage(field, at) : this.fieldValue(field, value);
          next = partIndex + 1;
        }
      }
      if (bytes[at] === comma) at++;
    }
    this.writeSkippedParts(plan, next, plan.parts, below);
    return at;
  }

  /** Returns the field whose name is at a position, after the field `last`; undefined if the plan doesn't have it. */
  private fieldAt(plan: StructPlan, last: NamedField, from: number): NamedField | undefined {
    const { bytes } = this.scan;
    const { next } = last;
    if (next?.isAt(bytes, from) === true) return next;
    let hash = 0;
    const end = this.nameEnd(from);
    for (let at = from; at < end; at++) hash = hashStep(hash, bytes[at]!);
    const field = plan.find(bytes, from, hash);
    if (field !== undefined) last.next = field;
    return field;
  }

  /** Returns the end of a field name; names have no escapes. */
  private nameEnd(from: number): number {
    const end = this.scan.textEnd(from);
    if (this.scan.escaped) throw irregular;
    return end;
  }

  private deferField(field: FieldPlan, at: number): number {
    if (field.form === "inlined") throw irregular;
    this.deferred.push(field);
    this.deferredPositions.push(at);
    return this.scan.valueEnd(at);
  }

  /**
   * Writes a range of parts: deferred fields, and the encodings of absent ones.
   *
   * @param below number of deferred fields that belong to enclosing structs.
   */
  private writeSkippedParts(plan: StructPlan, from: number, to: number, below: number): void {
    const { absent, absentAt } = plan;
    let next = from;
    while (this.deferred.length > below) {
      let first = below;
      for (let index = below + 1; index < this.deferred.length; index++) {
        if (this.deferred[index]!.partIndex < this.deferred[first]!.partIndex) first = index;
      }
      const field = this.deferred[first]!;
      if (field.partIndex >= to) break;
      if (field.partIndex < next) throw irregular;
      const at = this.deferredPositions[first]!;
      const lastField = this.deferred.pop()!;
      const lastAt = this.deferredPositions.pop()!;
      if (first < this.deferred.length) {
        this.deferred[first] = lastField;
        this.deferredPositions[first] = lastAt;
      }
      if (absentAt[field.partIndex]! > absentAt[next]!)
        this.out.rawPart(absent, absentAt[next]!, absentAt[field.partIndex]!);
      this.fieldValue(field, at);
      next = field.partIndex + 1;
    }
    if (absentAt[to]! > absentAt[next]!) this.out.rawPart(absent, absentAt[next]!, absentAt[to]!);
  }

  private inlinedMessage(field: FieldPlan, at: number): number {
    this.openField(field.number);
    // A recursive struct may change `lengthBytes` while its content is written.
    const { lengthBytes } = field;
    const content = this.out.open(lengthBytes);
    const end = this.members(field.struct!, at, true);
    field.lengthBytes = this.out.close(content, lengthBytes);
    return end;
  }

  /** Writes a field with its tag. @param at position of the value. Returns the position after it. */
  private fieldValue(field: FieldPlan, at: number): number {
    switch (field.form) {
      case "text":
        if (this.scan.bytes[at] !== quote) throw irregular;
        this.openField(field.number);
        return this.text(at);
      case "struct": {
        this.openField(field.number);
        const { lengthBytes } = field;
        const content = this.out.open(lengthBytes);
        const end = this.struct(field.struct!, at);
        field.lengthBytes = this.out.close(content, lengthBytes);
        return end;
      }
      case "list":
        return this.list(field.element!, at);
      case "map":
        return this.map(field, at);
      case "bool":
        this.out.varint(field.number * 8);
        this.out.byte(this.scan.bytes[at] === letterT ? 1 : 0);
        return at + (this.scan.bytes[at] === letterT ? 4 : 5);
      case "integer":
        return this.integer(field, at);
      case "quantity":
        return this.quantity(field, at);
      case "time":
        return this.time(field, at);
      case "intOrString":
        return this.intOrString(field, at);
      case "bytes":
        return this.base64(field, at);
      case "json":
        return this.json(field, at);
      default:
        return this.tree(field, at);
    }
  }

  private list(element: FieldPlan, from: number): number {
    const { bytes } = this.scan;
    if (bytes[from] !== openBracket) throw irregular;
    let at = from + 1;
    while (bytes[at] !== closeBracket) {
      if (bytes[at] === letterN) throw irregular;
      at = this.fieldValue(element, at);
      if (bytes[at] === comma) at++;
    }
    return at + 1;
  }

  /** Writes a map as messages with key (1) and value (2). Falls back to `tree` if the keys aren't sorted. */
  private map(field: FieldPlan, from: number): number {
    const { bytes } = this.scan;
    const element = field.element!;
    const start = this.out.length;
    let keyFrom = 0;
    let keyTo = 0;
    if (bytes[from] !== openBrace) throw irregular;
    let at = from + 1;
    while (bytes[at] === quote) {
      const end = this.scan.textEnd(at + 1);
      const value = end + colonAndQuote;
      if (this.scan.escaped || bytes[value] === letterN || !isAbove(bytes, at + 1, end, keyFrom, keyTo)) {
        this.out.truncate(start);
        return this.tree(field, from);
      }
      keyFrom = at + 1;
      keyTo = end;
      this.openField(field.number);
      const { lengthBytes } = field;
      const content = this.out.open(lengthBytes);
      this.openField(1);
      this.out.varint(end - at - 1);
      this.out.rawPart(bytes, at + 1, end);
      at = this.fieldValue(element, value);
      field.lengthBytes = this.out.close(content, lengthBytes);
      if (bytes[at] === comma) at++;
    }
    return at + 1;
  }
}

/** Whether a key sorts after the previous one by bytes; false if UTF-16 order could differ. */
function isAbove(bytes: Buffer, from: number, to: number, lastFrom: number, lastTo: number): boolean {
  const shared = Math.min(to - from, lastTo - lastFrom);
  for (let index = 0; index < shared; index++) {
    const byte = bytes[from + index]!;
    const last = bytes[lastFrom + index]!;
    if (byte !== last) return byte > last && byte < firstOfSurrogates;
  }
  return to - from > shared || lastTo === 0;
}

/** From this first byte on, UTF-16 and UTF-8 order may differ. */
const firstOfSurrogates = 0xee;
