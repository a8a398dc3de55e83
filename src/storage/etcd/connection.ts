import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { peerTrust } from "../../base/certificates/peer-trust.ts";
import { type StoreError, StoreFullError, StoreUnavailableError } from "../store.ts";
import {
  decodeRangeResponse,
  decodeSpaceAlarm,
  decodeTxnResponse,
  decodeWatchResponse,
  encodeCompactionRequest,
  encodeRangeRequest,
  encodeTxnRequest,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
  type WatchResponse,
} from "./messages.ts";
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "./grpc.ts";

/** Addresses and TLS settings of a cluster. */
export interface ConnectionOptions {
  /** `host:port`, `http://host:port` or `https://host:port`. Either all use TLS or none. */
  readonly endpoints: readonly string[];
  /** CA certificates for the certificates of the members; enables TLS. */
  readonly caFile?: string | undefined;
  /** Client certificate and key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Timeout of a request; default 10 s. */
  readonly timeoutMs?: number | undefined;
}

/** Outcome of a write. */
export interface WriteAnswer extends TxnResponse {
  /** An earlier attempt got no answer, so the state found may be its result. */
  readonly doubtful: boolean;
}

/** A stream of watch responses; requests are written as encoded messages. */
export type WatchStream = ClientDuplexStream<Buffer, WatchResponse>;

/** The revision of the request is compacted. */
export class CompactedSignal extends Error {
  override name = "CompactedSignal";
}

const defaultTimeoutMs = 10_000;

/** Timeout of one attempt if there are several members, because a member may hang. */
const readAttemptMs = 800;
const writeAttemptMs = 1_200;
/** Maximum number of attempts per member. */
const rounds = 3;

const channelOptions = {
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  // Detects a member that disappeared. Members reject clients that ping more often than every 5 s.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 500,
  // Each store has its own connection, so that closing one doesn't affect others.
  "grpc.use_local_subchannel_pool": 1,
};

/** Sends requests to an etcd cluster; if a member can't be reached, to the next one. */
export class Connection {
  private readonly clients: readonly Client[];
  private readonly names: string;
  private readonly timeoutMs: number;
  private chosen = 0;
  private silence: () => void = () => undefined;

  /** @throws {TypeError} for missing or malformed endpoints; `Error` from the file system if a TLS file can't be read. */
  constructor(options: ConnectionOptions) {
    if (options.endpoints.length === 0) throw new TypeError("etcd needs at least one endpoint");
    const secure = options.caFile !== undefined || options.endpoints.some((at) => at.startsWith("https://"));
    const trust = channelCredentials(options, secure);
    this.clients = options.endpoints.map((at) => new Client(addressOf(at), trust, channelOptions));
    this.names = options.endpoints.join(", ");
    this.timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  }

  /** Reads keys: linearizable, or at an exact revision. */
  range(request: RangeRequest): Promise<RangeResponse> {
    return this.read("/etcdserverpb.KV/Range", encodeRangeRequest(request), decodeRangeResponse);
  }

  /** Reads several ranges at one revision. */
  readTogether(request: Pick<TxnRequest, "success">): Promise<TxnResponse> {
    return this.read("/etcdserverpb.KV/Txn", encodeTxnRequest(request), decodeTxnResponse);
  }

  /**
   * Sends a write. If a member doesn't answer, it may have executed the request, or may execute it later. So the request is sent to another
   * member only if it wasn't sent, or is repeatable.
   *
   * @param repeatable the request takes effect at most once, however often it is executed.
   * @throws {StoreUnavailableError} if the outcome is unknown, unless the error says otherwise.
   */
  async write(request: TxnRequest, repeatable: boolean): Promise<WriteAnswer> {
    const bytes = encodeTxnRequest(request);
    let doubtful = false;
    const attempt = (timeoutMs: number) =>
      this.call("/etcdserverpb.KV/Txn", bytes, decodeTxnResponse, timeoutMs);
    const answer = await this.attempts(writeAttemptMs, attempt, (error) => {
      if (wasNotSent(error)) return true;
      doubtful = true;
      return repeatable;
    });
    return { ...answer, doubtful };
  }

  /** @throws {CompactedSignal} if the cluster is already compacted to this revision. */
  async compact(revision: number): Promise<void> {
    const request = encodeCompactionRequest(revision);
    await this.call("/etcdserverpb.KV/Compact", request, () => undefined, this.timeoutMs);
  }

  /** Whether the cluster exceeds its quota and rejects writes that need space. */
  outOfSpace(): Promise<boolean> {
    return this.read("/etcdserverpb.Maintenance/Alarm", Buffer.alloc(0), decodeSpaceAlarm);
  }

