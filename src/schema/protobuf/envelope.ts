import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import type { StructType } from "../types.ts";
import { collectBytes, writeStruct } from "./encode-message.ts";
import type { MessageBytes } from "./message-bytes.ts";
import { ProtobufFault } from "./protobuf-fault.ts";

/** A protobuf body with the type of the object and its encoded message (spec: conventions 4.7). */
export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  /** The encoded object. */
  readonly message: Uint8Array;
}

/** The prefix of every protobuf body: `k8s` and a zero byte. */
const magic = new Uint8Array([0x6b, 0x38, 0x73, 0x00]);

/** Whether a body is in protobuf. */
export function isEnvelope(bytes: Uint8Array): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}

/**
 * Parses the envelope of a protobuf body (`runtime.Unknown`): the magic bytes, then a message with the type (1), the object (2), and
 * content encoding and type (3, 4), which are ignored.
 *
 * @throws {ProtobufFault} if the bytes aren't a valid envelope.
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
  const typeMeta = { apiVersion: "", kind: "" };
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1) typeMeta.apiVersion = reader.string(true);
    else if (number === 2) typeMeta.kind = reader.string(true);
    else reader.skip(wireType, number);
  }
  return typeMeta;
}

/** The type of the object in an envelope. */
type TypeMeta = Pick<Envelope, "apiVersion" | "kind">;

/**
 * Returns the bytes before and after a message of `length` bytes in a body (spec: conventions 2.12), so that the message can be
 * sent in pieces between them.
 */
export function envelopeAround(
  type: TypeMeta,
  length: number,
): { readonly head: Buffer; readonly tail: Buffer } {
  const head = collectBytes((out) => {
    out.varint(length);
    writeHead(out, type);
  });
  return { head, tail: tailBytes };
}

/** Returns a protobuf body with an encoded message. */
export function sealEnvelope(type: TypeMeta, message: Uint8Array): Buffer {
  const { head, tail } = envelopeAround(type, message.length);
  const body = Buffer.allocUnsafe(head.length + message.length + tail.length);
  head.copy(body);
  body.set(message, head.length);
  tail.copy(body, head.length + message.length);
  return body;
}

/** Encodes the canonical JSON form of an object as a protobuf body. */
export function encodeEnvelope(
  type: TypeMeta,
  struct: StructType,
  value: Readonly<Record<string, unknown>>,
): Buffer {
  return writeEnvelope(type, (out) => writeStruct(out, struct, value));
}

function writeEnvelope(type: TypeMeta, writeMessage: (out: MessageBytes) => void): Buffer {
  return collectBytes((out) => {
    out.raw(tailBytes);
    const { length } = out;
    writeMessage(out);
    out.varint(out.length - length);
    writeHead(out, type);
  });
}

/** Writes the bytes before the length of the message. */
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

/** Empty content encoding and content type. */
const tailBytes = collectBytes((out) => {
  out.open(4, out.length);
  out.open(3, out.length);
});
