import { shownUser, type UserInfo } from "../../base/user-info.ts";
import type { AuditLevel, AuditStage } from "./policy.ts";
import type { Clock } from "../../base/time/clock.ts";

/**
 * A clock with microseconds. It adds a growing fraction to the milliseconds of a {@link Clock}: calls within one of its
 * milliseconds are in order, and the result never leaves that millisecond.
 */
export class MicroClock {
  private offsetMs: number;

  /** @param passedMs returns milliseconds with a fraction, from any fixed origin. */
  constructor(
    private readonly clock: Clock,
    private readonly passedMs: () => number,
  ) {
    this.offsetMs = clock.now() - passedMs();
  }

  /** Microseconds since 1970-01-01T00:00:00Z. */
  now(): number {
    const wall = this.clock.now();
    const passed = this.passedMs();
    const guess = passed + this.offsetMs;
    if (guess >= wall && guess < wall + 1) return Math.floor(guess * 1000);
    const nearest = guess < wall ? wall : wall + lastMicrosecond;
    this.offsetMs = nearest - passed;
    return Math.floor(nearest * 1000);
  }
}

/** In milliseconds. */
const lastMicrosecond = 0.999;

/** Formats a time in microseconds: `2026-01-02T03:04:05.678901Z`. */
export function microTimeText(micros: number): string {
  const whole = Math.floor(micros / 1_000_000);
  const secondText = new Date(whole * 1000).toISOString().slice(0, 20);
  return `${secondText}${String(micros - whole * 1_000_000).padStart(6, "0")}Z`;
}

/** The object or collection of a request; unknown members are empty. */
export interface ObjectReference {
  readonly resource: string;
  namespace: string;
  name: string;
  uid: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  resourceVersion: string;
  readonly subresource: string;
}

/** The members of a Status that events contain. */
export interface RecordedStatus {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: object;
  readonly code: number;
}

/** An audit event of a request, for one stage. Times are in microseconds since 1970. */
export interface AuditEvent {
  readonly level: AuditLevel;
  readonly auditId: string;
  readonly stage: AuditStage;
  readonly requestUri: string;
  readonly verb: string;
  readonly user: UserInfo;
  readonly impersonatedUser: UserInfo | undefined;
  /** The verb of constrained impersonation that allowed the user. */
  readonly impersonationConstraint: string | undefined;
  readonly sourceIps: readonly string[];
  readonly userAgent: string;
  readonly objectRef: ObjectReference | undefined;
  readonly responseStatus: RecordedStatus | undefined;
  /** JSON. */
  readonly requestObject: string | undefined;
  /** JSON. */
  readonly responseObject: string | undefined;
  readonly receivedMicros: number;
  readonly stageMicros: number;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

/** Returns the JSON members of an event, starting with `level`, without braces. */
export function encodeMembers(event: AuditEvent): string {
  const { sourceIps, objectRef, responseStatus, requestObject, responseObject, annotations } = event;
  const { impersonationConstraint: constraint } = event;
  let text =
    `"level":"${event.level}","auditID":${JSON.stringify(event.auditId)},"stage":"${event.stage}",` +
    `"requestURI":${JSON.stringify(event.requestUri)},"verb":${JSON.stringify(event.verb)},"user":${userText(event.user)}`;
  if (event.impersonatedUser !== undefined) text += `,"impersonatedUser":${userText(event.impersonatedUser)}`;
  if (constraint !== undefined)
    text += `,"authenticationMetadata":{"impersonationConstraint":${JSON.stringify(constraint)}}`;
  if (sourceIps.length > 0) text += `,"sourceIPs":${JSON.stringify(sourceIps)}`;
  if (event.userAgent !== "") text += `,"userAgent":${JSON.stringify(event.userAgent)}`;
  if (objectRef !== undefined) text += `,"objectRef":${referenceText(objectRef)}`;
  if (responseStatus !== undefined) text += `,"responseStatus":${statusText(responseStatus)}`;
  if (requestObject !== undefined) text += `,"requestObject":${requestObject}`;
  if (responseObject !== undefined) text += `,"responseObject":${responseObject}`;
  text +=
    `,"requestReceivedTimestamp":"${microTimeText(event.receivedMicros)}"` +
    `,"stageTimestamp":"${microTimeText(event.stageMicros)}"`;
  if (annotations !== undefined) text += `,"annotations":${JSON.stringify(annotations)}`;
  return text;
}

const userTexts = new WeakMap<UserInfo, string>();

/** Cached by user, because users send many requests. */
function userText(user: UserInfo): string {
  let text = userTexts.get(user);
  if (text === undefined) userTexts.set(user, (text = JSON.stringify(shownUser(user))));
  return text;
}

function referenceText(reference: ObjectReference): string {
  let text = "";
  for (const name of referenceFields) {
    const value = reference[name];
    if (value !== "") text += `${text === "" ? "" : ","}"${name}":${JSON.stringify(value)}`;
  }
  return `{${text}}`;
}

const referenceFields = [
  "resource",
  "namespace",
  "name",
  "uid",
  "apiGroup",
  "apiVersion",
  "resourceVersion",
  "subresource",
] as const;

function statusText({ status, message, reason, details, code }: RecordedStatus): string {
  if (status === undefined) return `{"metadata":{},"code":${code}}`;
  return JSON.stringify({ metadata: {}, status, message, reason, details, code });
}
