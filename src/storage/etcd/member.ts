import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { peerTrust } from "../../base/certificates/peer-trust.ts";
import { type ChannelCredentials, Client, credentials, Metadata } from "./grpc.ts";
import {
  decodeRangeResponse,
  decodeSpaceAlarm,
  decodeTxnResponse,
  decodeWatchResponse,
  encodeCompactionRequest,
  encodeRangeRequest,
  encodeTxnRequest,
  encodeWatchCreateRequest,
  type RangeRequest,
  type RangeResponse,
  type TxnRequest,
  type TxnResponse,
  type WatchCreateRequest,
  type WatchResponse,
} from "./messages.ts";

/** A member of a cluster. Requests fail with an error that has the `code` and `details` of a gRPC status. */
export interface Member {
  /** Reads keys: linearizable, or at an exact revision. */
  range(request: RangeRequest, timeoutMs: number): Promise<RangeResponse>;
  txn(request: TxnRequest, timeoutMs: number): Promise<TxnResponse>;
  /** Compacts the history of the cluster up to a revision. */
  compact(revision: number, timeoutMs: number): Promise<void>;
  /** Whether the cluster exceeds its quota and rejects writes that need space. */
  outOfSpace(timeoutMs: number): Promise<boolean>;
  /** Opens a watch; it ends if the member loses its cluster. */
  watch(request: WatchCreateRequest, listener: WatchListener): OpenWatch;
  close(): void;
}

/** Receives a watch. Nothing is called after `ended` or {@link OpenWatch.close}. */
export interface WatchListener {
  response(response: WatchResponse): void;
  ended(error: Error): void;
}

export interface OpenWatch {
  close(): void;
}

/** TLS settings of a cluster. */
export interface MemberTls {
  /** CA certificates for the certificates of the members; enables TLS. */
  readonly caFile?: string | undefined;
  /** Client certificate and key. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

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

/**
 * Returns the members at some endpoints (`host:port`, `http://host:port` or `https://host:port`), over gRPC. Either all use TLS or none.
 *
 * @throws {TypeError} for a malformed endpoint; `Error` from the file system if a TLS file can't be read.
 */
export function grpcMembers(endpoints: readonly string[], tls: MemberTls): Member[] {
  const secure = tls.caFile !== undefined || endpoints.some((at) => at.startsWith("https://"));
  const trust = channelCredentials(tls, secure);
  return endpoints.map((at) => new GrpcMember(new Client(addressOf(at), trust, channelOptions)));
}

class GrpcMember implements Member {
  constructor(private readonly client: Client) {}

  range(request: RangeRequest, timeoutMs: number): Promise<RangeResponse> {
    return this.call("KV/Range", encodeRangeRequest(request), decodeRangeResponse, timeoutMs);
  }

  txn(request: TxnRequest, timeoutMs: number): Promise<TxnResponse> {
    return this.call("KV/Txn", encodeTxnRequest(request), decodeTxnResponse, timeoutMs);
  }

  compact(revision: number, timeoutMs: number): Promise<void> {
    return this.call("KV/Compact", encodeCompactionRequest(revision), () => undefined, timeoutMs);
  }

  outOfSpace(timeoutMs: number): Promise<boolean> {
    return this.call("Maintenance/Alarm", Buffer.alloc(0), decodeSpaceAlarm, timeoutMs);
  }

  watch(request: WatchCreateRequest, listener: WatchListener): OpenWatch {
    const metadata = new Metadata();
    // A member that lost its cluster ends the stream.
    metadata.set("hasleader", "true");
    const path = "/etcdserverpb.Watch/Watch";
    const stream = this.client.makeBidiStreamRequest(path, (b: Buffer) => b, decodeWatchResponse, metadata);
    let over = false;
    const end = (error?: Error): void => {
      if (over) return;
      over = true;
      stream.cancel();
      if (error !== undefined) listener.ended(error);
    };
    stream.on("data", (response: WatchResponse) => {
      if (!over) listener.response(response);
    });
    stream.on("error", (error: Error) => end(error));
    stream.on("end", () => end(new Error("the watch's stream ended")));
    stream.write(encodeWatchCreateRequest(request));
    return { close: () => end() };
  }

  close(): void {
    this.client.close();
  }

  private call<T>(
    method: string,
    request: Buffer,
    decode: (bytes: Buffer) => T,
    timeoutMs: number,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + timeoutMs;
      const path = `/etcdserverpb.${method}`;
      this.client.makeUnaryRequest(
        path,
        (b: Buffer) => b,
        decode,
        request,
        { deadline },
        (error, answer) => {
          if (error === null) resolve(answer!);
          else reject(error);
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

function channelCredentials(tls: MemberTls, secure: boolean): ChannelCredentials {
  if (!secure) return credentials.createInsecure();
  const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file));
  const [ca, key, cert] = [tls.caFile, tls.keyFile, tls.certFile].map(read);
  return credentials.createFromSecureContext(createSecureContext({ ...peerTrust(ca), key, cert }));
}
