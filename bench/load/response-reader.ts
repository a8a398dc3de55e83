/** Parses responses of a connection only as far as needed to find their ends. */

const headEnd = Buffer.from("\r\n\r\n");
const carriageReturn = 0x0d;
const empty = Buffer.alloc(0);

export interface ResponseEvents {
  /** Bytes of a body without chunk framing. */
  body(bytes: Buffer): void;
  /** A response is complete. */
  done(status: number): void;
}

export class ResponseReader {
  private rest: Buffer = empty;
  private status = 0;
  /** Remaining bytes of the body or chunk; -1 while a head is expected. */
  private remaining = -1;
  private chunked = false;

  constructor(private readonly events: ResponseEvents) {}

  take(bytes: Buffer): void {
    let input = bytes;
    if (this.rest.length > 0) {
      input = Buffer.concat([this.rest, bytes]);
      this.rest = empty;
    }
    let at = 0;
    while (at < input.length) {
      const next = this.step(input, at);
      if (next === -1) {
        this.rest = input.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** Continues at `at`; returns -1 if more bytes are needed. */
  private step(input: Buffer, at: number): number {
    if (this.remaining === -1) return this.readHead(input, at);
    if (this.remaining === 0 && this.chunked) return this.readChunkSize(input, at);
    const end = Math.min(input.length, at + this.remaining);
    this.events.body(input.subarray(at, end));
    this.remaining -= end - at;
    if (this.remaining === 0 && !this.chunked) this.finish();
    return end;
  }

  private readHead(input: Buffer, at: number): number {
    const end = input.indexOf(headEnd, at);
    if (end === -1) return -1;
    const head = input.toString("latin1", at, end);
    this.status = Number(head.slice(9, 12));
    const length = /content-length: *(\d+)/i.exec(head);
    this.chunked = length === null;
    this.remaining = length === null ? 0 : Number(length[1]);
    if (!this.chunked && this.remaining === 0) this.finish();
    return end + 4;
  }

  private readChunkSize(input: Buffer, at: number): number {
    // The line break after the previous chunk comes first.
    const start = input[at] === carriageReturn ? at + 2 : at;
    const end = input.indexOf("\r\n", start);
    if (end === -1) return -1;
    const size = Number.parseInt(input.toString("latin1", start, end), 16);
    if (size > 0) {
      this.remaining = size;
      return end + 2;
    }
    if (input.length < end + 4) return -1;
    this.finish();
    return end + 4;
  }

  private finish(): void {
    this.remaining = -1;
    this.events.done(this.status);
  }
}
