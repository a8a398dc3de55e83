import { randomUUID } from "node:crypto";
import { Client, credentials, Metadata, type ServiceError } from "../../etcd/grpc.ts";
import { EncryptionError } from "../value-cipher.ts";
import {
  decodeDecryptResponse,
  decodeEncryptResponse,
  decodeStatusResponse,
  encodeDecryptRequest,
  encodeEncryptRequest,
  type EncryptedSeed,
  type ServiceStatus,
} from "./messages.ts";

/** Access to a key management service. Each call fails with an {@link EncryptionError}, at the latest after the timeout. */
export interface KmsClient {
  status(): Promise<ServiceStatus>;
  /** Encrypts a seed with the current key of the service. */
  encrypt(seed: Uint8Array): Promise<EncryptedSeed>;
  /** Decrypts a seed. */
  decrypt(seed: EncryptedSeed): Promise<Buffer>;
  close(): void;
}

/** Address and time limit of a service. */
export interface KmsAddress {
  /** Path of its socket; `@name` is an abstract one. */
  readonly socket: string;
  readonly timeoutMs: number;
}

/** Maximum size of an answer in bytes; the largest valid one has many short annotations. */
const maxAnswerBytes = 256 * 1024;

const channelOptions = {
  "grpc.max_receive_message_length": maxAnswerBytes,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1000,
  "grpc.use_local_subchannel_pool": 1,
};

/** Returns a client of the service at a socket; it connects at the first call. */
export function kmsClient({ socket, timeoutMs }: KmsAddress): KmsClient {
  const path = socket.startsWith("@") ? `\0${socket.slice(1)}` : socket;
  const client = new Client(`unix:${path}`, credentials.createInsecure(), channelOptions);
  const call = <T>(method: string, request: Buffer, decode: (bytes: Buffer) => T) =>
    callOf(client, timeoutMs, method, request).then(decode);
  return {
    status: () => call("Status", Buffer.alloc(0), decodeStatusResponse),
    encrypt: (seed) => call("Encrypt", encodeEncryptRequest(seed, randomUUID()), decodeEncryptResponse),
    decrypt: (seed) => call("Decrypt", encodeDecryptRequest(seed, randomUUID()), decodeDecryptResponse),
    close: () => client.close(),
  };
}

function callOf(client: Client, timeoutMs: number, method: string, request: Buffer): Promise<Buffer> {
  const metadata = new Metadata({ waitForReady: true });
  const options = { deadline: Date.now() + timeoutMs };
  const path = `/v2.KeyManagementService/${method}`;
  const asIs = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    const done = (error: ServiceError | null, answer?: Buffer): void => {
      if (error === null) resolve(answer ?? Buffer.alloc(0));
      else reject(failureOf(method, error));
    };
    try {
      client.makeUnaryRequest(path, asIs, asIs, request, metadata, options, done);
    } catch (error) {
      // The client is closed.
      reject(new EncryptionError(`${method} can't be called`, { cause: error }));
    }
  });
}

/** Longest text of a service in messages. */
const maxTextLength = 300;

function failureOf(method: string, error: ServiceError): EncryptionError {
  const details = JSON.stringify(error.details.slice(0, maxTextLength));
  return new EncryptionError(`${method} failed with status ${error.code}: ${details}`, { cause: error });
}
