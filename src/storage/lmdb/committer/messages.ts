/**
 * The messages between servers and the process that commits their writes. Writes and their usual answers have a form of their own,
 * because each write needs one of both; rare answers are serialized by V8.
 */
import { deserialize, serialize } from "node:v8";
import { revisionOf } from "../../entry.ts";
import type {
  CommitResult,
  DiscardResult,
  Draft,
  Revision,
  TransactionResult,
  Write,
  WriteCondition,
} from "../../store.ts";

/** A request to the process that commits. Answers have the same `id`. */
export interface CommitterRequest {
  readonly id: number;
  /** Without a write or a key to discard, the request asks why writes fail at present. */
  readonly write?: Write | undefined;
  /** The writes of a transaction. */
  readonly transaction?: readonly Write[] | undefined;
  /** The key of a value that can't be read, for `Store.discard`. */
  readonly discard?: string | undefined;
}

/** A message of the process that commits. */
export type CommitterMessage =
  /** A draft, or the drafts of a transaction, were committed at a revision. */
  | { readonly kind: "committed"; readonly id: number; readonly revision: Revision }
  | ({ readonly kind: "answer"; readonly id: number } & Outcome)
  /** Some process has committed. */
  | { readonly kind: "changed" };

/** Any other answer to a request: the result of a commit, the present obstacle, or an error. */
export interface Outcome {
  readonly result?: CommitResult | TransactionResult | undefined;
  readonly discarded?: DiscardResult | undefined;
  readonly error?: SentError | undefined;
}

/** An error between processes. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly isStoreError: boolean;
  /** Key of a damaged value; the message is then the reason. */
  readonly key?: string;
}

/** The first byte of a request. */
const requestTags = { obstacle: 0, create: 1, update: 2, delete: 3, discard: 4, transaction: 5 } as const;
/** The first byte of a message of the committer. */
const messageTags = { committed: 1, answer: 2, changed: 3 } as const;

const numberBytes = 8;

export function encodeRequest({ id, write, transaction, discard }: CommitterRequest): Buffer {
  if (discard !== undefined) return encodeDiscard(id, discard);
  if (transaction !== undefined) {
    const head = tagged(requestTags.transaction, id, transaction.length);
    return Buffer.concat([head, ...transaction.map((one) => encodeWrite(id, one))]);
  }
  return write === undefined ? tagged(requestTags.obstacle, id) : encodeWrite(id, write);
}

function encodeWrite(id: number, write: Write): Buffer {
  const { key, kind, conditions = [] } = write;
  const writer = new MessageWriter(1 + 3 * numberBytes + requestBytes(write, conditions));
  writer.tag(requestTags[kind]);
  writer.number(id);
  writer.text(key);
  writer.number(kind === "create" ? 0 : write.expected);
  if (kind !== "delete") writer.draft(write.draft);
  writer.number(conditions.length);
  for (const condition of conditions) {
    writer.text(condition.key);
    writer.number(condition.revision);
  }
  return writer.bytes;
}

function encodeDiscard(id: number, key: string): Buffer {
  const writer = new MessageWriter(1 + numberBytes + textBytes(key));
  writer.tag(requestTags.discard);
  writer.number(id);
  writer.text(key);
  return writer.bytes;
}

/** Returns the size of the variable parts of a write. */
function requestBytes(write: Write, conditions: readonly WriteCondition[]): number {
  let length = textBytes(write.key);
  if (write.kind !== "delete")
    length += 3 * numberBytes + write.draft.header.length + write.draft.body.length;
  for (const { key } of conditions) length += numberBytes + textBytes(key);
  return length;
}

/** Decodes the requests of a frame; their bytes are views of it. @throws {RangeError} for invalid bytes. */
export function decodeRequests(content: Buffer): CommitterRequest[] {
  const reader = new MessageReader(content);
  const requests: CommitterRequest[] = [];
  while (reader.hasMore) requests.push(readRequest(reader));
  return requests;
}

