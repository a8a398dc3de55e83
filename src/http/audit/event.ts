import { shownUser, type UserInfo } from "../../base/user-info.ts";
import { microTimeText } from "./micro-clock.ts";
import type { AuditLevel, AuditStage } from "./policy.ts";

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
