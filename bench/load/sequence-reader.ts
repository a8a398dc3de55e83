import { sequenceMark } from "./plan.ts";

/** Precedes the sequence number in events. */
const eventMark = '"text":"';

/** Finds the sequence numbers of events. */
export class SequenceReader {
  private rest = "";

  constructor(private readonly found: (sequence: number) => void) {}

  take(part: Buffer): void {
    const text = this.rest + part.toString("latin1");
    let end = 0;
    for (let at = text.indexOf(eventMark); at !== -1; at = text.indexOf(eventMark, at + 1)) {
      const start = at + eventMark.length;
      if (text.length < start + sequenceMark.length) break;
      end = start + sequenceMark.length;
      const sequence = Number(text.slice(start, end));
      if (!Number.isNaN(sequence)) this.found(sequence);
    }
    this.rest = text.slice(Math.max(end, text.length - eventMark.length - sequenceMark.length));
  }
}
