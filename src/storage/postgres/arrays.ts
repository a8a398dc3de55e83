/** Binary form of array parameters: as text, each byte of a value would take two characters. */

const byteaType = 17;
const bigintType = 20;
const integerType = 23;
const booleanType = 16;

/** Encodes a parameter of type `bytea[]`. */
export function bytesArray(values: readonly (Uint8Array | undefined)[]): Buffer {
  return encode(byteaType, values);
}

/** Encodes a parameter of type `bigint[]`. The values are integers below 2^53. */
export function bigintArray(values: readonly number[]): Buffer {
  return encode(
    bigintType,
    values.map((value) => {
      const bytes = Buffer.allocUnsafe(8);
      bytes.writeBigInt64BE(BigInt(value));
      return bytes;
    }),
  );
}

/** Encodes a parameter of type `integer[]`. */
export function integerArray(values: readonly number[]): Buffer {
  return encode(
    integerType,
    values.map((value) => {
      const bytes = Buffer.allocUnsafe(4);
      bytes.writeInt32BE(value);
      return bytes;
    }),
  );
}

/** Encodes a parameter of type `boolean[]`. */
export function booleanArray(values: readonly boolean[]): Buffer {
  return encode(
    booleanType,
    values.map((value) => Buffer.from([value ? 1 : 0])),
  );
}

const headerBytes = 20;
const emptyHeaderBytes = 12;

function encode(elementType: number, values: readonly (Uint8Array | undefined)[]): Buffer {
  const dimensions = values.length === 0 ? 0 : 1;
  let size = dimensions === 0 ? emptyHeaderBytes : headerBytes;
  for (const value of values) size += 4 + (value?.length ?? 0);
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeInt32BE(dimensions, 0);
  bytes.writeInt32BE(values.includes(undefined) ? 1 : 0, 4);
  bytes.writeInt32BE(elementType, 8);
  if (dimensions === 0) return bytes;
  bytes.writeInt32BE(values.length, 12);
  // The index of the first element.
  bytes.writeInt32BE(1, 16);
  let at = headerBytes;
  for (const value of values) {
    at = bytes.writeInt32BE(value?.length ?? -1, at);
    if (value === undefined) continue;
    bytes.set(value, at);
    at += value.length;
  }
  return bytes;
}
