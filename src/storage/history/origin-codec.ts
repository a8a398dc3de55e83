/**
 * The stored form of origins, in some 30 bytes. Names of users and managers repeat: a name that is used often gets a number, which is
 * stored once with the name. Other names are stored in each origin, and go with it.
 */
import { draftOf } from "../entry.ts";
import { pagesOf } from "../range-pages.ts";
import type { Origin } from "../store-history.ts";
import type { Draft, Store } from "../store.ts";

const namesPrefix = "/~/names//";
/** Uses after which a name gets a number. */
const usesForNumber = 8;
/** Bounds the numbered names, which are never removed, and the counted ones. */
const maxNumbers = 4096;
const maxCounted = 4096;
/** Maximum length of a stored name in bytes; longer ones are cut. */
const maxNameBytes = 250;
/** Maximum length of another text in bytes. */
const maxTextBytes = 64;
/** In place of the length of a text: a number or the bytes of a UUID follow. */
const marker = 0xff;

const verbs = ["", "create", "update", "patch", "apply", "delete", "deletecollection"] as const;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Encodes and decodes origins of one store. */
export class OriginCodec {
  private readonly numbers = new Map<string, number>();
  private readonly names = new Map<number, string>();
  private readonly uses = new Map<string, number>();
  private pending: Promise<void> = Promise.resolve();

  /** @param failed called when a name can't be stored; it is tried again when it is used again. */
  constructor(
    private readonly store: Store,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Reads the numbered names. */
  async load(): Promise<void> {
    for await (const { entries } of pagesOf(this.store, { prefix: namesPrefix, limit: 500 }))
      for (const entry of entries)
        this.learn(Number(entry.key.slice(namesPrefix.length)), nameIn(draftOf(entry)));
  }

  /** Resolves when no name is being stored. */
  settled(): Promise<void> {
    return this.pending;
  }

  encode({ user, manager, verb, requestId, time }: Origin): Uint8Array {
    const head = Buffer.allocUnsafe(6);
    head.writeUIntBE(Math.max(0, Math.trunc(time)), 0, 6);
    const code = verbs.indexOf(verb as (typeof verbs)[number]);
    const parts = [
      head,
      code > 0 ? Buffer.from([code]) : Buffer.concat([Buffer.from([0]), textBytes(verb, maxTextBytes)]),
      uuid.test(requestId)
        ? Buffer.from(`ff${requestId.replaceAll("-", "")}`, "hex")
        : textBytes(requestId, maxTextBytes),
      this.nameBytes(user),
      this.nameBytes(manager),
    ];
    return Buffer.concat(parts);
  }

  /** @throws {RangeError} the bytes are of no known form. */
  async decode(bytes: Uint8Array): Promise<Origin> {
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const time = source.readUIntBE(0, 6);
    let at = 7;
    const text = (): string => {
      const length = source.readUInt8(at);
      const end = at + 1 + length;
      if (end > source.length) throw new RangeError("an origin is cut off");
      const value = source.toString("utf8", at + 1, end);
      at = end;
      return value;
    };
    const code = source.readUInt8(6);
    const verb = code === 0 ? text() : (verbs[code] ?? "");
    let requestId: string;
    if (source[at] === marker) {
      const hex = source.toString("hex", at + 1, at + 17);
      requestId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
      at += 17;
    } else requestId = text();
    const name = async (): Promise<string> => {
      if (source.readUInt8(at) !== marker) return text();
      const number = source.readUInt16BE(at + 1);
      at += 3;
      return this.nameOf(number);
    };
    const user = await name();
    const manager = await name();
    return { user, manager, verb, requestId, time };
  }

  /** A name: a marker and its number, or its length and text. */
  private nameBytes(name: string): Buffer {
    const number = this.numbers.get(name);
    if (number === undefined) {
      this.count(name);
      return textBytes(name, maxNameBytes);
    }
    const bytes = Buffer.allocUnsafe(3);
    bytes[0] = marker;
    bytes.writeUInt16BE(number, 1);
    return bytes;
  }

  private count(name: string): void {
    if (this.names.size >= maxNumbers || Buffer.byteLength(name) > maxNameBytes) return;
    const count = (this.uses.get(name) ?? 0) + 1;
    if (count < usesForNumber) {
      if (this.uses.size >= maxCounted) this.uses.clear();
      this.uses.set(name, count);
      return;
    }
    this.uses.delete(name);
    this.pending = this.pending.then(() => this.register(name)).catch(this.failed);
  }

  /** Stores a name with the next number that is free. */
  private async register(name: string): Promise<void> {
    while (!this.numbers.has(name) && this.names.size < maxNumbers) {
      const number = this.names.size + 1;
      const key = keyOfNumber(number);
      const result = await this.store.commit({ kind: "create", key, draft: draftOfName(name) });
      this.learn(number, result.ok || result.current === undefined ? name : nameIn(draftOf(result.current)));
    }
  }

  private learn(number: number, name: string): void {
    this.names.set(number, name);
    this.numbers.set(name, number);
  }

  private async nameOf(number: number): Promise<string> {
    const name = this.names.get(number);
    if (name !== undefined) return name;
    // Another process has stored it.
    const entry = await this.store.get(keyOfNumber(number));
    if (entry === undefined) throw new RangeError(`an origin has the name ${number}, which isn't stored`);
    const stored = nameIn(draftOf(entry));
    this.learn(number, stored);
    return stored;
  }
}

function keyOfNumber(number: number): string {
  return `${namesPrefix}${String(number).padStart(5, "0")}`;
}

function draftOfName(name: string): Draft {
  return { header: new Uint8Array(), body: Buffer.from(`:${name}`), revisionAt: 0 };
}

function nameIn({ body }: Draft): string {
  return Buffer.from(body).toString("utf8", 1);
}

/** The length of a text in bytes, and the text; a long one is cut. */
function textBytes(text: string, maxBytes: number): Buffer {
  let bytes = Buffer.from(text.length > maxBytes ? text.slice(0, maxBytes) : text);
  // A cut character ends as one that can't be decoded, so it is left out.
  if (bytes.length > maxBytes) bytes = Buffer.from(cutText(bytes, maxBytes));
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function cutText(bytes: Buffer, maxBytes: number): string {
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
