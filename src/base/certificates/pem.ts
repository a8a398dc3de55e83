/** One block of a PEM text (RFC 7468). */
export interface PemBlock {
  /** Label of the boundary lines, for example `CERTIFICATE`. */
  readonly label: string;
  /** The text of the block, including its boundary lines. */
  readonly text: string;
  readonly hasHeaders: boolean;
  /** The decoded bytes; undefined if the text between the boundaries isn't valid Base64. */
  readonly content: Buffer | undefined;
}

/** Returns the PEM text of a field that has it in Base64, with one character for each byte. */
export function pemOfBase64(base64: string): string {
  return Buffer.from(base64, "base64").toString("latin1");
}

/**
 * Returns the complete blocks of a PEM text, in order. Text between blocks, and blocks without an end, are skipped. As in Go's
 * `encoding/pem`, which most other programs of a cluster use, boundaries are at the start of a line, and header lines may follow the
 * first one. Takes linear time for every text.
 */
export function pemBlocks(text: string): PemBlock[] {
  return [...new PemReader(text).blocks()];
}

/** Encodes bytes as one PEM block. */
export function pemOf(label: string, content: Buffer): string {
  const lines = content.toString("base64").match(/.{1,64}/g) ?? [];
  return `${begin}${label}${dashes}\n${lines.join("\n")}\n${end}${label}${dashes}\n`;
}

/** Returns the certificates of a PEM text, each as PEM, in order; other blocks and text are skipped. */
export function certificatesIn(pem: string): string[] {
  return pemBlocks(pem)
    .filter(({ label }) => label === "CERTIFICATE")
    .map(({ text }) => text);
}

const begin = "-----BEGIN ";
const end = "-----END ";
const dashes = "-----";

/** The rest of a line without trailing white space, and the offset of the next line. */
interface Line {
  readonly text: string;
  readonly next: number;
}

class PemReader {
  /** The next end boundary and the rest of its line; cached until reading has passed it, so that the total time is linear. */
  private endAt = -1;
  private endLine: Line = { text: "", next: 0 };
  /** The last range of header lines, cached for the same reason: a range can have many begin boundaries. */
  private headers = { from: 0, end: 0 };

  constructor(private readonly text: string) {}

  *blocks(): Iterable<PemBlock> {
    const { text } = this;
    for (let at = 0; ;) {
      const start = this.lineWith(begin, at);
      if (start === -1) return;
      const labelLine = this.lineAt(start + begin.length);
      at = labelLine.next;
      if (!labelLine.text.endsWith(dashes)) continue;
      const label = labelLine.text.slice(0, -dashes.length);
      at = this.skipHeaders(at);
      const bodyAt = at;
      const endAt = this.nextEnd(bodyAt);
      if (endAt === -1) return;
      const { endLine } = this;
      if (endLine.text !== label + dashes) continue;
      at = endLine.next;
      yield {
        label,
        text: text.slice(start, endAt + end.length + label.length + dashes.length),
        hasHeaders: bodyAt > labelLine.next,
        content: decodeBase64(text.slice(bodyAt, endAt)),
      };
    }
  }

  /** Returns the offset after the header lines at an offset; the same offset if there are none. */
  private skipHeaders(from: number): number {
    if (from >= this.headers.from && from < this.headers.end) return this.headers.end;
    let at = from;
    while (at < this.text.length) {
      const line = this.lineAt(at);
      if (!line.text.includes(":")) break;
      at = line.next;
    }
    this.headers = { from, end: at };
    return at;
  }

  private nextEnd(from: number): number {
    if (this.endAt < from) {
      this.endAt = this.lineWith(end, from);
      this.endLine = this.lineAt(this.endAt + end.length);
    }
    return this.endAt;
  }

  /** Returns the offset of the next line that starts with a mark; -1 if there is none. */
  private lineWith(mark: string, from: number): number {
    if ((from === 0 || this.text[from - 1] === "\n") && this.text.startsWith(mark, from)) return from;
    const found = this.text.indexOf(`\n${mark}`, from);
    return found === -1 ? -1 : found + 1;
  }

  /** Returns the rest of a line without trailing white space, and the offset of the next line. */
  private lineAt(at: number): Line {
    const feed = this.text.indexOf("\n", at);
    const next = feed === -1 ? this.text.length : feed + 1;
    let stop = feed === -1 ? next : feed;
    if (feed > at && this.text[feed - 1] === "\r") stop--;
    while (stop > at && (this.text[stop - 1] === " " || this.text[stop - 1] === "\t")) stop--;
    return { text: this.text.slice(at, stop), next };
  }
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decodeBase64(text: string): Buffer | undefined {
  const compact = text.replace(/[ \t\r\n]/g, "");
  return compact.length % 4 === 0 && base64.test(compact) ? Buffer.from(compact, "base64") : undefined;
}
