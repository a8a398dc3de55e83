import { Agent } from "node:https";
import { certificatesIn } from "../base/certificates/pem.ts";
import type { RemoteAnswer } from "../remote/answer-reader.ts";
import { RemoteClient, type RemoteAddress } from "../remote/remote-client.ts";
import type { ResolveService } from "../remote/webhook-caller.ts";
import type { ServicePort } from "../remote/webhook-target.ts";
import type { Clock } from "../base/clock.ts";
import type { ForwardedIdentity } from "./identity.ts";
import type { PrioritizedVersion, Priority } from "./priorities.ts";
import type { PublishedResource } from "./published-resources.ts";
import type { RemoteSpecification } from "./specification.ts";

/** What the condition `Available` of an APIService says. */
export interface Availability {
  readonly status: "False" | "True" | "Unknown";
  /** As the reference: `Passed`, `ServiceNotFound`, `FailedDiscoveryCheck`, … */
  readonly reason: string;
  readonly message: string;
}

/** A certificate and key (PEM) with which the server shows itself to extension servers. */
export interface ProxyCertificate {
  readonly cert: string;
  readonly key: string;
}

/** How the certificate of an extension server is verified, and the server shows itself to it. */
export interface RemoteApiTls {
  /** Authorities (PEM); undefined: those that the machine trusts. */
  readonly ca: string | undefined;
  readonly verify: boolean;
  /** Expected host name of the certificate: `<service>.<namespace>.svc`. */
  readonly serverName: string;
}

/** With what extension servers are reached. */
export interface RemoteConnections {
  readonly clock: Clock;
  /** Finds an address at which a service is served. */
  readonly resolve: ResolveService;
  /** What the server shows itself with now; undefined where the operator gave nothing. */
  readonly certificate: () => ProxyCertificate | undefined;
}

/** The part of an APIService that says where its group version is served. */
export interface RemoteTarget {
  readonly service: ServicePort;
  /** PEM in base64; empty for none. */
  readonly caBundle: string;
  readonly insecureSkipTLSVerify: boolean;
}

/** The most bytes of a document that is read from an extension server; longer ones are left out. */
const maxDocumentBytes = 4 * 1024 * 1024;
/** A document must have come by then, unless the caller says less. */
const documentTimeoutMs = 10_000;

/** Maximum idle connections per address, and how long they stay open. */
const maxFreeSockets = 8;
const idleMs = 30_000;

/** A group version that a service of the cluster serves, as this server knows and reaches it now. */
export class RemoteApiService implements PrioritizedVersion {
  readonly tls: RemoteApiTls;
  /** Undefined until the first check of this server has ended. */
  availability: Availability | undefined;
  /** What it served when it was last reached; undefined where that was never known. */
  resources: readonly PublishedResource[] | undefined;
  /** Its part of the OpenAPI 2.0 document. */
  specification: RemoteSpecification | undefined;
  /** Where its OpenAPI 3.0 document is, path and query; undefined where it has none. */
  specificationUrl: string | undefined;
  /** Requests for it that are under way. */
  open = 0;
  private served: ReadonlySet<string> = new Set();
  private standing: { readonly with: ProxyCertificate | undefined; readonly agent: Agent } | undefined;
  private client: { readonly with: ProxyCertificate | undefined; readonly client: RemoteClient } | undefined;

  /**
   * @param trusted whether it was available as its object said; counts until the first check has ended.
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

  /** Whether requests are passed on to it. */
  get available(): boolean {
    return this.availability === undefined ? this.trusted : this.availability.status === "True";
  }

  /** Path of its documents: `/apis/<group>/<version>`. */
  get path(): string {
    return this.group === "" ? `/api/${this.version}` : `/apis/${this.group}/${this.version}`;
  }

  /** Name and port as a `Host` header has them: `metrics.system.svc:443`. */
  get authority(): string {
    return `${this.tls.serverName}:${this.target.service.port}`;
  }

  /** Whether it said that it serves a resource type or subresource. */
  serves(resource: string, subresource: string): boolean {
    return this.served.has(subresource === "" ? resource : `${resource}/${subresource}`);
  }

  /** Takes in what it serves. */
  publish(resources: readonly PublishedResource[]): void {
    this.resources = resources;
    this.served = new Set(resources.map(({ name }) => name));
  }

  /** @throws {StatusError} or Error, whose message says why there is no address. */
  address(): Promise<RemoteAddress> {
    return this.connections.resolve(this.target.service);
  }

  get clock(): Clock {
    return this.connections.clock;
  }

  /** The certificate and key with which the server shows itself to it now. */
  get certificate(): ProxyCertificate | undefined {
    return this.connections.certificate();
  }

  /**
   * Reads a document of it.
   *
   * @param headers each with one value.
   * @throws {RemoteFault} it can't be reached, is too slow, or answers too much.
   */
  read(path: string, headers: ForwardedIdentity, timeoutMs = documentTimeoutMs): Promise<RemoteAnswer> {
    const url = new URL(`https://${this.authority}${path}`);
    const lines = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
    // Use a new connection: an open one doesn't show whether the service is still reachable at its current address.
    const all = { ...Object.fromEntries(lines), connection: "close" };
    return this.connection().send(url, { method: "GET", headers: all, timeoutMs });
  }

  /** Open connections that use the server's current client certificate. */
  agent(): Agent {
    const certificate = this.certificate;
    if (this.standing !== undefined && this.standing.with === certificate) return this.standing.agent;
    // What is under way ends by itself, and idle connections in their time.
    // Without sessions that are taken up again: the extension server sees the certificate with each connection.
    const agent = new Agent({ keepAlive: true, maxFreeSockets, maxCachedSessions: 0, timeout: idleMs });
    this.standing = { with: certificate, agent };
    return agent;
  }

  /** Closes idle connections and those used for reading documents. */
  close(): Promise<void> {
    this.standing?.agent.destroy();
    return this.client?.client.close() ?? Promise.resolve();
  }

  private connection(): RemoteClient {
    const certificate = this.certificate;
    if (this.client !== undefined && this.client.with === certificate) return this.client.client;
    // What is under way over connections with the certificate of before ends by itself.
    this.client?.client.retire().catch((error: unknown) => void error);
    const { ca, verify, serverName } = this.tls;
    const tls = { ...certificate, serverName, verify, ca: ca === undefined ? undefined : [ca] };
    const limits = { timeoutMs: documentTimeoutMs, maxAnswerBytes: maxDocumentBytes };
    const client = new RemoteClient(tls, limits, this.connections.clock, () => this.address());
    this.client = { with: certificate, client };
    return client;
  }
}
