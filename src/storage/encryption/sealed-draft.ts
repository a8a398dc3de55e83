import type { Draft, Entry } from "../store.ts";
import { EncryptionError } from "./value-cipher.ts";

/**
 * The form of an encrypted value in the store. The header is {@link headerMark} and the label of the cipher; the store inserts the
 * revision at the start of the body, before the encrypted bytes. These contain the lengths, header and body of the original draft.
 */
const headerMark = "enc:";

const mark = Buffer.from(headerMark);
const lengthsBytes = 8;

/** Returns the bytes of a draft that are encrypted. */
export function packDraft({ header, body, revisionAt }: Draft): Buffer {
  const packed = Buffer.allocUnsafe(lengthsBytes + header.length + body.length);
  packed.writeUInt32LE(revisionAt, 0);
  packed.writeUInt32LE(header.length, 4);
  packed.set(header, lengthsBytes);
  packed.set(body, lengthsBytes + header.length);
  return packed;
}

/**
 * Returns the draft in decrypted bytes.
 *
 * @throws {EncryptionError} the bytes aren't a draft.
 */
export function unpackDraft(packed: Buffer): Draft {
  const headerLength = packed.length < lengthsBytes ? 0 : packed.readUInt32LE(4);
  const bodyAt = lengthsBytes + headerLength;
  const revisionAt = packed.length < lengthsBytes ? 0 : packed.readUInt32LE(0);
  if (packed.length < bodyAt || packed.length - bodyAt < revisionAt) {
    throw new EncryptionError("the decrypted value is no object of this store");
  }
  return { header: packed.subarray(lengthsBytes, bodyAt), body: packed.subarray(bodyAt), revisionAt };
}

/** Returns the draft that stores encrypted bytes. */
export function sealedDraft(label: string, encrypted: Buffer): Draft {
  return { header: Buffer.from(headerMark + label), body: encrypted, revisionAt: 0 };
}

/** Whether the value of an entry is encrypted. */
export function isSealed({ header, revisionAt }: Entry): boolean {
  if (revisionAt !== 0 || header.length <= mark.length || header[0] !== mark[0]) return false;
  return mark.every((byte, index) => header[index] === byte);
}

/** Returns the label of the cipher of an encrypted entry. */
export function labelOf({ header }: Entry): string {
  return bufferOf(header).toString("latin1", mark.length);
}

/** Returns the encrypted bytes of an entry: its body without the revision. */
export function encryptedBytes({ body, revision }: Entry): Buffer {
  return bufferOf(body).subarray(String(revision).length);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
