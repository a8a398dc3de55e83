import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { request as httpsRequest, Agent } from "node:https";
import { createSecureContext, type SecureContext } from "node:tls";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { createServer, type CreateServerOptions } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import type { Engine } from "../../src/resources/engine/engine.ts";
import type { Store } from "../../src/storage/store.ts";

/** An answer, with its JSON body parsed where it is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
  // Tests look into bodies of any shape; a wrong shape fails the test.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  /** The texts of the Warning headers. */
  readonly warnings: readonly string[];
}

export interface AskOptions {
  readonly body?: unknown;
  /** Sent as it is instead of `body`. */
  readonly raw?: string | Buffer;
  readonly contentType?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of one server and one user, without conveniences that could hide what goes over the wire. */
export class Api {
  private readonly agent: Agent;
  constructor(
    private readonly url: string,
    ca: string | undefined,
    private readonly authorization: string | undefined,
    tls?: { cert?: string; key?: string },
  ) {
    const secureContext = tls === undefined ? contextOf(ca) : createSecureContext({ ...caOf(ca), ...tls });
    this.agent = new Agent({ keepAlive: true, ...caOf(ca), secureContext });
  }

  get = (path: string, options?: AskOptions): Promise<Answer> => this.ask("GET", path, options);
  delete = (path: string, options?: AskOptions): Promise<Answer> => this.ask("DELETE", path, options);
  post = (path: string, body: unknown, options?: AskOptions): Promise<Answer> =>
    this.ask("POST", path, { body, ...options });
  put = (path: string, body: unknown, options?: AskOptions): Promise<Answer> =>
    this.ask("PUT", path, { body, ...options });
  patch = (path: string, body: unknown, kind: "merge" | "json" | "strategic" = "merge"): Promise<Answer> =>
    this.ask("PATCH", path, {
      body,
      contentType: `application/${kind === "strategic" ? "strategic-merge" : kind}${kind === "json" ? "-patch" : "-patch"}+json`,
    });

  async ask(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    return this.read(path, await this.open(method, path, options));
  }

  /** Sends a request that the server must reject; throws at once if a stream begins, which might never end. */
  async refusal(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const response = await this.open(method, path, options);
    if (response.statusCode! >= 400) return this.read(path, response);
    response.destroy();
    throw new Error(`${method} ${path} was accepted with ${response.statusCode}`);
  }

  private async read(path: string, response: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const text = bytes.toString("utf8");
    // The frames of a watch are no JSON document together.
    const frames = /\bwatch[=/]/.test(path) && text.trimEnd().includes("\n");
    const packed = response.headers["content-encoding"] !== undefined;
    const json = !frames && !packed && (response.headers["content-type"] ?? "").includes("json");
    const warning = response.headers["warning"];
    return {
      status: response.statusCode!,
      headers: response.headers,
      text,
      bytes,
      body: json && text !== "" ? JSON.parse(text) : undefined,
      warnings:
        warning === undefined
          ? []
          : [...String(warning).matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((m) =>
              m[1]!.replaceAll(/\\(.)/g, "$1"),
            ),
    };
  }

  /** Begins a watch; see {@link Watching}. */
  async watch(path: string, options: AskOptions = {}): Promise<Watching> {
    const response = await this.open("GET", `${path}${path.includes("?") ? "&" : "?"}watch=true`, options);
    return new Watching(response);
  }

  close(): void {
    this.agent.destroy();
  }

  /** Begins a request; the answer is read as it comes. */
  open(method: string, path: string, options: AskOptions): Promise<IncomingMessage> {
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const headers: Record<string, string> = { ...options.headers };
    if (this.authorization !== undefined) headers["authorization"] = this.authorization;
    if (payload !== undefined) headers["content-type"] = options.contentType ?? "application/json";
    if (payload !== undefined) headers["content-length"] = String(Buffer.byteLength(payload));
    if (options.accept !== undefined) headers["accept"] = options.accept;
    return new Promise((resolve, reject) => {
      const request = httpsRequest(`${this.url}${path}`, { method, headers, agent: this.agent }, resolve);
      request.once("error", reject);
      request.end(payload);
    });
  }
}

let latest: { readonly ca: string | undefined; readonly context: SecureContext } | undefined;

/** The TLS settings of clients without a certificate: a context takes longer to create than most requests. */
function contextOf(ca: string | undefined): SecureContext {
  if (latest === undefined || latest.ca !== ca) latest = { ca, context: createSecureContext(caOf(ca)) };
  return latest.context;
}

function caOf(ca: string | undefined): { ca?: string } {
  return ca === undefined ? {} : { ca };
}

/** One event of a watch. */
export interface Frame {
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly object: any;
}

/** A watch under way. */
export class Watching {
  private readonly frames: Frame[] = [];
  private readonly waiting: (() => void)[] = [];
  private rest = "";
  ended = false;

