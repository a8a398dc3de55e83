import { apiGroup } from "../../vocabulary/names.ts";
import { parseExactJson } from "../../base/json/embedded.ts";
import { Agent, request } from "node:https";
import type { IncomingMessage } from "node:http";
import { peerTrust } from "../../base/certificates/peer-trust.ts";
import { ClientError } from "./client-error.ts";
import { vocabularies } from "../../vocabulary/vocabularies.ts";
import type { Access } from "./access.ts";

/** Time after which a silent server counts as unreachable. */
const idleTimeoutMs = 30_000;

/** Accepts metadata in the names of each vocabulary, or whole objects. */
const metadataOnly = [
  ...vocabularies.map(
    ({ groupSuffix }) =>
      `application/json;as=PartialObjectMetadataList;v=v1;g=${apiGroup(groupSuffix, "meta")}`,
  ),
  "application/json",
].join(",");

/** The JSON object of a response. */
export type Answer = Readonly<Record<string, unknown>>;

interface RequestOptions {
  readonly accept: string;
  readonly body?: string;
  /** Media type of the body. */
  readonly type?: string;
  readonly signal?: AbortSignal;
  /** Time after which a silent server counts as unreachable. */
  readonly idleMs?: number | undefined;
  /** A longer response is cut off; any length by default. */
  readonly maxBytes?: number;
}

/** Maximum length of a response that is read as text. */
const maxTextBytes = 64 * 1024;

/** An HTTP client with the credentials of one user. */
export class ServerClient {
  private readonly agent: Agent;
  private readonly base: URL;

  /** @throws {ClientError} if the address or the credentials can't be used. */
  constructor(private readonly access: Access) {
    const { server, tls } = access;
    if (!URL.canParse(server) || new URL(server).protocol !== "https:") {
      throw new ClientError(
        `${JSON.stringify(server)} is no address of a server, such as https://127.0.0.1:6443`,
      );
    }
    this.base = new URL(server);
    this.agent = new Agent({
      keepAlive: true,
      rejectUnauthorized: tls.verify ?? true,
      ...peerTrust(tls.ca),
      ...(tls.cert === undefined || tls.key === undefined ? {} : { cert: tls.cert, key: tls.key }),
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    });
  }

  /**
   * Returns a client with the rights of another user. The caller of its requests needs the right to impersonate the user and each group.
   *
   * @throws {ClientError} if a name can't be sent in a header.
   */
  as(user: string, groups: readonly string[]): ServerClient {
    for (const name of [user, ...groups]) {
      if (!/^[!-~]([ -~]*[!-~])?$/.test(name))
        throw new ClientError(`${JSON.stringify(name)} can't be impersonated: names are printable ASCII`);
    }
    return new ServerClient({ ...this.access, impersonated: { user, groups } });
  }

  /**
   * Gets the object of a path.
   *
   * @throws {ClientError}
   */
  get(path: string): Promise<Answer> {
    return this.requestJson("GET", path).then(({ answer }) => answer);
  }

  /**
   * Gets the status and text of a path, whatever the status is.
   *
   * @param timeoutMs for the whole response.
   * @param maxBytes text beyond it is not read; 64 KiB by default.
   * @throws {ClientError}
   */
  async text(
    path: string,
    timeoutMs: number,
    maxBytes = maxTextBytes,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const signal = AbortSignal.timeout(timeoutMs);
    return await this.read("GET", path, { accept: "text/plain", signal, maxBytes });
  }

  /**
   * Posts an object and returns the response.
   *
   * @param idleMs time after which a silent server counts as unreachable, in milliseconds; the default is 30 s.
   * @throws {ClientError}
   */
  async post(path: string, object: object, idleMs?: number): Promise<Answer> {
    const { answer } = await this.requestJson("POST", path, { body: JSON.stringify(object), idleMs });
    return answer;
  }

  /**
   * Replaces the object of a path and returns the response.
   *
   * @throws {ClientError}
   */
  put(path: string, object: object): Promise<Answer> {
    return this.requestJson("PUT", path, { body: JSON.stringify(object) }).then(({ answer }) => answer);
  }

  /**
   * Applies an object to its path (server-side apply; the path has the parameters).
   *
   * @returns whether the object was created
   * @throws {ClientError}
   */
  async apply(path: string, object: object): Promise<boolean> {
    const type = "application/apply-patch+yaml";
    const { status } = await this.requestJson("PATCH", path, { body: JSON.stringify(object), type });
    return status === 201;
  }

  /**
   * Lists the metadata of the objects of a path, which may have the parameters of a list.
   *
   * @throws {ClientError}
   */
  listMetadata(path: string): Promise<Answer> {
    return this.requestJson("GET", path, { accept: metadataOnly }).then(({ answer }) => answer);
  }

  /**
   * Sends a merge patch to the object of a path.
   *
   * @returns the object; undefined if it doesn't exist
   * @throws {ClientError}
   */
  async mergePatch(path: string, patch: object): Promise<Answer | undefined> {
    try {
      const type = "application/merge-patch+json";
      return (await this.requestJson("PATCH", path, { body: JSON.stringify(patch), type })).answer;
    } catch (error) {
      if (error instanceof ClientError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Closes the connections. */
  close(): void {
    this.agent.destroy();
  }

  private async requestJson(
    method: string,
    path: string,
    options: Partial<RequestOptions> = {},
  ): Promise<{ readonly status: number; readonly answer: Answer }> {
    const json = "application/json";
    const content = options.body === undefined ? {} : { type: json };
    const { status, text } = await this.read(method, path, { accept: json, ...content, ...options });
    const answer = jsonOf(text);
    if (status >= 300) {
      throw new ClientError(`${method} ${path}: the server answers ${status}: ${messageOf(text)}`, status);
    }
    if (answer === undefined) throw new ClientError(`${method} ${path}: the answer is no JSON object`);
    return { status, answer };
  }

  private async read(
    method: string,
    path: string,
    options: RequestOptions,
  ): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const response = await this.send(method, path, options);
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        // Leaving the loop closes the connection.
        if (size > (options.maxBytes ?? Infinity)) break;
      }
      return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") };
    } catch (error) {
      const isLate = options.signal?.aborted === true;
      const reason = isLate ? "it did not answer in time" : (error as Error).message;
      throw new ClientError(`${this.access.server} can't be reached: ${reason}`);
    }
  }

  private send(
    method: string,
    path: string,
    { body, type, accept, signal, idleMs = idleTimeoutMs }: RequestOptions,
  ): Promise<IncomingMessage> {
    const { authorization, impersonated } = this.access;
    const headers = {
      accept,
      ...(impersonated && {
        "impersonate-user": impersonated.user,
        "impersonate-group": [...impersonated.groups],
      }),
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(body) }),
    };
    const url = new URL(`${this.base.pathname.replace(/\/$/, "")}${path}`, this.base);
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent: this.agent, timeout: idleMs };
      const outgoing = request(url, { ...options, ...(signal === undefined ? {} : { signal }) }, resolve);
      outgoing.once("timeout", () => outgoing.destroy(new Error(`it sent nothing for ${idleMs / 1000} s`)));
      outgoing.once("error", reject);
      outgoing.end(body);
    });
  }
}

/** Returns the message of a Status, or the first 200 characters of any other text. */
export function messageOf(text: string): string {
  const message = jsonOf(text)?.["message"];
  return typeof message === "string" ? message : text.slice(0, 200);
}

function jsonOf(text: string): Answer | undefined {
  try {
    const value: unknown = parseExactJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Answer)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
