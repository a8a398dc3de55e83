import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { age, ageOf } from "../../kinds/columns.ts";
import type { PageForm } from "../../resources/pages/page-forms.ts";
import type { Since } from "../../schema/context.ts";

/** What cells contain in place of an age while rows are made, and how JSON spells it. */
const mark = "\0";
const encodedMark = "\\u0000";

/** What an age takes in memory, with its place. */
const ageBytes = 16;

/** Rows of a table in JSON, each after a comma, in which only the ages change as time goes by. */
export class TimedRows implements PageForm {
  readonly bytes: number;

  /**
   * @param text the rows without their ages.
   * @param gaps where in the text the ages are missing, in their order.
   * @param times the times that the ages tell, in milliseconds since 1970.
   */
  constructor(
    private readonly text: Buffer,
    private readonly gaps: readonly number[],
    private readonly times: readonly number[],
  ) {
    this.bytes = text.length + gaps.length * ageBytes;
  }

  /** Rows that follow on each other, as one. */
  static joined(parts: readonly TimedRows[]): TimedRows {
    const gaps: number[] = [];
    let length = 0;
    for (const part of parts) {
      for (const gap of part.gaps) gaps.push(length + gap);
      length += part.text.length;
    }
    const text = Buffer.concat(parts.map((part) => part.text));
    return new TimedRows(
      text,
      gaps,
      parts.flatMap(({ times }) => times),
    );
  }

  /** The rows as they read at a time (milliseconds since 1970). */
  at(now: number): Buffer {
    const { text, gaps, times } = this;
    if (gaps.length === 0) return text;
    const filled = Buffer.allocUnsafe(text.length + gaps.length * longestAge);
    let from = 0;
    let to = 0;
    let last = Number.NaN;
    let lastText = "";
    for (let index = 0; index < gaps.length; index++) {
      const gap = gaps[index]!;
      to += text.copy(filled, to, from, gap);
      const time = times[index]!;
      if (time !== last) {
        lastText = ageOf(time, now);
        last = time;
      }
      to += filled.write(lastText, to, "latin1");
      from = gap;
    }
    to += text.copy(filled, to, from);
    return filled.subarray(0, to);
  }
}

/** `<invalid>` and `<unknown>`; lengths of time are shorter as long as years have four digits. */
const longestAge = 16;

/** Writes rows with gaps for ages. */
export class TimedRowsWriter {
  private buffer = Buffer.allocUnsafeSlow(64 * 1024);
  private length = 0;
  private readonly gaps: number[] = [];
  private readonly times: number[] = [];
  /** The times that the cells of the current row asked for. */
  private asked: number[] = [];

  /** What the cells of a row ask for ages: it leaves marks, and notes the times. */
  readonly since: Since = (timestamp) => {
    if (timestamp === undefined || timestamp === null) return age(timestamp, 0);
    this.asked.push(Date.parse(timestamp));
    return mark;
  };

  /**
   * Writes the cells of a row, which were made with {@link since}.
   *
   * @returns false, with nothing written, where a mark is also part of a text, so that it doesn't show where the ages belong.
   */
  cells(cells: readonly unknown[]): boolean {
    const { asked } = this;
    this.asked = [];
    const parts = encodeJson(cells as JsonValue).split(encodedMark);
    if (parts.length !== asked.length + 1) return false;
    for (const [index, part] of parts.entries()) {
      if (index > 0) {
        this.gaps.push(this.length);
        this.times.push(asked[index - 1]!);
      }
      this.write(part);
    }
    return true;
  }

  /** Writes a part of a row. */
  write(text: string): void {
    this.room(text.length * 3);
    this.length += this.buffer.write(text, this.length);
  }

  /** Writes a part of a row that is JSON already. */
  raw(bytes: Buffer, from: number, to: number): void {
    this.room(to - from);
    this.length += bytes.copy(this.buffer, this.length, from, to);
  }

  /** The rows that were written. */
  rows(): TimedRows {
    return new TimedRows(Buffer.from(this.buffer.subarray(0, this.length)), this.gaps, this.times);
  }

  private room(size: number): void {
    if (this.length + size <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.length + size));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}