  watch(): WatchStream {
    const metadata = new Metadata();
    // A member that lost its cluster ends the stream.
    metadata.set("hasleader", "true");
    const client = this.clients[this.chosen]!;
    return client.makeBidiStreamRequest(
      "/etcdserverpb.Watch/Watch",
      (b: Buffer) => b,
      decodeWatchResponse,
      metadata,
    );
  }

  /** @param listener called when the current member doesn't respond and another one is used. */
  onSilence(listener: () => void): void {
    this.silence = listener;
  }

  /** Switches to another member. */
  useNextMember(): void {
    this.chosen = (this.chosen + 1) % this.clients.length;
  }

  /** Converts the error of a failed request. */
  storeError(error: ServiceError | Error): StoreError {
    const code = "code" in error ? error.code : undefined;
    const details = "details" in error ? error.details : error.message;
    if (code === status.RESOURCE_EXHAUSTED && /space exceeded/.test(details)) return this.fullError(error);
    const what = code === status.DEADLINE_EXCEEDED ? "no answer in time" : details;
    return new StoreUnavailableError(`etcd at ${this.names}: ${what}`, { cause: error });
  }

  /** Returns the error for a cluster that exceeds its quota. */
  fullError(cause?: unknown): StoreFullError {
    return new StoreFullError(
      `etcd at ${this.names} has used up its quota: compact and defragment it, raise the quota, then disarm its ` +
        "alarm; nothing was written",
      { cause },
    );
  }

  close(): void {
    for (const client of this.clients) client.close();
  }

  private read<T>(path: string, request: Buffer, decode: (bytes: Buffer) => T): Promise<T> {
    const attempt = (timeoutMs: number) => this.call(path, request, decode, timeoutMs);
    return this.attempts(readAttemptMs, attempt, () => true);
  }

  /**
   * Sends a request to the current member until it is answered, the timeout expires, or each member has failed the maximum number
   * of times. A cluster with one member gets one attempt with the whole timeout.
   */
  private async attempts<T>(
    attemptMs: number,
    attempt: (timeoutMs: number) => Promise<T>,
    mayRepeat: (error: StoreUnavailableError) => boolean,
  ): Promise<T> {
    const members = this.clients.length;
    const end = performance.now() + this.timeoutMs;
    for (let refused = 0, made = 1; ; made++) {
      const leftMs = Math.max(1, end - performance.now());
      try {
        return await attempt(members === 1 ? leftMs : Math.min(attemptMs, leftMs));
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error;
        // Unreachable members fail at once; members that don't respond may be electing a leader.
        if (!isSilence(error)) refused++;
        if (refused >= members || made >= members * rounds || performance.now() >= end) throw error;
        if (members === 1 || !mayRepeat(error)) throw error;
      }
    }
  }

  private call<T>(
    path: string,
    request: Buffer,
    decode: (bytes: Buffer) => T,
    timeoutMs: number,
  ): Promise<T> {
    const at = this.chosen;
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + timeoutMs;
      this.clients[at]!.makeUnaryRequest(
        path,
        (b: Buffer) => b,
        decode,
        request,
        { deadline },
        (error, answer) => {
          if (error === null) return resolve(answer!);
          if (error.code === status.OUT_OF_RANGE && /compacted/.test(error.details)) {
            return reject(new CompactedSignal(error.details, { cause: error }));
          }
          const silent = error.code === status.DEADLINE_EXCEEDED;
          if ((silent || error.code === status.UNAVAILABLE) && this.chosen === at) {
            this.useNextMember();
            if (silent) this.silence();
          }
          reject(this.storeError(error));
        },
      );
    });
  }
}

function causeOf(error: StoreUnavailableError): Partial<ServiceError> {
  return (error.cause ?? {}) as Partial<ServiceError>;
}

function isSilence(error: StoreUnavailableError): boolean {
  return causeOf(error).code === status.DEADLINE_EXCEEDED;
}

/** Whether a request was not sent, because there was no connection. */
function wasNotSent(error: StoreUnavailableError): boolean {
  const { code, details = "" } = causeOf(error);
  return code === status.UNAVAILABLE && /No connection established|ECONNREFUSED/.test(details);
}

function addressOf(endpoint: string): string {
  const address = endpoint.replace(/^https?:\/\//, "").replace(/\/$/, "");
  if (!/^(\[[^\]]+\]|[^:/]+):\d+$/.test(address)) throw new TypeError(`not an etcd endpoint: ${endpoint}`);
  return address;
}

function channelCredentials(options: ConnectionOptions, secure: boolean): ChannelCredentials {
  if (!secure) return credentials.createInsecure();
  const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file));
  const [ca, key, cert] = [options.caFile, options.keyFile, options.certFile].map(read);
  return credentials.createFromSecureContext(createSecureContext({ ...peerTrust(ca), key, cert }));
}
