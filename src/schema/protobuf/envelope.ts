import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { StructType } from "../types.ts";
import { bytesWritten, writeStruct } from "./encode-message.ts";
import type { MessageBytes } from "./message-bytes.ts";
import { ProtobufFault } from "./protobuf-fault.ts";

/** An object in binary, before its type is known (spec: conventions 4.7). */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The object's message. */
  readonly message: Uint8Array;
}

/** The four bytes that every binary body starts with. */
const magic = new Uint8Array([0x6b, 0x38, 0x73, 0x00]);

/** Whether a body is in binary. */
export function isEnvelope(bytes: Uint8Array): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}

/**
 * Opens the envelope of a binary body: the magic bytes, then a message with the object's type (1), the object (2), and
 * how the object is encoded (3, 4), which must be empty.
 *
 * @throws {ProtobufFault} when the bytes aren't such an envelope.
 */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (!isEnvelope(bytes)) throw new ProtobufFault("the magic bytes are missing");
  return ProtobufFault.whileReading(() => {
    const reader = new BinaryReader(bytes.subarray(magic.length));
    let message: Uint8Array = new Uint8Array();
    let type = { apiVersion: "", kind: "" };
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      if (number === 1) type = readTypeMeta(reader.bytes());
      else if (number === 2) message = reader.bytes();
      else reader.skip(wireType, number);
    }
    return { ...type, message };
  });
}

function readTypeMeta(bytes: Uint8Array): { apiVersion: string; kind: string } {
  const reader = new BinaryReader(bytes);
  const found = { apiVersion: "", kind: "" };
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1) found.apiVersion = reader.string(true);
    else if (number === 2) found.kind = reader.string(true);
    else reader.skip(wireType, number);
  }
  return found;
}

/** The type of what is in an envelope. */
type TypeMeta = Pick<Envelope, "apiVersion" | "kind">;

/**
 * What stands before and behind a message of `length` bytes to make it a body (spec: conventions 2.12). The message may
 * be sent in pieces between the two.
 */
export function envelopeAround(
  type: TypeMeta,
  length: number,
): { readonly head: Buffer; readonly tail: Buffer } {
  const head = bytesWritten((out) => {
    out.varint(length);
    writeHead(out, type);
  });
  return { head, tail: tailBytes };
}

/** A whole body in binary. */
export function sealEnvelope(type: TypeMeta, message: Uint8Array): Buffer {
  const { head, tail } = envelopeAround(type, message.length);
  const whole = Buffer.allocUnsafe(head.length + message.length + tail.length);
  head.copy(whole);
  whole.set(message, head.length);
  tail.copy(whole, head.length + message.length);
  return whole;
}

/** A whole body in binary, from the canonical JSON form of what is in it. */
export function encodeEnvelope(
  type: TypeMeta,
  struct: StructType,
  value: Readonly<Record<string, unknown>>,
): Buffer {
  return sealed(type, (out) => writeStruct(out, struct, value));
}

function sealed(type: TypeMeta, writeMessage: (out: MessageBytes) => void): Buffer {
  return bytesWritten((out) => {
    out.raw(tailBytes);
    const { length } = out;
    writeMessage(out);
    out.varint(out.length - length);
    writeHead(out, type);
  });
}

/** The bytes before the length of the message. */
function writeHead(out: MessageBytes, { apiVersion, kind }: TypeMeta): void {
  out.tag(2, WireType.LengthDelimited);
  const { length } = out;
  out.text(kind);
  out.tag(2, WireType.LengthDelimited);
  out.text(apiVersion);
  out.tag(1, WireType.LengthDelimited);
  out.open(1, length);
  out.raw(magic);
}

/** How the message is encoded: not in any special way. */
const tailBytes = bytesWritten((out) => {
  out.open(4, out.length);
  out.open(3, out.length);
});
