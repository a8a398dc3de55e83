/** Helpers for messages in protobuf whose fields are coded by hand. */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Calls `visit` for each field of a message. `visit` must read or skip the field. */
export function eachField(
  bytes: Uint8Array,
  visit: (field: number, reader: BinaryReader, wire: WireType) => void,
): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    visit(field, reader, wire);
  }
}

export type Encode<T> = (message: T, writer: BinaryWriter) => void;

/** Writes a field that is a message. */
export function nested<T>(writer: BinaryWriter, field: number, message: T, encode: Encode<T>): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  encode(message, writer);
  writer.join();
}

export function bytesField(writer: BinaryWriter, field: number, value: Uint8Array | undefined): void {
  if (value !== undefined) writer.tag(field, WireType.LengthDelimited).bytes(value);
}

/** Returns the encoded message. */
export function finished<T>(message: T, encode: Encode<T>): Buffer {
  const writer = new BinaryWriter();
  encode(message, writer);
  return Buffer.from(writer.finish());
}
