/** Thrown if the server can't be reached or rejects a request; the message is for users. */
export class ClientError extends Error {
  override name = "ClientError";
}