function readRequest(reader: MessageReader): CommitterRequest {
  const tag = reader.tag();
  const id = reader.number();
  if (tag === requestTags.obstacle) return { id };
  if (tag === requestTags.transaction) {
    const transaction: Write[] = [];
    for (let count = reader.number(); count > 0; count--) {
      const { write } = readRequest(reader);
      if (write === undefined) throw new RangeError("a transaction with something else than writes");
      transaction.push(write);
    }
    return { id, transaction };
  }
  const key = reader.text();
  if (tag === requestTags.discard) return { id, discard: key };
  const expected = revisionOf(reader.number());
  switch (tag) {
    case requestTags.create:
      return { id, write: { kind: "create", key, draft: reader.draft(), ...readConditions(reader) } };
    case requestTags.update:
      return {
        id,
        write: { kind: "update", key, expected, draft: reader.draft(), ...readConditions(reader) },
      };
    case requestTags.delete:
      return { id, write: { kind: "delete", key, expected, ...readConditions(reader) } };
  }
  throw new RangeError(`a request of the unknown kind ${tag}`);
}

function readConditions(reader: MessageReader): { conditions?: readonly WriteCondition[] } {
  const count = reader.number();
  if (count === 0) return {};
  const conditions: WriteCondition[] = [];
  for (let n = 0; n < count; n++)
    conditions.push({ key: reader.text(), revision: revisionOf(reader.number()) });
  return { conditions };
}

export function encodeMessage(message: CommitterMessage): Buffer {
  if (message.kind === "changed") return tagged(messageTags.changed);
  const { kind, id } = message;
  if (kind === "committed") return tagged(messageTags.committed, id, message.revision);
  const { result, discarded, error } = message;
  const outcome = serialize({ result, discarded, error });
  const writer = new MessageWriter(1 + 2 * numberBytes + outcome.length);
  writer.tag(messageTags.answer);
  writer.number(id);
  writer.block(outcome);
  return writer.bytes;
}

/** Decodes the messages of a frame; their bytes are views of it. @throws {RangeError} for invalid bytes. */
export function decodeMessages(content: Buffer): CommitterMessage[] {
  const reader = new MessageReader(content);
  const messages: CommitterMessage[] = [];
  while (reader.hasMore) messages.push(readMessage(reader));
  return messages;
}

function readMessage(reader: MessageReader): CommitterMessage {
  const tag = reader.tag();
  if (tag === messageTags.changed) return { kind: "changed" };
  const id = reader.number();
  if (tag === messageTags.committed) return { kind: "committed", id, revision: revisionOf(reader.number()) };
  if (tag === messageTags.answer) return { kind: "answer", id, ...(deserialize(reader.block()) as Outcome) };
  throw new RangeError(`a message of the unknown kind ${tag}`);
}

function textBytes(text: string): number {
  return numberBytes + Buffer.byteLength(text);
}

/** A message that consists of numbers. */
function tagged(tag: number, ...numbers: readonly number[]): Buffer {
  const writer = new MessageWriter(1 + numbers.length * numberBytes);
  writer.tag(tag);
  for (const value of numbers) writer.number(value);
  return writer.bytes;
}

/** Writes the parts of one message of known length. */
class MessageWriter {
  readonly bytes: Buffer;
  private at = 0;

  constructor(length: number) {
    this.bytes = Buffer.allocUnsafe(length);
  }

  tag(tag: number): void {
    this.bytes[this.at++] = tag;
  }

  number(value: number): void {
    this.at = this.bytes.writeDoubleBE(value, this.at);
  }

  text(text: string): void {
    const start = this.at + numberBytes;
    const length = this.bytes.write(text, start);
    this.number(length);
    this.at = start + length;
  }

  block(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  draft({ header, body, revisionAt }: Draft): void {
    this.block(header);
    this.block(body);
    this.number(revisionAt);
  }
}

/** Reads the parts of messages. Methods throw a RangeError at the end of the bytes. */
class MessageReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get hasMore(): boolean {
    return this.at < this.bytes.length;
  }

  tag(): number {
    return this.bytes.readUInt8(this.at++);
  }

  number(): number {
    const value = this.bytes.readDoubleBE(this.at);
    this.at += numberBytes;
    return value;
  }

  text(): string {
    return this.block().toString("utf8");
  }

  block(): Buffer {
    const length = this.number();
    const end = this.at + length;
    if (!(length >= 0 && end <= this.bytes.length)) throw new RangeError(`a part of ${length} bytes`);
    const block = this.bytes.subarray(this.at, end);
    this.at = end;
    return block;
  }

  draft(): Draft {
    return { header: this.block(), body: this.block(), revisionAt: this.number() };
  }
}
