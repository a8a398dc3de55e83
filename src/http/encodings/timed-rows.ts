import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { age, ageOf } from "../../kinds/columns.ts";
import type { PageForm } from "../../resources/pages/page-forms.ts";
import type { Since } from "../../schema/context.ts";

/** Placeholder of an age in cells, and its JSON encoding. */
const mark = "\0";
const encodedMark = "\\u0000";

/** Approximate memory of an age and its position. */
const ageBytes = 16;

/** Rows of a table in JSON, each after a comma, in which only the ages change over time. */
export class TimedRows implements PageForm {
  readonly bytes: number;

  /**
   * @param text the rows without ages.
   * @param gaps positions of the ages in the text, ascending.
   * @param times the times of the ages, in milliseconds since 1970.
   */
  constructor(
    private readonly text: Buffer,
    private readonly gaps: readonly number[],
    private readonly times: readonly number[],
  ) {
    this.bytes = text.length + gaps.length * ageBytes;
  }

  /** Joins consecutive rows. */
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

  /** Returns the rows with the ages at a time (milliseconds since 1970). */
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

/** Length of `<invalid>` and `<unknown>`, rounded up; durations are shorter. */
const longestAge = 16;

/** Encodes rows with gaps for ages. */
export class TimedRowsWriter {
  private buffer = Buffer.allocUnsafeSlow(64 * 1024);
  private length = 0;
  private readonly gaps: number[] = [];
  private readonly times: number[] = [];
  /** The times for which the cells of the current row called {@link since}. */
  private rowTimes: number[] = [];

  /** Passed to the cells of a row: returns a placeholder and records the time. */
  readonly since: Since = (timestamp) => {
    if (timestamp === undefined || timestamp === null) return age(timestamp, 0);
    this.rowTimes.push(Date.parse(timestamp));
    return mark;
  };

  /**
   * Writes the cells of a row, which were computed with {@link since}.
   *
   * @returns false, with nothing written, if a text contains the placeholder too, so that the ages can't be located.
   */
  cells(cells: readonly unknown[]): boolean {
    const { rowTimes } = this;
    this.rowTimes = [];
    const parts = encodeJson(cells as JsonValue).split(encodedMark);
    if (parts.length !== rowTimes.length + 1) return false;
    for (const [index, part] of parts.entries()) {
      if (index > 0) {
        this.gaps.push(this.length);
        this.times.push(rowTimes[index - 1]!);
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

  /** Writes a part of a row that is already JSON. */
  raw(bytes: Buffer, from: number, to: number): void {
    this.room(to - from);
    this.length += bytes.copy(this.buffer, this.length, from, to);
  }

  /** Returns the written rows. */
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
