import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import {
  createServingCertificates,
  issueClientCertificate,
} from "../../src/base/certificates/serving-certificates.ts";

/** One request as a service got it. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** Common name of the client's certificate; empty without one. */
  readonly client: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text as it is, or something to be sent as JSON; undefined never answers. */
  readonly body?: unknown;
}

/** A service on loopback TLS with an authority of its own, for servers that ask others. */
export class HttpsService {
  readonly received: Received[] = [];
  private constructor(
    private readonly server: Server,
    readonly url: string,
    /** PEM of the authority. */
    readonly ca: string,
    private readonly caKey: string,
  ) {}

  /**
   * @param answer may be changed by the test at any time through what it closes over.
   * @param hosts whom its certificate is for.
   */
  static async start(
    answer: (request: Received) => Reply | Promise<Reply>,
    hosts: readonly string[] = ["127.0.0.1", "localhost"],
    listenOn = "127.0.0.1",
  ): Promise<HttpsService> {
    const made = createServingCertificates(hosts);
    const server = createServer({
      cert: made.serving.certificate,
      key: made.serving.key,
      ca: made.caCertificate,
      requestCert: true,
      rejectUnauthorized: false,
    });
    await new Promise<void>((resolve) => server.listen(0, listenOn, resolve));
    const { port } = server.address() as AddressInfo;
    const service = new HttpsService(server, `https://${listenOn}:${port}`, made.caCertificate, made.caKey!);
    const serve = async (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { subject } = (request.socket as TLSSocket).getPeerCertificate() as { subject?: { CN?: string } };
      const received = {
        method: request.method!,
        path: request.url!,
        headers: request.headers,
        text: Buffer.concat(chunks).toString("utf8"),
        client: subject?.CN ?? "",
      };
      service.received.push(received);
      const { status = 200, headers = {}, body } = await answer(received);
      if (body === undefined) return;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
    server.on("request", (request, response) => {
      serve(request, response).catch((error: Error) => response.destroy(error));
    });
    return service;
  }

  /** A client certificate that the service's authority signed. */
  clientCertificate(commonName: string): { readonly certificate: string; readonly key: string } {
    const ca = { certificate: this.ca, key: this.caKey };
    return issueClientCertificate(ca, { commonName, organizations: [], days: 1 });
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
