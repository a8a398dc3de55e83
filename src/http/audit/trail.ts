import type { Decision, Attributes } from "../../authorization/authorizer.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { isObject, type JsonValue, type JsonObject } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { attributesOf } from "../request/attributes.ts";
import { type AuditHooks, unknownUser, type RequestContext } from "../request/context.ts";
import { isLongRunning, unreadFacts } from "../request/facts.ts";
import type { AuditEvent, ObjectReference, RecordedStatus } from "./event.ts";
import { auditLevels, type AuditLevel, type AuditStage, type AuditTerms } from "./policy.ts";
import { isIP } from "node:net";
import type { HttpExchange } from "../transport/http-exchange.ts";
import type { AnnotationKeys } from "./annotation-keys.ts";

/** Maximum size of a recorded object in bytes; a larger one is omitted, with an annotation. */
const maxObjectBytes = 8 * 1024 * 1024;
/** Maximum number of recorded characters of a user agent. */
const maxUserAgent = 1024;

/**
 * The audit of one request: collects what the pipeline's stages report, and records the events that the policy
 * requires. At level None it records nothing.
 */
export class AuditTrail implements AuditHooks {
  private terms: AuditTerms | undefined;
  /** The user in the events. */
  private user: UserInfo = unknownUser;
  private reference: ObjectReference | undefined;
  private status: RecordedStatus | undefined;
  /** Replaces the message of the response in the recorded status: it has a reason that the client doesn't learn. */
  private failureMessage: string | undefined;
  private request: string | undefined;
  private response: Uint8Array[] | undefined;
  private responseSize = 0;
  private annotations: Record<string, string> | undefined;
  private readonly receivedMicros: number;
  /** Whether the policy was evaluated. */
  private evaluated = false;
  private finished = false;

  constructor(
    private readonly auditor: Recorder,
    private readonly about: RequestContext,
  ) {
    this.receivedMicros = auditor.now();
  }

  /** See {@link AuditHooks.received}. */
  received(): MaybePromise<void> {
    if (this.begin(this.about.caller)) return this.auditor.accept(this.event("RequestReceived"));
  }

  /** See {@link AuditHooks.unauthenticated}. */
  unauthenticated({ message }: Error): void {
    this.failureMessage = message;
  }

  /** Records the decision of authorization. */
  decided({ verdict, reason }: Decision): void {
    if (this.terms === undefined) return;
    const { decision, reason: reasonKey } = this.auditor.keys;
    this.annotate(decision, verdict === "allow" ? "allow" : "forbid");
    this.annotate(reasonKey, reason);
  }

  /** Records that a list is limited to a view. */
  viewed(view: string): void {
    if (this.terms !== undefined) this.annotate(this.auditor.keys.view, view);
  }

  /** Adds an annotation to later events; an existing one isn't replaced. */
  annotate(key: string, value: string): void {
    this.annotations ??= {};
    if (!Object.hasOwn(this.annotations, key)) this.annotations[key] = value;
  }

  /** Records that the requested version is deprecated. */
  deprecated(removed: string | undefined): void {
    const { keys } = this.auditor;
    this.annotate(keys.deprecated, "true");
    if (removed !== undefined) this.annotate(keys.removedRelease, removed);
  }

  /** Records the object of the request, and completes the object reference from its metadata. */
  requestObject(value: JsonValue): void {
    if (this.terms === undefined) return;
    if (this.reference !== undefined) addMetadata(this.reference, value);
    this.requestBody(
      this.terms.omitManagedFields && this.wants("Request") ? withoutManagedFields(value) : value,
    );
  }

  /** Records a patch, or another body that isn't an object. */
  requestBody(value: JsonValue): void {
    if (!this.wantsRequest) return;
    this.request = this.bounded(encodeJson(value));
  }

  /** Whether the body of the request is recorded. */
  get wantsRequest(): boolean {
    return this.wants("Request");
  }

  /** Whether the response's object is recorded. */
  get wantsResponse(): boolean {
    return this.wants("RequestResponse");
  }

  /** Adds the JSON of the response's object, or a part of it. */
  responseObject(json: Uint8Array): void {
    if (!this.wantsResponse) return;
    this.response ??= [];
    this.responseSize += json.length;
    if (this.responseSize > maxObjectBytes) this.response.length = 0;
    else this.response.push(Uint8Array.from(json));
  }

  /** Records the Status of the response. */
  responseStatus(code: number, status: object): void {
    if (!this.evaluated && this.about.facts !== unreadFacts) this.begin(unknownUser);
    if (this.terms === undefined) return;
    const recorded = { ...(status as Omit<RecordedStatus, "code">), code };
    this.status =
      this.failureMessage === undefined ? recorded : { ...recorded, message: this.failureMessage };
    if (this.wantsResponse) this.responseObject(Buffer.from(encodeJson(status as JsonValue)));
  }

  /** Records the start of the response of a long-running request, or of one without a user. */
  started(code: number): void {
    if (this.terms === undefined) return;
    this.status ??= { code };
    if (this.user !== unknownUser && !isLongRunning(this.about.facts)) return;
    this.auditor.record(this.event("ResponseStarted"));
    if (this.user === unknownUser) this.finished = true;
  }

