import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import {
  createServingCertificates,
  issueClientCertificate,
} from "../../src/base/certificates/serving-certificates.ts";
import { ok, until } from "./answers.ts";
import type { Api } from "./api.ts";

/** A request as an extension server got it. */
export interface Forwarded {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage["headers"];
  /** Common name of the certificate that the client showed; empty without one. */
  readonly client: string;
}

export type ExtensionListener = (request: IncomingMessage, response: ServerResponse) => void;
export type ExtensionUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

export interface ExtensionOptions {
  readonly group?: string;
  readonly version?: string;
  /** Name of its Service in the namespace `default`. */
  readonly service?: string;
}

/** The kind that an extension server serves: widgets, of a namespace, with a status and a stream. */
const widgets = [
  {
    name: "widgets",
    singularName: "widget",
    namespaced: true,
    kind: "Widget",
    verbs: ["get", "list", "watch", "create"],
    shortNames: ["wd"],
  },
  { name: "widgets/status", singularName: "", namespaced: true, kind: "Widget", verbs: ["get", "update"] },
  { name: "widgets/stream", singularName: "", namespaced: true, kind: "Widget", verbs: ["get"] },
];

/**
 * A server that extends the API, over TLS with an authority of its own. It answers discovery and OpenAPI by itself, and
 * everything else as a test says.
 */
export class ExtensionServer {
  readonly group: string;
  readonly version: string;
  readonly service: string;
  /** Requests but those for documents. */
  readonly received: Forwarded[] = [];
  /** Requests for its documents. */
  readonly asked: Forwarded[] = [];
  readonly sockets = new Set<Socket>();
  /** Answers what isn't a document. */
  answer: ExtensionListener = (request, response) =>
    this.json(response, { kind: "Widget", path: request.url });
  /** Documents that a test replaces, by their path. */
  readonly documents = new Map<string, ExtensionListener>();
  upgrade: ExtensionUpgrade = (_request, socket) => void socket.destroy();
  private readonly made;
  private server: Server;

  private constructor(
    private readonly host: string,
    { group = "widgets.example.com", version = "v1", service = "extension" }: ExtensionOptions,
  ) {
    this.group = group;
    this.version = version;
    this.service = service;
    this.made = createServingCertificates([`${service}.default.svc`]);
    this.server = this.open();
  }

  /** @param host address at which it listens. */
  static async start(options: ExtensionOptions = {}, host = "127.0.0.1"): Promise<ExtensionServer> {
    const extension = new ExtensionServer(host, options);
    await extension.listen(0);
    return extension;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get path(): string {
    return `/apis/${this.group}/${this.version}`;
  }

  /** PEM of its authority. */
  get ca(): string {
    return this.made.caCertificate;
  }

  /** PEM of the certificate that it shows. */
  get certificate(): string {
    return this.made.serving.certificate;
  }

  get name(): string {
    return `${this.version}.${this.group}`;
  }

  json(response: ServerResponse, body: object, status = 200): void {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  }

  /** A client certificate of its own authority. */
  clientCertificate(commonName: string): { readonly certificate: string; readonly key: string } {
    const ca = { certificate: this.made.caCertificate, key: this.made.caKey! };
    return issueClientCertificate(ca, { commonName, organizations: [], days: 1 });
  }

  /** Makes the Service and the APIService for it; resolves when it is available. */
  async register(admin: Api, changes: object = {}): Promise<void> {
    await this.registerOnly(admin, changes);
    await this.whenAvailable(admin, "True");
  }

  async registerOnly(admin: Api, changes: object = {}): Promise<void> {
    const { group, version } = this;
    await makeExternalService(admin, this.service);
    const service = { namespace: "default", name: this.service, port: this.port };
    const caBundle = Buffer.from(this.ca).toString("base64");
    await ok(admin.post(apiServices, apiService(group, version, { service, caBundle, ...changes })));
  }

  whenAvailable(admin: Api, status: string): Promise<unknown> {
    return until(
      async () => availability(await admin.get(`${apiServices}/${this.name}`)),
      (one) => one?.status === status,
    );
  }

  /** Stops, and frees its port. */
  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (!this.server.listening) return;
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  /** Listens again after it was closed. */
  async reopen(port: number): Promise<void> {
    this.server = this.open();
    await this.listen(port);
  }

  private listen(port: number): Promise<void> {
    return new Promise((resolve) => this.server.listen(port, this.host, resolve));
  }

  private open(): Server {
    const { certificate: cert, key } = this.made.serving;
    const tls = { cert, key, ca: this.ca, requestCert: true, rejectUnauthorized: false };
    const server = createServer(tls, (request, response) => this.serve(request, response));
    server.on("connection", (socket: Socket) => {
      this.sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => this.sockets.delete(socket));
    });
    server.on("upgrade", (request, socket: Socket, head) => {
      this.received.push(forwarded(request));
      socket.on("error", () => socket.destroy());
      this.upgrade(request, socket, head);
    });
    server.on("tlsClientError", () => undefined);
    return server;
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url!.split("?", 1)[0]!.replace(/\/$/, "");
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    const isDocument = path.startsWith("/openapi/") || path === this.path;
    (isDocument ? this.asked : this.received).push(forwarded(request));
    const own = this.documents.get(path);
    if (own !== undefined) return own(request, response);
    if (path === this.path) {
      const groupVersion = `${this.group}/${this.version}`;
      return this.json(response, {
        kind: "APIResourceList",
        apiVersion: "v1",
        groupVersion,
        resources: widgets,
      });
    }
    if (isDocument) return this.json(response, { kind: "Status", code: 404 }, 404);
    this.answer(request, response);
  }
}

function forwarded(request: IncomingMessage): Forwarded {
  const { subject } = (request.socket as TLSSocket).getPeerCertificate() as { subject?: { CN?: string } };
  const { method = "", url = "", rawHeaders, headers } = request;
  return { method, url, rawHeaders, headers, client: subject?.CN ?? "" };
}

export const apiServices = "/apis/apiregistration.platform.io/v1/apiservices";

/** A Service that stands for this machine. */
async function makeExternalService(admin: Api, name: string): Promise<void> {
  const path = "/api/v1/namespaces/default/services";
  if ((await admin.get(`${path}/${name}`)).status === 200) return;
  await ok(
    admin.post(path, { metadata: { name }, spec: { type: "ExternalName", externalName: "localhost" } }),
  );
}

export const apiService = (group: string, version: string, spec: object, metadata: object = {}) => ({
  metadata: { name: `${version}.${group}`, ...metadata },
  spec: { group, version, groupPriorityMinimum: 2000, versionPriority: 10, ...spec },
});

/** The condition that says whether an APIService can be reached. */
export function availability({
  body,
}: {
  readonly body: {
    status?: { conditions?: { type: string; status: string; reason: string; message: string }[] };
  };
}) {
  return body.status?.conditions?.find(({ type }) => type === "Available");
}
