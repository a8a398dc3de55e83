/** Thrown if the server can't be reached or rejects a request; the message is for users. */
export class ClientError extends Error {
  override name = "ClientError";

  /** @param status of the response; undefined without one. */
  constructor(
    message: string,
    readonly status?: number,
  ) {
    super(message);
  }
}