  /** Records an exception that is a bug. */
  panicked(error: unknown): void {
    if (this.terms === undefined || this.finished) return;
    const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`;
    this.status = { status: "Failure", message, reason: "InternalError", code: 500 };
    this.auditor.record(this.event("Panic"));
    this.finished = true;
  }

  /** Records the end of the request; a long-running one ends with its connection or stream. */
  ended(): void {
    if (this.terms === undefined || this.finished) return;
    const { facts, exchange } = this.about;
    if (isLongRunning(facts) && this.status?.status === undefined) exchange.onClose(() => this.complete());
    else this.complete();
  }

  private complete(): void {
    if (this.finished) return;
    this.finished = true;
    this.status ??= { status: "Success", message: "Connection closed early", code: 200 };
    this.auditor.record(this.event("ResponseComplete"));
  }

  /** Evaluates the policy; returns false if nothing is recorded. */
  private begin(user: UserInfo): boolean {
    this.evaluated = true;
    const attributes = attributesOf(this.about.facts, user);
    const terms = this.auditor.termsFor(attributes);
    if (terms.level === "None") return false;
    this.terms = terms;
    this.user = user;
    if (attributes.kind === "resource") {
      const { namespace, name, resource, group, version, subresource } = attributes;
      this.reference = {
        resource,
        namespace,
        name,
        uid: "",
        apiGroup: group,
        apiVersion: version,
        resourceVersion: "",
        subresource,
      };
    }
    return true;
  }

  private wants(level: AuditLevel): boolean {
    return this.terms !== undefined && auditLevels.indexOf(this.terms.level) >= auditLevels.indexOf(level);
  }

  private bounded(text: string): string | undefined {
    if (text.length <= maxObjectBytes) return text;
    this.reportTruncated();
    return undefined;
  }

  private reportTruncated(): void {
    this.annotate(this.auditor.keys.truncated, "true");
    this.auditor.tooLarge();
  }

  /** Returns the event of a stage; undefined if the policy omits the stage. */
  private event(stage: AuditStage): AuditEvent | undefined {
    const { about, terms } = this;
    const { exchange } = about;
    if (terms!.omitStages.has(stage)) return undefined;
    const responseObject = this.recordedResponse();
    const agent = exchange.header("user-agent") ?? "";
    return {
      level: terms!.level,
      auditId: exchange.auditId,
      stage,
      requestUri: exchange.url,
      verb: about.facts.verb,
      user: this.user,
      impersonatedUser: about.user === about.caller ? undefined : about.user,
      impersonationConstraint: about.impersonationConstraint,
      sourceIps: sourceAddresses(exchange),
      userAgent: agent.length > maxUserAgent ? `${agent.slice(0, maxUserAgent)}...TRUNCATED` : agent,
      objectRef: this.reference === undefined ? undefined : { ...this.reference },
      responseStatus: this.status,
      requestObject: this.request,
      responseObject,
      receivedMicros: this.receivedMicros,
      stageMicros: stage === "RequestReceived" ? this.receivedMicros : this.auditor.now(),
      annotations: this.annotations === undefined ? undefined : { ...this.annotations },
    };
  }

  private recordedResponse(): string | undefined {
    if (this.response === undefined) return undefined;
    if (this.responseSize > maxObjectBytes) {
      this.response = undefined;
      this.reportTruncated();
      return undefined;
    }
    return this.auditor.oneLine(Buffer.concat(this.response), this.terms!.omitManagedFields);
  }
}

/** Completes the reference from the object's metadata. */
function addMetadata(reference: ObjectReference, value: JsonValue): void {
  const metadata = isObject(value) ? value["metadata"] : undefined;
  if (!isObject(metadata)) return;
  for (const name of ["namespace", "name", "uid", "resourceVersion"] as const) {
    const value = metadata[name];
    if (reference[name] === "" && typeof value === "string") reference[name] = value;
  }
}

/**
 * Returns the source addresses of a request, original sender first: those of `X-Forwarded-For` and `X-Real-Ip`, then
 * the address of the connection, which is the only one that a client can't forge.
 */
function sourceAddresses(exchange: HttpExchange): readonly string[] {
  const forwarded = exchange.header("x-forwarded-for");
  const real = exchange.header("x-real-ip");
  const remote = plain(exchange.connection.remoteAddress);
  if (forwarded === undefined && real === undefined) return remote === "" ? [] : [remote];
  const addresses = (forwarded ?? "")
    .split(",")
    .map((one) => plain(one.trim()))
    .filter(isAddress);
  const realAddress = plain((real ?? "").trim());
  if (isAddress(realAddress) && !addresses.includes(realAddress)) addresses.push(realAddress);
  if (remote !== "" && addresses.at(-1) !== remote) addresses.push(remote);
  return addresses;
}

function isAddress(text: string): boolean {
  return isIP(text) !== 0;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/** Receives the events of a request's trail. */
export interface Recorder {
  readonly keys: AnnotationKeys;
  /** Microseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Returns the audit level and stages that the policy gives to a request. */
  termsFor(attributes: Attributes): AuditTerms;
  /**
   * Records the event of a received request, before the request is processed.
   *
   * @throws {StatusError} InternalError, also as a rejection: a strict backend could not record the event.
   */
  accept(event: AuditEvent | undefined): MaybePromise<void>;
  /** Records an event. */
  record(event: AuditEvent | undefined): void;
  /** Counts an object that was left out of an event because it is too large. */
  tooLarge(): void;
  /** Returns an object's JSON without line breaks. */
  oneLine(json: Buffer, omitManagedFields: boolean): string;
}

/** Returns a copy of an object or list without `metadata.managedFields`. */
export function withoutManagedFields(value: JsonValue): JsonValue {
  if (!isObject(value)) return value;
  const { metadata, items } = value;
  const shown: JsonObject = { ...value };
  if (isObject(metadata) && metadata["managedFields"] !== undefined) {
    const { managedFields: _, ...rest } = metadata;
    shown["metadata"] = rest;
  }
  if (Array.isArray(items)) shown["items"] = items.map(withoutManagedFields);
  return shown;
}
