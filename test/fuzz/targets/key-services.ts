import {
  decodeDecryptResponse,
  decodeEncryptResponse,
  decodeSeed,
  decodeStatusResponse,
  encodeSeed,
} from "../../../src/storage/encryption/kms/messages.ts";
import { decodeSealedValue, encodeSealedValue } from "../../../src/storage/encryption/kms/kms-cipher.ts";
import { EncryptionError } from "../../../src/storage/encryption/value-cipher.ts";
import { attempt, expectSame, type Target } from "../target.ts";

const annotations = new Map([["a.example.com", Buffer.from("b")]]);
const seed = encodeSeed({ keyId: "key1", ciphertext: Buffer.from("seed"), annotations });

/** Answers of key management services, and the stored form of values. A decoded seed, encoded again, is the same seed. */
export const keyServiceTarget: Target = {
  name: "key-service",
  files: ["src/storage/encryption/kms/messages.ts", "src/storage/encryption/kms/kms-cipher.ts"],
  seeds: [
    seed,
    encodeSealedValue({ seed, ciphertext: Buffer.from("text") }),
    Buffer.from("0a02763212026f6b1a046b657931", "hex"),
  ],
  dictionary: ["\x0a\x02", "\x12\x02", "\x1a\x04", "\x22\x02", "a.b"],
  run(bytes) {
    const buffer = Buffer.from(bytes);
    attempt(() => decodeStatusResponse(bytes), EncryptionError);
    attempt(() => decodeDecryptResponse(bytes), EncryptionError);
    attempt(() => decodeEncryptResponse(bytes), EncryptionError);
    const decoded = attempt(() => decodeSeed(bytes), EncryptionError);
    if (decoded !== undefined) {
      const encoded = encodeSeed(decoded);
      expectSame(encodeSeed(decodeSeed(encoded)).toString("hex"), encoded.toString("hex"), "encodings");
    }
    const value = attempt(() => decodeSealedValue(buffer), EncryptionError);
    if (value !== undefined)
      expectSame(encodeSealedValue(value).toString("hex"), buffer.toString("hex"), "values");
  },
};
