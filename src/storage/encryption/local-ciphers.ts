import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { EncryptionError, type ValueCipher } from "./value-cipher.ts";

const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const blockBytes = 16;

/**
 * AES-GCM with a key that is derived for each value from the secret and a random salt (HMAC-SHA-256), so that any number of values can be
 * encrypted with one secret. The context is authenticated. Form: salt, nonce, ciphertext, tag.
 *
 * @param secret 16, 24 or 32 bytes.
 */
export function aesGcm(label: string, secret: Buffer): ValueCipher {
  return {
    label,
    encrypt: (plain, context) => sealWithDerivedKey(secret, plain, context),
    decrypt: (sealed, context) => openWithDerivedKey(secret, sealed, context),
  };
}

/** Encrypts as {@link aesGcm}. */
function sealWithDerivedKey(secret: Buffer, plain: Buffer, context: string): Buffer {
  const head = randomBytes(saltBytes + nonceBytes);
  const cipher = createCipheriv("aes-256-gcm", derivedKey(secret, head), head.subarray(saltBytes));
  cipher.setAAD(Buffer.from(context));
  const body = cipher.update(plain);
  const rest = cipher.final();
  return Buffer.concat([head, body, rest, cipher.getAuthTag()]);
}

/**
 * Decrypts as {@link aesGcm}.
 *
 * @throws {EncryptionError} the value is damaged, or has another key or context.
 */
function openWithDerivedKey(secret: Buffer, sealed: Buffer, context: string): Buffer {
  const bodyAt = saltBytes + nonceBytes;
  const tagAt = sealed.length - tagBytes;
  if (tagAt < bodyAt) throw new EncryptionError("the encrypted value is cut off");
  const decipher = createDecipheriv(
    "aes-256-gcm",
    derivedKey(secret, sealed),
    sealed.subarray(saltBytes, bodyAt),
  );
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(tagAt));
  return authenticated(() => {
    const plain = decipher.update(sealed.subarray(bodyAt, tagAt));
    decipher.final();
    return plain;
  });
}

function derivedKey(secret: Buffer, head: Buffer): Buffer {
  return createHmac("sha256", secret).update(head.subarray(0, saltBytes)).digest();
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
  const { xsalsa20poly1305 } = await import("@noble/ciphers/salsa");
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
