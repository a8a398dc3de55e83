import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { ProtobufFault } from "./protobuf-fault.ts";

/** An object in binary, before its type is known (spec: conventions 4.7). */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The object's message. */
  readonly message: Uint8Array;
}

/** The four bytes that every binary body starts with. */
const magic = [0x6b, 0x38, 0x73, 0x00];

/**
 * Opens the envelope of a binary body: the magic bytes, then a message with the object's type (1), the object (2), and
 * how the object is encoded (3, 4), which must be empty.
 *
 * @throws {ProtobufFault} when the bytes aren't such an envelope.
 */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (!magic.every((byte, index) => bytes[index] === byte))
    throw new ProtobufFault("the magic bytes are missing");
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

/**
 * What stands before and behind a message of `length` bytes to make it a body (spec: conventions 2.12). The message may
 * be sent in pieces between the two.
 */
export function envelopeAround(
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  length: number,
): { readonly head: Buffer; readonly tail: Buffer } {
  const type = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(apiVersion)
    .tag(2, WireType.LengthDelimited)
    .string(kind)
    .finish();
  const head = new BinaryWriter()
    .raw(new Uint8Array(magic))
    .tag(1, WireType.LengthDelimited)
    .bytes(type)
    .tag(2, WireType.LengthDelimited)
    .uint32(length)
    .finish();
  const tail = new BinaryWriter()
    .tag(3, WireType.LengthDelimited)
    .string("")
    .tag(4, WireType.LengthDelimited)
    .string("")
    .finish();
  return { head: asBuffer(head), tail: asBuffer(tail) };
}

/** A whole body in binary. */
export function sealEnvelope(
  type: { readonly apiVersion: string; readonly kind: string },
  message: Uint8Array,
): Buffer {
  const { head, tail } = envelopeAround(type, message.length);
  return Buffer.concat([head, message, tail]);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
