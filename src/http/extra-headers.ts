import type { Readable } from "node:stream";
import type { ReadableConnection } from "../flow/fair-reading.ts";
import type { AuditTrail } from "./audit/trail.ts";
import type { BodyStream, Connection, Exchange, HeaderLines, UpgradeOffer } from "./exchange.ts";

/** An exchange whose answer, whatever it is, carries further header lines. */
export class WithHeaders implements Exchange {
  constructor(
    private readonly inner: Exchange,
    private readonly further: HeaderLines,
  ) {}

  get method(): string {
    return this.inner.method;
  }

  get url(): string {
    return this.inner.url;
  }

  get auditId(): string {
    return this.inner.auditId;
  }

  set auditId(id: string) {
    this.inner.auditId = id;
  }

  get connection(): Connection {
    return this.inner.connection;
  }

  get rawHeaders(): readonly string[] {
    return this.inner.rawHeaders;
  }

  get answered(): boolean {
    return this.inner.answered;
  }

  get status(): number {
    return this.inner.status;
  }

  get sentBytes(): number {
    return this.inner.sentBytes;
  }

  get body(): Readable | undefined {
    return this.inner.body;
  }

  get upgrade(): UpgradeOffer | undefined {
    const offer = this.inner.upgrade;
    if (offer === undefined) return undefined;
    const { protocol } = offer;
    return { protocol, accept: (headers) => offer.accept([...headers, ...this.further]) };
  }

  get reader(): ReadableConnection | undefined {
    return this.inner.reader;
  }

  get audit(): AuditTrail | undefined {
    return this.inner.audit;
  }

  header(name: string): string | undefined {
    return this.inner.header(name);
  }

  readBody(maxBytes: number): Promise<Buffer> {
    return this.inner.readBody(maxBytes);
  }

  send(status: number, headers: HeaderLines, body: Uint8Array): void {
    this.inner.send(status, [...headers, ...this.further], body);
  }

  stream(status: number, headers: HeaderLines, trailing?: boolean): BodyStream {
    return this.inner.stream(status, [...headers, ...this.further], trailing);
  }

  onClose(listener: () => void): void {
    this.inner.onClose(listener);
  }
}
