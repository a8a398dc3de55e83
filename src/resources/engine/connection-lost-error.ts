/**
 * A fault of `server.faults` ended a request without an answer, or a watch. Over HTTP the connection ends instead. `code` is that of
 * Node for a connection that was reset, so that programs which retry such errors do so.
 *
 * @example
 * await client.create(object).catch((error) => {
 *   if (error.code !== "ECONNRESET") throw error; // Otherwise the object may exist or not.
 * });
 */
export class ConnectionLostError extends Error {
  override name = "ConnectionLostError";
  readonly code = "ECONNRESET";
  constructor(
    message: string,
    /** Whether the server completed the response, as at the normal end of a watch. */
    readonly isComplete = false,
  ) {
    super(message);
  }
}
