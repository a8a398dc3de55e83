import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** The length-delimited fields of a protobuf message, by number; others are skipped. */
function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) found.set(number, [...(found.get(number) ?? []), reader.bytes()]);
    else reader.skip(type);
  }
  return found;
}

/** The messages at a path of field numbers. */
export function messagesAt(bytes: Uint8Array, ...path: readonly number[]): Uint8Array[] {
  return path.reduce<Uint8Array[]>(
    (messages, number) => messages.flatMap((one) => fieldsOf(one).get(number) ?? []),
    [bytes],
  );
}

/** The texts at a path of field numbers. */
export function textsAt(bytes: Uint8Array, ...path: readonly number[]): string[] {
  return messagesAt(bytes, ...path).map((one) => Buffer.from(one).toString());
}
