import { Agent } from "node:https";
import { certificatesIn } from "../base/certificates/pem.ts";
import { RemoteFault, type RemoteAnswer } from "../remote/answer-reader.ts";
import { RemoteClient, type RemoteAddress, type RemoteRequest } from "../remote/remote-client.ts";
import type { ResolveService } from "../remote/webhook-caller.ts";
import type { ServicePort } from "../remote/webhook-target.ts";
import type { Clock } from "../base/time/clock.ts";
import type { ForwardedIdentity } from "./identity.ts";
import type { PrioritizedVersion, Priority } from "./priorities.ts";
import type { PublishedResource } from "./published-resources.ts";
import type { RemoteSpecification } from "./specification.ts";

/** The condition `Available` of an APIService. */
export interface Availability {
  readonly status: "False" | "True" | "Unknown";
  /** As in the reference: `Passed`, `ServiceNotFound`, `FailedDiscoveryCheck`, … */
  readonly reason: string;
  readonly message: string;
}

/** Client certificate and key (PEM) of the server for extension servers. */
export interface ProxyCertificate {
  readonly cert: string;
  readonly key: string;
}

/** TLS options for an extension server. */
export interface RemoteApiTls {
  /** CA certificates (PEM); undefined for the CA bundle of this machine. */
  readonly ca: string | undefined;
  readonly verify: boolean;
  /** Expected host name of the certificate: `<service>.<namespace>.svc`. */
  readonly serverName: string;
}

/** Dependencies for connections to extension servers. */
export interface RemoteConnections {
  readonly clock: Clock;
  /** Returns an address of a Service. */
  readonly resolve: ResolveService;
  /** Returns the current client certificate; undefined if none is configured. */
  readonly certificate: () => ProxyCertificate | undefined;
}

/** The part of an APIService with the address of its extension server. */
export interface RemoteTarget {
  readonly service: ServicePort;
  /** PEM in base64; empty for none. */
  readonly caBundle: string;
  readonly insecureSkipTLSVerify: boolean;
}

/** Maximum size in bytes of a document of an extension server; longer ones are omitted. */
const maxDocumentBytes = 4 * 1024 * 1024;
/** Default timeout for reading a document. */
const documentTimeoutMs = 10_000;

/** Maximum idle connections per address, and how long they stay open. */
const maxFreeSockets = 8;
const idleMs = 30_000;

/** A group version of an extension server, with its current state and connections. */
export class RemoteApiService implements PrioritizedVersion {
  readonly tls: RemoteApiTls;
  /** Undefined until the first check by this server has ended. */
  availability: Availability | undefined;
  /** Resource types at the last successful check; undefined before. */
  resources: readonly PublishedResource[] | undefined;
  /** Its part of the OpenAPI 2.0 document. */
  specification: RemoteSpecification | undefined;
  /** Path and query of its OpenAPI 3.0 document; undefined if it has none. */
  specificationUrl: string | undefined;
  /** Number of pending requests. */
  open = 0;
  /** Whether {@link endCalls} was called: calls fail, which says nothing about the extension server. */
  callsEnded = false;
  private served: ReadonlySet<string> = new Set();
  private standing: { readonly with: ProxyCertificate | undefined; readonly agent: Agent } | undefined;
  private client: { readonly with: ProxyCertificate | undefined; readonly client: RemoteClient } | undefined;

  /**
   * @param trusted whether it was available according to its status; used until the first check has ended.
   */
  constructor(
    readonly name: string,
    readonly group: string,
    readonly version: string,
    public priority: Priority,
    readonly target: RemoteTarget,
    private readonly trusted: boolean,
    private readonly connections: RemoteConnections,
  ) {
    const { service, caBundle, insecureSkipTLSVerify } = target;
    this.tls = {
      ca:
        caBundle === ""
          ? undefined
          : certificatesIn(Buffer.from(caBundle, "base64").toString("latin1")).join("\n"),
      verify: !insecureSkipTLSVerify,
      serverName: `${service.name}.${service.namespace}.svc`,
    };
  }

  /** Whether requests are forwarded to it. */
  get available(): boolean {
    return this.availability === undefined ? this.trusted : this.availability.status === "True";
  }

