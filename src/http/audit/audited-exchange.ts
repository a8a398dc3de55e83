import type { Readable } from "node:stream";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { ReadableConnection } from "../../flow/fair-reading.ts";
import type { BodyStream, Connection, Exchange, HeaderLines, UpgradeOffer } from "../exchange.ts";
import type { BodyAccount } from "../body-budget.ts";
import type { UnsentAnswer } from "../unsent.ts";
import type { HandlerGuard } from "../guard.ts";
import type { Course } from "../metrics/request-metrics.ts";
import type { AuditTrail } from "./trail.ts";

/** An exchange whose answer tells the request's trail when it begins. */
export class AuditedExchange implements Exchange {
  constructor(
    private readonly inner: Exchange,
    readonly audit: AuditTrail,
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

  get caller(): string {
    return this.inner.caller;
  }

  set caller(name: string) {
    this.inner.caller = name;
  }

  get exempt(): boolean {
    return this.inner.exempt;
  }

  set exempt(exempt: boolean) {
    this.inner.exempt = exempt;
  }

  get course(): Course | undefined {
    return this.inner.course;
  }

  set course(course: Course | undefined) {
    this.inner.course = course;
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
    return {
      protocol: offer.protocol,
      accept: (headers) => {
        this.audit.started(101);
        return offer.accept(headers);
      },
    };
  }

  get reader(): ReadableConnection | undefined {
    return this.inner.reader;
  }

  addHeaders(lines: HeaderLines): void {
    this.inner.addHeaders(lines);
  }

  header(name: string): string | undefined {
    return this.inner.header(name);
  }

  readBody(maxBytes: number, account: BodyAccount): MaybePromise<Buffer> {
    return this.inner.readBody(maxBytes, account);
  }

  send(status: number, headers: HeaderLines, body: Uint8Array): void {
    this.audit.started(status);
    this.inner.send(status, headers, body);
  }

  stream(status: number, headers: HeaderLines, trailing?: boolean): BodyStream {
    this.audit.started(status);
    return this.inner.stream(status, headers, trailing);
  }

  onClose(listener: () => void): void {
    this.inner.onClose(listener);
  }

  get unsent(): UnsentAnswer | undefined {
    return this.inner.unsent;
  }

  breakOff(): void {
    this.inner.breakOff();
  }

  get guard(): HandlerGuard {
    return this.inner.guard;
  }
}
