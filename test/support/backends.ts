import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer, type ServerOptions } from "node:https";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { ok } from "./answers.ts";
import type { Api } from "./api.ts";

/** What a backend was asked, as the echo tells it. */
export interface Echo {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers with what was asked. */
export const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url, rawHeaders, headers } = request;
    const body = Buffer.concat(chunks).toString();
    response.writeHead(200, { "Content-Type": "application/json", "X-Backend": "echo" });
    response.end(JSON.stringify({ method, url, rawHeaders, headers, body }));
  });
};

export type UpgradeListener = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

/** Takes an offer to upgrade, greets, and gives back what it gets. */
export const upgradeEcho: UpgradeListener = (request, socket, head) => {
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n` +
      `X-Protocol: ${request.headers["x-stream-protocol-version"] ?? ""}\r\n\r\nhello ${request.url}\n`,
  );
  if (head.length > 0) socket.write(head);
  socket.pipe(socket);
};

export interface BackendOptions {
  readonly tls?: ServerOptions;
  readonly host?: string;
  readonly upgrade?: UpgradeListener;
}

/** A server that stands for a pod or a node agent, on a free port. */
export class FakeBackend {
  /** What came, oldest first. */
  readonly requests: IncomingMessage[] = [];
  readonly sockets = new Set<Socket>();
  private constructor(private readonly server: Server) {}

  static async start(listener: RequestListener = echo, options: BackendOptions = {}): Promise<FakeBackend> {
    const { tls, host = "127.0.0.1", upgrade } = options;
    const server = tls === undefined ? createServer(listener) : createHttpsServer(tls, listener);
    const backend = new FakeBackend(server);
    server.on("request", (request) => backend.requests.push(request));
    server.on("connection", (socket: Socket) => {
      backend.sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => backend.sockets.delete(socket));
    });
    if (upgrade !== undefined) {
      server.on("upgrade", (request, socket: Socket, head) => {
        backend.requests.push(request);
        socket.on("error", () => socket.destroy());
        upgrade(request, socket, head);
      });
    }
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return backend;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** A server that takes connections and never says a word. */
export class SilentServer {
  readonly sockets = new Set<Socket>();
  private readonly server = createTcpServer((socket) => {
    this.sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.resume();
  });

  static async start(): Promise<SilentServer> {
    const silent = new SilentServer();
    await new Promise<void>((resolve) => silent.server.listen(0, "127.0.0.1", resolve));
    return silent;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** A port on loopback at which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

/** An address of this machine that isn't a loopback one, as endpoints of services need; undefined without a network. */
export function ownAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return all.find((one) => !one.internal && one.family === "IPv4" && !one.address.startsWith("169.254."))
    ?.address;
}

export interface FakePod {
  readonly ip?: string;
  readonly ips?: readonly string[];
  readonly node?: string;
  readonly containers?: readonly string[];
  readonly initContainers?: readonly string[];
  /** Port of the first container. */
  readonly port?: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Makes a pod in the namespace `default` with a status. */
export async function makePod(admin: Api, name: string, fake: FakePod = {}): Promise<void> {
  const { ip, ips = ip === undefined ? [] : [ip], node, containers = ["main"], port } = fake;
  const container = (one: string, index: number) => ({
    name: one,
    image: "none",
    ...(index === 0 && port !== undefined ? { ports: [{ containerPort: port }] } : {}),
  });
  const spec = {
    containers: containers.map(container),
    initContainers: (fake.initContainers ?? []).map((one) => ({ name: one, image: "none" })),
    ...(node === undefined ? {} : { nodeName: node }),
  };
  const pods = "/api/v1/namespaces/default/pods";
  await ok(admin.post(pods, { metadata: { name, annotations: fake.annotations ?? {} }, spec }));
  if (ips.length === 0) return;
  const status = { podIP: ips[0], podIPs: ips.map((one) => ({ ip: one })) };
  await ok(admin.patch(`${pods}/${name}/status`, { status }));
}

/** Makes a node with addresses, and the port of its agent. */
export async function makeNode(
  admin: Api,
  name: string,
  addresses: Readonly<Record<string, string>>,
  port = 0,
): Promise<void> {
  await ok(admin.post("/api/v1/nodes", { metadata: { name } }));
  const status = {
    addresses: Object.entries(addresses).map(([type, address]) => ({ type, address })),
    ...(port === 0 ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } }),
  };
  await ok(admin.patch(`/api/v1/nodes/${name}/status`, { status }));
}
