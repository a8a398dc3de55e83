import { readFileSync } from "node:fs";
import { objectMark, sequenceMark, watchedObjects, type RequestPlan } from "./plan.ts";

/** Makes the requests of one connection, one after the other. */
export interface RequestSource {
  next(): Buffer;
  /** Looks at the answer's body, where the next request depends on it. */
  body?(bytes: Buffer): void;
  /** The answer is complete; whether it ends a unit of work. */
  answered(): boolean;
}

/** The requests of each of so many connections, by its number. */
export function requestSources(plan: RequestPlan, connections: number): (index: number) => RequestSource {
  switch (plan.kind) {
    case "same": {
      const bytes = Buffer.from(plan.text);
      return () => ({ next: () => bytes, answered: () => true });
    }
    case "numbered":
      return (index) => new Numbered(Buffer.from(plan.text, plan.encoding), plan.objects, index, connections);
    case "listed": {
      const texts = (JSON.parse(readFileSync(plan.file, "utf8")) as string[]).map((text) =>
        Buffer.from(text),
      );
      let at = 0;
      return () => ({ next: () => texts[at++ % texts.length]!, answered: () => true });
    }
    case "pages":
      return () => new Pages(plan.path, plan.head);
  }
}

/** A text with the number of its watcher in place of both marks; the object's goes round below 100. */
export function watchText(text: string, index: number): string {
  const digits = (value: number, mark: string): string => String(value).padStart(mark.length, "0");
  return text
    .replaceAll(sequenceMark, digits(index, sequenceMark))
    .replaceAll(objectMark, digits(index % watchedObjects, objectMark));
}

/** Writes its numbers into one buffer; the request before has been answered, so nobody reads it any more. */
class Numbered implements RequestSource {
  private readonly sequences: readonly number[];
  private readonly numbers: readonly number[];

  constructor(
    private readonly bytes: Buffer,
    private readonly objects: number,
    private at: number,
    private readonly step: number,
  ) {
    this.sequences = places(this.bytes, sequenceMark);
    this.numbers = places(this.bytes, objectMark);
  }

  next(): Buffer {
    const { bytes } = this;
    for (const place of this.sequences) writeDigits(bytes, this.at, place, sequenceMark.length);
    for (const place of this.numbers) writeDigits(bytes, this.at % this.objects, place, objectMark.length);
    this.at += this.step;
    return bytes;
  }

  answered(): boolean {
    return true;
  }
}

function places(bytes: Buffer, mark: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 1)) found.push(at);
  return found;
}

function writeDigits(bytes: Buffer, value: number, at: number, length: number): void {
  let rest = value;
  for (let place = at + length - 1; place >= at; place--) {
    bytes[place] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/** How much of a page is looked at, at its start and at its end, for the token. */
const tokenWindow = 1024;
const tokenPattern = /"continue":"([^"]+)"/;

class Pages implements RequestSource {
  private token: string | undefined;
  private parts: Buffer[] = [];

  constructor(
    private readonly path: string,
    private readonly head: string,
  ) {}

  next(): Buffer {
    const query = this.token === undefined ? "" : `&continue=${this.token}`;
    return Buffer.from(`GET ${this.path}${query} HTTP/1.1\r\n${this.head}`);
  }

  body(bytes: Buffer): void {
    this.parts.push(bytes);
  }

  answered(): boolean {
    const [first] = this.parts;
    const start = first === undefined ? "" : first.toString("latin1", 0, tokenWindow);
    const end = Buffer.concat(this.parts.slice(-2)).subarray(-tokenWindow).toString("latin1");
    this.parts = [];
    this.token = (tokenPattern.exec(start) ?? tokenPattern.exec(end))?.[1];
    return this.token === undefined;
  }
}
