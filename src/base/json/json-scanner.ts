const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
/** From this length in bytes a native search is faster than a loop. */
const longText = 32;

/** The bytes don't have the form that the fast reader requires; the caller must fall back to a general parser. */
export class Irregular extends Error {}

/** A shared instance, because its stack is never read. */
export const irregular = new Irregular("the bytes are not canonical JSON of the type");

const noBytes = Buffer.alloc(0);

/** Finds the ends of values in JSON that this server wrote: valid and without white space. */
export class JsonScanner {
  /** The scanned bytes. */
  bytes: Buffer = noBytes;
  /** Whether the string that {@link textEnd} scanned last has escapes. */
  escaped = false;
  /** Start of the last search for a backslash, and its result. */
  private searchedFrom = 0;
  private nextBackslash = -1;

  /** Sets the bytes to scan. */
  use(bytes: Buffer): void {
    if (bytes === this.bytes) return;
    this.bytes = bytes;
    this.nextBackslash = -1;
  }

  /** Returns the offset of the closing quote. @param from offset after the opening quote. */
  textEnd(from: number): number {
    const { bytes } = this;
    for (let at = from; at < from + longText; at++) {
      const byte = bytes[at];
      if (byte === quote) {
        this.escaped = false;
        return at;
      }
      if (byte === backslash) return this.escapedEnd(at);
    }
    return this.longTextEnd(from + longText);
  }

  /** Decodes the string between two quotes. */
  text(openingQuote: number, closingQuote: number): string {
    return JSON.parse(this.bytes.toString("utf8", openingQuote, closingQuote + 1)) as string;
  }

  /** Returns the offset after a value of any type. */
  valueEnd(from: number): number {
    const { bytes } = this;
    const first = bytes[from];
    if (first === quote) return this.textEnd(from + 1) + 1;
    if (first === 0x7b || first === 0x5b) return this.nestedEnd(from);
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === comma || byte === 0x7d || byte === 0x5d) return at;
    }
    throw irregular;
  }

  private longTextEnd(from: number): number {
    const { bytes } = this;
    const end = bytes.indexOf(quote, from);
    if (end === -1) throw irregular;
    if (from < this.searchedFrom || from > this.nextBackslash) {
      const next = bytes.indexOf(backslash, from);
      this.searchedFrom = from;
      this.nextBackslash = next === -1 ? bytes.length : next;
    }
    if (this.nextBackslash < end) return this.escapedEnd(this.nextBackslash);
    this.escaped = false;
    return end;
  }

  /** @param from offset of a backslash. */
  private escapedEnd(from: number): number {
    const { bytes } = this;
    this.escaped = true;
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === backslash) at++;
      else if (byte === quote) return at;
    }
    throw irregular;
  }

  /** Returns the offset after an object or list. */
  private nestedEnd(from: number): number {
    const { bytes } = this;
    let depth = 0;
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === quote) at = this.textEnd(at + 1);
      else if (byte === 0x7b || byte === 0x5b) depth++;
      else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return at + 1;
    }
    throw irregular;
  }
}
