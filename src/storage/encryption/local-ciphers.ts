import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from "node:crypto";
import { RecentMap } from "../../base/collections/recent-map.ts";
import { EncryptionError, type ValueCipher } from "./value-cipher.ts";

const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const blockBytes = 16;

/**
 * AES-GCM with keys that are derived from the secret (HMAC-SHA-256). Each cipher derives its own one, from a random salt, and counts its
 * nonces, so that any number of values can be encrypted with one secret. The context is authenticated. Form: salt, nonce, ciphertext, tag.
 *
 * @param secret 16, 24 or 32 bytes.
 */
export function aesGcm(label: string, secret: Buffer): ValueCipher {
  const keys = new DerivedKeys(secret);
  const head = randomBytes(saltBytes + nonceBytes);
  const key = keys.of(head);
  let count = 0n;
  return {
    label,
    encrypt(plain, context) {
      head.writeBigUInt64LE(count++, saltBytes);
      const cipher = createCipheriv("aes-256-gcm", key, head.subarray(saltBytes));
      cipher.setAAD(Buffer.from(context));
      const body = cipher.update(plain);
      cipher.final();
      return Buffer.concat([head, body, cipher.getAuthTag()]);
    },
    decrypt(sealed, context) {
      const bodyAt = saltBytes + nonceBytes;
      const tagAt = sealed.length - tagBytes;
      if (tagAt < bodyAt) throw new EncryptionError("the encrypted value is cut off");
      const decipher = createDecipheriv("aes-256-gcm", keys.of(sealed), sealed.subarray(saltBytes, bodyAt));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(tagAt));
      return authenticated(() => {
        const plain = decipher.update(sealed.subarray(bodyAt, tagAt));
        decipher.final();
        return plain;
      });
    },
  };
}

/** Number of derived keys that are kept: one for each start of a server that wrote values. */
const maxKeys = 1000;

/** The keys that are derived from a secret. */
class DerivedKeys {
  private readonly bySalt = new RecentMap<KeyObject>({ entries: maxKeys, cost: Infinity });

  constructor(private readonly secret: Buffer) {}

  /** Returns the key of a value, which begins with the salt. */
  of(value: Buffer): KeyObject {
    const salt = value.toString("latin1", 0, saltBytes);
    const cached = this.bySalt.get(salt);
    if (cached !== undefined) return cached;
    const hash = createHmac("sha256", this.secret).update(value.subarray(0, saltBytes));
    const key = createSecretKey(hash.digest());
    this.bySalt.set(salt, key);
    return key;
  }
}

/**
 * AES-CBC with PKCS#7 padding. Form: initialization vector, ciphertext. It doesn't authenticate: someone who can write to the store can
 * change values.
 *
 * @param secret 16, 24 or 32 bytes.
 */
export function aesCbc(label: string, secret: Buffer): ValueCipher {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  return {
    label,
    encrypt(plain) {
      const vector = randomBytes(blockBytes);
      const cipher = createCipheriv(algorithm, secret, vector);
      return Buffer.concat([vector, cipher.update(plain), cipher.final()]);
    },
    decrypt(sealed) {
      if (sealed.length < 2 * blockBytes) throw new EncryptionError("the encrypted value is cut off");
      const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, blockBytes));
      return authenticated(() =>
        Buffer.concat([decipher.update(sealed.subarray(blockBytes)), decipher.final()]),
      );
    },
  };
}

const boxNonceBytes = 24;

/**
 * XSalsa20 and Poly1305. Form: nonce, tag, ciphertext.
 *
 * @param secret 32 bytes.
 */
export async function secretBox(label: string, secret: Buffer): Promise<ValueCipher> {
  const { xsalsa20poly1305 } = await import("@noble/ciphers/salsa.js");
  return {
    label,
    encrypt(plain) {
      const nonce = randomBytes(boxNonceBytes);
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(plain)]);
    },
    decrypt(sealed) {
      if (sealed.length < boxNonceBytes + tagBytes)
        throw new EncryptionError("the encrypted value is cut off");
      const box = xsalsa20poly1305(secret, sealed.subarray(0, boxNonceBytes));
      return authenticated(() => asBuffer(box.decrypt(sealed.subarray(boxNonceBytes))));
    },
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Runs a decryption; its failure says nothing about the key or the text. */
function authenticated(decrypt: () => Buffer): Buffer {
  try {
    return decrypt();
  } catch {
    throw new EncryptionError("the encrypted value is damaged, or was encrypted with another key");
  }
}
