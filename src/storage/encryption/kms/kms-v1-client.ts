import { bytesField, finished } from "../../protobuf-fields.ts";
import { serviceCalls, type CallObserver, type KmsAddress, type KmsClient } from "./kms-client.ts";
import { checkSeed, decodeDecryptResponse, decodeStatusResponse } from "./messages.ts";

/** Version that requests and answers have. */
const version = "v1beta1";

/**
 * Identifier of all keys: services of version 1 name none. So values with a former key of the service aren't outdated.
 */
const keyId = "1";

/** Returns a client of the service at a socket, in version 1 of the protocol; it connects at the first call. */
export function kmsV1Client(address: KmsAddress, observer?: CallObserver): KmsClient {
  const { call, close } = serviceCalls(address, "v1beta1.KeyManagementService", observer);
  return {
    protocol: "v1",
    versions: [version],
    async status() {
      // The version is the first field of both versions' answers.
      const answer = decodeStatusResponse(await call("Version", encodeRequest()));
      return { version: answer.version, healthz: "ok", keyId };
    },
    async encrypt(plain) {
      // The first field of the answer has the bytes, as in that of a decryption.
      const ciphertext = decodeDecryptResponse(await call("Encrypt", encodeRequest(plain)));
      const seed = { keyId, ciphertext, annotations: new Map() };
      checkSeed(seed);
      return seed;
    },
    decrypt: async ({ ciphertext }, waiting) =>
      decodeDecryptResponse(await call("Decrypt", encodeRequest(ciphertext), waiting)),
    close,
  };
}

/** Encodes a request: the version, and the bytes to encrypt or decrypt. */
function encodeRequest(bytes?: Uint8Array): Buffer {
  return finished(bytes, (content, writer) => {
    bytesField(writer, 1, Buffer.from(version));
    if (content !== undefined) bytesField(writer, 2, content);
  });
}
