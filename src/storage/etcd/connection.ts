import { readFileSync } from "node:fs";
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { type StoreError, StoreFullError, StoreUnavailableError } from "../store.ts";
import {
  decodeRangeResponse,
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

/** Where the cluster is and how to speak with it. */
export interface ConnectionOptions {
  /** `host:port`, `http://host:port` or `https://host:port`; all with TLS or all without. */
  readonly endpoints: readonly string[];
  /** Certificates that the cluster's is checked against; with it, TLS is used. */
  readonly caFile?: string | undefined;
  /** This client's certificate and key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** How long a request may take; 10 s when absent. */
  readonly timeoutMs?: number | undefined;
}

/** A stream of watch responses; requests are written as encoded messages. */
export type WatchStream = ClientDuplexStream<Buffer, WatchResponse>;

/** The request named a revision that the cluster has compacted. */
export class CompactedSignal extends Error {
  override name = "CompactedSignal";
}

const DEFAULT_TIMEOUT_MS = 10_000;

const CHANNEL_OPTIONS = {
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  // Notices a member that has gone without a word.
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 2_000,
  // Each store has its own connection, so that closing one never disturbs another.
  "grpc.use_local_subchannel_pool": 1,
};

/** Requests to an etcd cluster; when a member can't be reached, the next one is asked. */
export class Connection {
  private readonly clients: readonly Client[];
  private readonly names: string;
  private readonly timeoutMs: number;
  private chosen = 0;

  /** @throws {TypeError} no endpoint, or not one; `Error` from the file system when a TLS file can't be read. */
  constructor(options: ConnectionOptions) {
    if (options.endpoints.length === 0) throw new TypeError("etcd needs at least one endpoint");
    const secure = options.caFile !== undefined || options.endpoints.some((at) => at.startsWith("https://"));
    const trust = channelCredentials(options, secure);
    this.clients = options.endpoints.map((at) => new Client(addressOf(at), trust, CHANNEL_OPTIONS));
    this.names = options.endpoints.join(", ");
    this.timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  /** A linearizable read, or one at an exact revision. */
  range(request: RangeRequest): Promise<RangeResponse> {
    return this.read("/etcdserverpb.KV/Range", encodeRangeRequest(request), decodeRangeResponse);
  }

  /** Reads several things at one revision. */
  readTogether(request: Pick<TxnRequest, "success">): Promise<TxnResponse> {
    return this.read("/etcdserverpb.KV/Txn", encodeTxnRequest(request), decodeTxnResponse);
  }

  /** Writes; never repeated, since a request without an answer may have been carried out. */
  write(request: TxnRequest): Promise<TxnResponse> {
    return this.call("/etcdserverpb.KV/Txn", encodeTxnRequest(request), decodeTxnResponse);
  }

  /** @throws {CompactedSignal} it was compacted to there already. */
  async compact(revision: number): Promise<void> {
    await this.call("/etcdserverpb.KV/Compact", encodeCompactionRequest(revision), () => undefined);
  }

  watch(): WatchStream {
    const metadata = new Metadata();
    // A member that has lost its cluster ends the stream instead of staying silent.
    metadata.set("hasleader", "true");
    const client = this.clients[this.chosen]!;
    return client.makeBidiStreamRequest(
      "/etcdserverpb.Watch/Watch",
      (b: Buffer) => b,
      decodeWatchResponse,
      metadata,
    );
  }

  /** Asks another member from now on. */
  useNextMember(): void {
    this.chosen = (this.chosen + 1) % this.clients.length;
  }

  /** What a failed request becomes. */
  storeError(error: ServiceError | Error): StoreError {
    const code = "code" in error ? error.code : undefined;
    const details = "details" in error ? error.details : error.message;
    if (code === status.RESOURCE_EXHAUSTED && /space exceeded/.test(details)) {
      return new StoreFullError(
        `etcd at ${this.names} has used up its quota: compact and defragment it, raise the quota, then disarm its ` +
          "alarm; nothing was written",
        { cause: error },
      );
    }
    const what = code === status.DEADLINE_EXCEEDED ? `did not answer within ${this.timeoutMs} ms` : details;
    return new StoreUnavailableError(`etcd at ${this.names}: ${what}`, { cause: error });
  }

  close(): void {
    for (const client of this.clients) client.close();
  }

  private async read<T>(path: string, request: Buffer, decode: (bytes: Buffer) => T): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.call(path, request, decode);
      } catch (error) {
        if (!(error instanceof StoreUnavailableError) || attempt >= this.clients.length) throw error;
      }
    }
  }

  private call<T>(path: string, request: Buffer, decode: (bytes: Buffer) => T): Promise<T> {
    const at = this.chosen;
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + this.timeoutMs;
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
          const unreachable = error.code === status.UNAVAILABLE || error.code === status.DEADLINE_EXCEEDED;
          if (unreachable && this.chosen === at) this.useNextMember();
          reject(this.storeError(error));
        },
      );
    });
  }
}

function addressOf(endpoint: string): string {
  const address = endpoint.replace(/^https?:\/\//, "").replace(/\/$/, "");
  if (!/^(\[[^\]]+\]|[^:/]+):\d+$/.test(address)) throw new TypeError(`not an etcd endpoint: ${endpoint}`);
  return address;
}

function channelCredentials(options: ConnectionOptions, secure: boolean): ChannelCredentials {
  if (!secure) return credentials.createInsecure();
  const read = (file: string | undefined): Buffer | null => (file === undefined ? null : readFileSync(file));
  return credentials.createSsl(read(options.caFile), read(options.keyFile), read(options.certFile));
}
