import { EncryptionError } from "../value-cipher.ts";

/** Form of an encrypted value: version, length of the encrypted seed (4 bytes), encrypted seed, ciphertext. */
const formVersion = 1;
const headBytes = 5;

/** Maximum size of an encrypted seed; its annotations can be many short ones. */
const maxSeedBytes = 256 * 1024;

/** The parts of an encrypted value. */
export interface SealedValue {
  /** The encrypted seed, as `encodeSeed` returns it. */
  readonly seed: Buffer;
  /** The value, encrypted with a key that is derived from the seed. */
  readonly ciphertext: Buffer;
}

/** Returns the stored form of an encrypted value. */
export function encodeSealedValue({ seed, ciphertext }: SealedValue): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(formVersion);
  head.writeUInt32LE(seed.length, 1);
  return Buffer.concat([head, seed, ciphertext]);
}

/** @throws {EncryptionError} the bytes are cut off, or have a version that this server doesn't know. */
export function decodeSealedValue(bytes: Buffer): SealedValue {
  if (bytes.length < headBytes) throw new EncryptionError("the encrypted value is cut off");
  const version = bytes.readUInt8();
  if (version !== formVersion)
    throw new EncryptionError(`the encrypted value has the unknown form ${version}`);
  const length = bytes.readUInt32LE(1);
  const end = headBytes + length;
  if (length > maxSeedBytes || end > bytes.length)
    throw new EncryptionError("the encrypted value is cut off");
  return { seed: bytes.subarray(headBytes, end), ciphertext: bytes.subarray(end) };
}
