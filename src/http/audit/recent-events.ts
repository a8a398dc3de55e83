import type { Topic } from "../../base/other-processes.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { EventBackend } from "./backend.ts";
import { encodeMembers, type AuditEvent } from "./event.ts";

/** Path of the recent events. */
export const recentEventsPath = "/debug/audit";

/** Maximum number of events. */
export const maxEvents = 1000;
/** Maximum length of the texts of an event in UTF-16 code units; an event with longer ones is left out. */
const maxEventLength = 16 * 1024;
/** Maximum length of the texts of all events in UTF-16 code units. */
const maxLength = 1024 * 1024;

/** An event without its objects. */
export interface RecentEvent {
  /** JSON of an event of the audit API. */
  readonly text: string;
  /** Time of the stage in microseconds since 1970. */
  readonly micros: number;
}

/** The recent events of each process of a server, in the order of recording. */
export const recentEventsTopic: Topic<readonly RecentEvent[]> = { name: "recent audit events" };

interface Entry {
  readonly event: AuditEvent;
  readonly length: number;
}

/**
 * Keeps the newest events in memory, without the objects of requests and responses. Requests for the events themselves are left out. Events
 * are encoded when they are read.
 */
export class RecentEvents implements EventBackend {
  private readonly entries: (Entry | undefined)[] = Array.from({ length: maxEvents }, () => undefined);
  /** Number of all events so far; an event is at its number modulo {@link maxEvents}. */
  private count = 0;
  /** Number of the first event that is still kept. */
  private first = 0;
  private length = 0;

  /** @param version API version of the events, such as `audit.k8s.io/v1`. */
  constructor(private readonly version: string) {}

  record(event: AuditEvent): boolean {
    if (isForRecentEvents(event)) return true;
    const bare = withoutObjects(event);
    const length = lengthOf(bare);
    if (length > maxEventLength) return true;
    while (this.count - this.first >= maxEvents || this.length + length > maxLength) this.removeFirst();
    this.entries[this.count % maxEvents] = { event: bare, length };
    this.count++;
    this.length += length;
    return true;
  }

  /** Returns the newest events, oldest first. @param limit their maximum number. */
  async newest(limit: number): Promise<readonly RecentEvent[]> {
    const { entries, count } = this;
    const start = Math.max(this.first, count - limit);
    const selected = Array.from({ length: count - start }, (_, at) => entries[(start + at) % maxEvents]!);
    const yieldIfDue = createYielder();
    const events: RecentEvent[] = [];
    for (const { event } of selected) {
      await yieldIfDue();
      const text = `{"kind":"Event","apiVersion":"${this.version}",${encodeMembers(event)}}`;
      events.push({ text, micros: event.stageMicros });
    }
    return events;
  }

  /** The events are lost when the server ends. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private removeFirst(): void {
    const at = this.first % maxEvents;
    this.length -= this.entries[at]!.length;
    this.entries[at] = undefined;
    this.first++;
  }
}

function isForRecentEvents({ requestUri }: AuditEvent): boolean {
  return requestUri === recentEventsPath || requestUri.startsWith(`${recentEventsPath}?`);
}

/** Returns an event without objects, and without the details of its status; usually the event itself. */
function withoutObjects(event: AuditEvent): AuditEvent {
  const { requestObject, responseObject, responseStatus } = event;
  if (requestObject === undefined && responseObject === undefined && responseStatus?.details === undefined) {
    return event;
  }
  const bare = { ...event, requestObject: undefined, responseObject: undefined };
  if (responseStatus === undefined) return bare;
  const { details: _, ...status } = responseStatus;
  return { ...bare, responseStatus: status };
}

/** Returns the length of the texts of an event that a client or a webhook determines. */
function lengthOf({ requestUri, userAgent, sourceIps, responseStatus, annotations }: AuditEvent): number {
  let length = requestUri.length + userAgent.length + (responseStatus?.message?.length ?? 0);
  for (const ip of sourceIps) length += ip.length;
  for (const key in annotations) length += key.length + annotations[key]!.length;
  return length;
}
