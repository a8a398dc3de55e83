import { randomUUID } from "node:crypto";
import {
  Client,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "../../etcd/grpc.ts";
import { EncryptionError, KeyServiceError } from "../value-cipher.ts";
import {
  decodeDecryptResponse,
  decodeEncryptResponse,
  decodeStatusResponse,
  encodeDecryptRequest,
  encodeEncryptRequest,
  type EncryptedSeed,
  type ServiceStatus,
} from "./messages.ts";

/**
 * Access to a key management service. Each call fails with an {@link EncryptionError}, at the latest after the timeout; with a
 * {@link KeyServiceError} if it may succeed later.
 */
export interface KmsClient {
  /** Version of the protocol in the configuration, which the labels of values have. */
  readonly protocol: "v1" | "v2";
  /** Versions that the service may name in its status. */
  readonly versions: readonly string[];
  status(): Promise<ServiceStatus>;
  /** Encrypts a seed with the current key of the service. */
  encrypt(seed: Uint8Array): Promise<EncryptedSeed>;
  /**
   * Decrypts a seed.
   *
   * @param waiting whether the call waits for a service that can't be reached, until the timeout.
   */
  decrypt(seed: EncryptedSeed, waiting: { readonly waitForReady: boolean }): Promise<Buffer>;
  close(): void;
}

/** Address and time limit of a service. */
export interface KmsAddress {
  /** Path of its socket. */
  readonly socket: string;
  readonly timeoutMs: number;
}

/** Receives each call when it ends: its path, its time in seconds and the name of its gRPC status. */
export type CallObserver = (method: string, seconds: number, status: string) => void;

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

/** Returns a client of the service at a socket, in version 2 of the protocol; it connects at the first call. */
export function kmsClient(address: KmsAddress, observer?: CallObserver): KmsClient {
  const { call, close } = serviceCalls(address, "v2.KeyManagementService", observer);
  return {
    protocol: "v2",
    versions: ["v2", "v2beta1"],
    status: async () => decodeStatusResponse(await call("Status", Buffer.alloc(0))),
    encrypt: async (seed) =>
      decodeEncryptResponse(await call("Encrypt", encodeEncryptRequest(seed, randomUUID()))),
    decrypt: async (seed, waiting) =>
      decodeDecryptResponse(await call("Decrypt", encodeDecryptRequest(seed, randomUUID()), waiting)),
    close,
  };
}

/** Calls of the methods of a service. */
export interface ServiceCalls {
  call(method: string, request: Buffer, waiting?: { readonly waitForReady: boolean }): Promise<Buffer>;
  close(): void;
}

/** Returns the calls of a gRPC service at a socket, which is connected at the first call. */
export function serviceCalls(
  { socket, timeoutMs }: KmsAddress,
  service: string,
  observer: CallObserver | undefined,
): ServiceCalls {
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), channelOptions);
  const calls = new Set<ClientUnaryCall>();
  const connection = { client, service, timeoutMs, calls, observer };
  return {
    call: (method, request, waiting = { waitForReady: false }) =>
      callOf(connection, method, request, new Metadata(waiting)),
    close: () => {
      for (const pending of calls) pending.cancel();
      client.close();
    },
  };
}

interface Connection {
  readonly client: Client;
  /** Full name of the service. */
  readonly service: string;
  readonly timeoutMs: number;
  /** The calls without an answer. */
  readonly calls: Set<ClientUnaryCall>;
  readonly observer: CallObserver | undefined;
}

function callOf(
  { client, service, timeoutMs, calls, observer }: Connection,
  method: string,
  request: Buffer,
  metadata: Metadata,
): Promise<Buffer> {
  const options = { deadline: Date.now() + timeoutMs };
  const path = `/${service}/${method}`;
  const asIs = (bytes: Buffer) => bytes;
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const done = (error: ServiceError | null, answer?: Buffer): void => {
      if (call !== undefined) calls.delete(call);
      observer?.(path, (performance.now() - startMs) / 1000, statusName(error?.code ?? status.OK));
      if (error === null) resolve(answer ?? Buffer.alloc(0));
      else reject(failureOf(method, error));
    };
    let call: ClientUnaryCall | undefined;
    try {
      call = client.makeUnaryRequest(path, asIs, asIs, request, metadata, options, done);
      calls.add(call);
    } catch (error) {
      reject(new KeyServiceError(`${method} can't be called: the client is closed`, { cause: error }));
    }
  });
}

/** Longest text of a service in messages. */
const maxTextLength = 300;

/** Codes by which a service refuses a request; it would refuse the same request again. */
const refusals: ReadonlySet<status> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.DATA_LOSS,
]);

function failureOf(method: string, error: ServiceError): EncryptionError {
  const details = JSON.stringify(error.details.slice(0, maxTextLength));
  const message = `${method} failed with status ${error.code}: ${details}`;
  const Failure = refusals.has(error.code) ? EncryptionError : KeyServiceError;
  return new Failure(message, { cause: error, callStatus: statusName(error.code) });
}

/** Returns the name of a status code as Go's library spells it, which labels of metrics use: `DeadlineExceeded`. */
function statusName(code: status): string {
  if (code === status.OK) return "OK";
  // Go's library has one L.
  if (code === status.CANCELLED) return "Canceled";
  const words = (status[code] ?? "UNKNOWN").toLowerCase().split("_");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
