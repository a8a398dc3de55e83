/** How the client behaves. */
export type Manner = "plain" | "abort" | "pipeline" | "watch";

/** A request that a random user sends. */
export interface FuzzRequest {
  /** Bearer token; undefined for an anonymous request. */
  readonly token: string | undefined;
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  readonly manner: Manner;
}

/** Returns a line that describes a request. */
export function lineOf({ token, method, path, headers, body, manner }: FuzzRequest): string {
  const user =
    token === undefined ? "anonymous" : token.length > 30 ? "service account or administrator" : token;
  const type = body === undefined ? "" : `, ${headers["content-type"] ?? "no type"}, ${body.length} bytes`;
  const start = body === undefined ? "" : `: ${JSON.stringify(body.toString("latin1", 0, 200))}`;
  return `${method} ${path.slice(0, 300)} (${manner}, ${user}${type})${start}`;
}
