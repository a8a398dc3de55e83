import { readFileSync } from "node:fs";
import { objectMark, sequenceMark, watchedObjects, type RequestPlan } from "./plan.ts";

/** Creates the requests of one connection, one after the other. */
export interface RequestSource {
  next(): Buffer;
  /** Receives the response's body if the next request depends on it. */
  body?(bytes: Buffer): void;
  /** Called when the response is complete; returns true if it completes a unit of work. */
  answered(): boolean;
}

/** Returns a function that gives the request source of a connection by its index. */
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

/** Replaces both marks of a watch request by the number of its watcher, modulo 100 for the object. */
export function watchText(text: string, index: number): string {
  const digits = (value: number, mark: string): string => String(value).padStart(mark.length, "0");
  return text
    .replaceAll(sequenceMark, digits(index, sequenceMark))
    .replaceAll(objectMark, digits(index % watchedObjects, objectMark));
}

/** Writes the numbers into one buffer, which is free again when the previous request was answered. */
class Numbered implements RequestSource {
  private readonly sequences: readonly number[];
  private readonly numbers: readonly number[];

  constructor(
    private readonly bytes: Buffer,
    private readonly objects: number,
    private at: number,
    private readonly step: number,
  ) {
    this.sequences = positionsOf(this.bytes, sequenceMark);
    this.numbers = positionsOf(this.bytes, objectMark);
  }

  next(): Buffer {
    const { bytes } = this;
    for (const position of this.sequences) writeDigits(bytes, this.at, position, sequenceMark.length);
    for (const position of this.numbers)
      writeDigits(bytes, this.at % this.objects, position, objectMark.length);
    this.at += this.step;
    return bytes;
  }

  answered(): boolean {
    return true;
  }
}

function positionsOf(bytes: Buffer, mark: string): number[] {
  const positions: number[] = [];
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 1)) positions.push(at);
  return positions;
}

function writeDigits(bytes: Buffer, value: number, at: number, length: number): void {
  let rest = value;
  for (let position = at + length - 1; position >= at; position--) {
    bytes[position] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/** Bytes at the start and the end of a page in which the continue token is searched. */
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