  /** @param limitMs how long a test waits for one event. */
  constructor(
    private readonly response: IncomingMessage,
    private readonly limitMs = 30_000,
  ) {
    response.setEncoding("utf8");
    response.on("data", (text: string) => this.take(text));
    response.once("close", () => {
      this.ended = true;
      this.wake();
    });
    response.on("error", () => undefined);
  }

  get status(): number {
    return this.response.statusCode!;
  }

  get headers(): IncomingHttpHeaders {
    return this.response.headers;
  }

  /** The next event; waits for it. */
  async next(): Promise<Frame> {
    await this.until(() => this.frames.length > 0, "an event");
    return this.frames.shift()!;
  }

  /** Events up to and including the first one for which `last` holds. */
  async through(last: (frame: Frame) => boolean): Promise<Frame[]> {
    const taken: Frame[] = [];
    for (;;) {
      const frame = await this.next();
      taken.push(frame);
      if (last(frame)) return taken;
    }
  }

  /** All events until the server ends the watch. */
  async toEnd(): Promise<Frame[]> {
    await this.until(() => this.ended, "the end");
    return this.frames.splice(0);
  }

  close(): void {
    this.response.destroy();
  }

  private take(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop()!;
    for (const line of lines) if (line !== "") this.frames.push(JSON.parse(line) as Frame);
    this.wake();
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private async until(condition: () => boolean, what: string): Promise<void> {
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      this.wake();
    }, this.limitMs);
    try {
      while (!condition()) {
        if (this.ended) throw new Error(`the watch ended before ${what}; left over: ${this.rest}`);
        if (isLate) throw new Error(`waited for ${what} longer than ${this.limitMs} ms; ${this.unread()}`);
        await new Promise<void>((resolve) => this.waiting.push(resolve));
      }
    } finally {
      clearTimeout(limit);
    }
  }

  private unread(): string {
    return `unread: ${JSON.stringify(this.frames.slice(0, 3))}`;
  }
}

/** One line of a token file: the token is the user's name. */
export interface TestUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}

/** Options of a server, and the users that it authenticates by token: the token of each is their name. */
export interface TestServerOptions extends CreateServerOptions {
  readonly users?: readonly TestUser[];
}

/** A server in this process with clients for it; close it when done. */
export class TestServer {
  private readonly clients: Api[] = [];
  private live: { readonly server: Server; readonly admin: Api } | undefined;
  private constructor(private readonly options: TestServerOptions) {}

  /**
   * Starts a server. Unless the options name the controllers, it runs without the one that publishes the server's CA certificate
   * in a ConfigMap of every namespace: many tests count config maps. Pods are admitted as always, under the default account.
   */
  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const server = new TestServer(options);
    await server.start();
    return server;
  }

  /** Creates a server that `useServer` starts. */
  static unstarted(options: TestServerOptions): TestServer {
    return new TestServer(options);
  }

  async start(): Promise<void> {
    const { users, ...options } = this.options;
    const defaults = { enabledControllers: ["*", "-root-ca-cert-publisher"] };
    const server = await withTokenFile(users, (tokens) =>
      createServer({ ...defaults, ...options, ...tokens }),
    );
    this.live = { server, admin: this.client(server, `Bearer ${server.adminToken}`) };
  }

  get server(): Server {
    return this.started.server;
  }

  /** A client with the administrator's token. */
  get admin(): Api {
    return this.started.admin;
  }

  /** A client with a bearer token; without one, with no credentials. */
  as(token: string | undefined): Api {
    return this.client(this.server, token === undefined ? undefined : `Bearer ${token}`);
  }

  /** A client with a certificate. */
  asCertificate(cert: string, key: string): Api {
    return this.client(this.server, undefined, { cert, key });
  }

  async close(): Promise<void> {
    for (const client of this.clients) client.close();
    await this.live?.server.close();
  }

  private get started() {
    if (this.live === undefined) throw new Error("the server has not been started yet");
    return this.live;
  }

  private client(
    { url, caCertificate }: Server,
    authorization: string | undefined,
    tls?: { cert: string; key: string },
  ): Api {
    const client = new Api(url!, caCertificate, authorization, tls);
    this.clients.push(client);
    return client;
  }
}

/** Runs a function with the option that names a token file of the users; removes the file afterwards. */
async function withTokenFile<T>(
  users: readonly TestUser[] | undefined,
  run: (options: { readonly tokenAuthFile?: string }) => Promise<T>,
): Promise<T> {
  if (users === undefined) return run({});
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-api-"));
  const tokenAuthFile = path.join(folder, "tokens.csv");
  const lines = users.map(
    ({ name, uid = "", groups = [] }) => `${name},${name},${uid},"${groups.join(",")}"`,
  );
  writeFileSync(tokenAuthFile, `${lines.join("\n")}\n`);
  try {
    return await run({ tokenAuthFile });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the verbs of a server work with, for tests that look behind the API. */
export function engineOf({ server }: TestServer): Engine {
  return (server as unknown as { parts: { service: { engine: Engine } } }).parts.service.engine;
}

/** The store of a server, for tests that look at what lies in it. */
export function storeOf(server: TestServer): Store {
  return engineOf(server).store;
}
