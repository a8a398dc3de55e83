import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
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

/** Endpoints, credentials and timeout. */
export interface ConnectionOptions {
  /** `host:port`, `http://host:port` or `https://host:port`. Either all use TLS or none. */
  readonly endpoints: readonly string[];
  /** CA bundle for verifying the cluster's certificate; enables TLS. */
  readonly caFile?: string | undefined;
  /** Client certificate and key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Timeout of a request in milliseconds; default 10 s. */
  readonly timeoutMs?: number | undefined;
}

/** Response to a write. */
export interface WriteAnswer extends TxnResponse {
  /** An earlier attempt had no response, so it may have caused the state that this response reports. */
  readonly doubtful: boolean;
}

/** A stream of watch responses; requests are written as encoded messages. */
export type WatchStream = ClientDuplexStream<Buffer, WatchResponse>;

/** The requested revision has been compacted. */
export class CompactedSignal extends Error {
  override name = "CompactedSignal";
}

const defaultTimeoutMs = 10_000;

/** Timeout of a read at one of several members, as a member may hang; then the next one is tried. */
const readAttemptMs = 800;
const writeAttemptMs = 1_200;
/** Maximum number of attempts per member. */
const rounds = 3;

const channelOptions = {
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  // Detects members that disappeared without closing the connection. etcd rejects clients that ping more often than every 5 s.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 500,
  // Each store has its own connection, so closing one never affects another.
  "grpc.use_local_subchannel_pool": 1,
};

/** Sends requests to an etcd cluster. If a member is unreachable, tries the next one. */
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
   * Sends a write. A request without a response may have been applied, or may be applied later. It is sent to another member only
   * if that is safe.
   *
   * @param repeatable whether the request takes effect at most once, even if it is applied several times or late.
   * @throws {StoreUnavailableError} the outcome is unknown, unless the message says otherwise.
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

  /** Whether the cluster has exceeded its quota (alarm NOSPACE) and rejects writes that need space. */
  outOfSpace(): Promise<boolean> {
    return this.read("/etcdserverpb.Maintenance/Alarm", Buffer.alloc(0), decodeSpaceAlarm);
  }

  watch(): WatchStream {
    const metadata = new Metadata();
    // A member without a leader ends the stream instead of sending nothing.
    metadata.set("hasleader", "true");
    const client = this.clients[this.chosen]!;
    return client.makeBidiStreamRequest(
      "/etcdserverpb.Watch/Watch",
      (b: Buffer) => b,
      decodeWatchResponse,
      metadata,
    );
  }

  /** @param listener called when a member doesn't respond and the connection switches to another one. */
  onSilence(listener: () => void): void {
    this.silence = listener;
  }

  /** Switches to the next member. */
  useNextMember(): void {
    this.chosen = (this.chosen + 1) % this.clients.length;
  }

  /** Converts a gRPC error to a store error. */
  storeError(error: ServiceError | Error): StoreError {
    const code = "code" in error ? error.code : undefined;
    const details = "details" in error ? error.details : error.message;
    if (code === status.RESOURCE_EXHAUSTED && /space exceeded/.test(details)) return this.fullError(error);
    const what = code === status.DEADLINE_EXCEEDED ? "no answer in time" : details;
    return new StoreUnavailableError(`etcd at ${this.names}: ${what}`, { cause: error });
  }

  /** Creates the error for an exceeded quota. */
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
   * Makes attempts, each at the current member, until one succeeds, the time is over, or each member has failed {@link rounds}
   * times. With a single member there is one attempt, which may use all of the time.
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
        // Unreachable members fail immediately; members that don't respond may be electing a leader.
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

/** Whether a request can't have reached a member because there was no connection. */
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
