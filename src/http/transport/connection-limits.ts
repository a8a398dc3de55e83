import { stallMs } from "./body-stream.ts";

/** Limits of a connection. Times are milliseconds. */
export interface ConnectionLimits {
  /** Time-out of the TLS handshake. */
  readonly handshakeTimeoutMs: number;
  /** Time-out of the headers of a request. */
  readonly headersTimeoutMs: number;
  /** Time-out of a whole request with its body. */
  readonly requestTimeoutMs: number;
  /** Time in which a client must read a response over HTTP/1.1; checked every `checkIntervalMs`. */
  readonly answerTimeoutMs: number;
  /** Idle connections are closed after this time. */
  readonly keepAliveTimeoutMs: number;
  /** Interval at which the time-outs of HTTP/1.1 requests and responses are checked. */
  readonly checkIntervalMs: number;
  /** Maximum number of bytes of headers. */
  readonly maxHeaderBytes: number;
  /** Concurrent requests of an HTTP/2 connection. */
  readonly maxStreams: number;
}

/** The default limits. */
export const connectionLimits: ConnectionLimits = {
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 60_000,
  answerTimeoutMs: stallMs,
  keepAliveTimeoutMs: 120_000,
  checkIntervalMs: 5000,
  maxHeaderBytes: 32 * 1024,
  maxStreams: 250,
};
