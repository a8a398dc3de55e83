import { stallMs } from "./body-stream.ts";

/** Limits on what a connection may take. */
export interface ConnectionLimits {
  /** A TLS handshake must be done by then. */
  readonly handshakeTimeoutMs: number;
  /** The headers of a request must be there by then. */
  readonly headersTimeoutMs: number;
  /** A whole request, with its body, must be there by then. */
  readonly requestTimeoutMs: number;
  /** An answer over HTTP/1.1 must be taken in this time; looked at now and then, see `checkIntervalMs`. */
  readonly answerTimeoutMs: number;
  /** An idle connection is closed after this time. */
  readonly keepAliveTimeoutMs: number;
  /** How often HTTP/1.1 connections are held against the two times of a request, and clients looked for that don't read. */
  readonly checkIntervalMs: number;
  /** Bytes of headers. */
  readonly maxHeaderBytes: number;
  /** Requests that one HTTP/2 connection may have under way. */
  readonly maxStreams: number;
}

/** The limits of a server. */
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