  /** Path of its documents: `/apis/<group>/<version>`. */
  get path(): string {
    return this.group === "" ? `/api/${this.version}` : `/apis/${this.group}/${this.version}`;
  }

  /** Value of the `Host` header: `metrics.system.svc:443`. */
  get authority(): string {
    return `${this.tls.serverName}:${this.target.service.port}`;
  }

  /** Whether its discovery document has a resource type or subresource. */
  serves(resource: string, subresource: string): boolean {
    return this.served.has(subresource === "" ? resource : `${resource}/${subresource}`);
  }

  /** Stores its resource types. */
  publish(resources: readonly PublishedResource[]): void {
    this.resources = resources;
    this.served = new Set(resources.map(({ name }) => name));
  }

  /** @throws {StatusError} or Error; the message says why there is no address. */
  address(): Promise<RemoteAddress> {
    return this.connections.resolve(this.target.service);
  }

  get clock(): Clock {
    return this.connections.clock;
  }

  /** The current client certificate for it. */
  get certificate(): ProxyCertificate | undefined {
    return this.connections.certificate();
  }

  /**
   * Reads a document.
   *
   * @param headers with one value each.
   * @throws {RemoteFault} if the server is unreachable or too slow, or the document is too large.
   */
  read(path: string, headers: ForwardedIdentity, timeoutMs = documentTimeoutMs): Promise<RemoteAnswer> {
    const lines = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    // Use a new connection: an open one doesn't show whether the service is still reachable at its current address.
    const all = { ...Object.fromEntries(lines), connection: "close" };
    return this.call(path, { method: "GET", headers: all, timeoutMs });
  }

  /**
   * Sends a request and reads the whole answer.
   *
   * @param headers with lists for repeated ones.
   * @throws {RemoteFault} as {@link read}.
   */
  send(
    method: "DELETE" | "GET" | "PATCH",
    path: string,
    headers: ForwardedIdentity,
    body: string | undefined,
    timeoutMs: number,
  ): Promise<RemoteAnswer> {
    return this.call(path, {
      method,
      headers: headers as Readonly<Record<string, string | string[]>>,
      timeoutMs,
      ...(body !== undefined && { body }),
    });
  }

  /** Open connections that use the server's current client certificate. */
  agent(): Agent {
    const certificate = this.certificate;
    if (this.standing !== undefined && this.standing.with === certificate) return this.standing.agent;
    // Pending requests of the previous agent continue; its idle connections time out.
    // Without TLS session resumption, so the extension server receives the certificate with each connection.
    const agent = new Agent({ keepAlive: true, maxFreeSockets, maxCachedSessions: 0, timeout: idleMs });
    this.standing = { with: certificate, agent };
    return agent;
  }

  /** Closes idle connections and those used for reading documents. */
  close(): Promise<void> {
    this.standing?.agent.destroy();
    return this.client?.client.close() ?? Promise.resolve();
  }

  /** Ends pending calls of this server's own parts with a failure, and rejects further ones. Forwarded requests continue. */
  async endCalls(): Promise<void> {
    this.callsEnded = true;
    await this.client?.client.close();
  }

  private async call(path: string, request: RemoteRequest): Promise<RemoteAnswer> {
    const url = new URL(`https://${this.authority}${path}`);
    if (this.callsEnded) throw new RemoteFault(`${url.host} gets no more calls: the server stops`, false);
    return this.connection().send(url, request);
  }

  private connection(): RemoteClient {
    const certificate = this.certificate;
    if (this.client !== undefined && this.client.with === certificate) return this.client.client;
    // Pending requests over connections with the previous certificate continue.
    this.client?.client.retire().catch((error: unknown) => void error);
    const { ca, verify, serverName } = this.tls;
    const tls = { ...certificate, serverName, verify, ca: ca === undefined ? undefined : [ca] };
    const limits = { timeoutMs: documentTimeoutMs, maxAnswerBytes: maxDocumentBytes };
    const client = new RemoteClient(tls, limits, this.connections.clock, () => this.address());
    this.client = { with: certificate, client };
    return client;
  }
}
