/** A server that can't be reached, or that refuses; the message is for people. */
export class ClientError extends Error {
  override name = "ClientError";
}
