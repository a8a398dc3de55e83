import type { Topic } from "../../base/other-processes.ts";
import type { EventBackend } from "./backend.ts";
import { encodeMembers, type AuditEvent } from "./event.ts";

/** Path of the recent events. */
export const recentEventsPath = "/debug/audit";

/** Maximum number of events. */
export const maxEvents = 1000;
/** Maximum length of an event in UTF-16 code units; a longer one is left out. */
const maxEventLength = 16 * 1024;
/** Maximum length of all events in UTF-16 code units. */
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

/**
 * Keeps the newest events in memory, without the objects of requests and responses. Requests for the events themselves are left out.
 */
export class RecentEvents implements EventBackend {
  private readonly events: (RecentEvent | undefined)[] = Array.from({ length: maxEvents }, () => undefined);
  /** Number of all events so far; an event is at its number modulo {@link maxEvents}. */
  private count = 0;
  /** Number of the first event that is still kept. */
  private first = 0;
  private length = 0;

  /** @param version API version of the events, such as `audit.k8s.io/v1`. */
  constructor(private readonly version: string) {}

  record(event: AuditEvent): boolean {
    if (isForRecentEvents(event)) return true;
    const members = encodeMembers({ ...event, requestObject: undefined, responseObject: undefined });
    const text = `{"kind":"Event","apiVersion":"${this.version}",${members}}`;
    if (text.length > maxEventLength) return true;
    while (this.count - this.first >= maxEvents || this.length + text.length > maxLength) this.removeFirst();
    this.events[this.count % maxEvents] = { text, micros: event.stageMicros };
    this.count++;
    this.length += text.length;
    return true;
  }

  /** Returns the events, oldest first. */
  list(): readonly RecentEvent[] {
    const { events, first, count } = this;
    return Array.from({ length: count - first }, (_, at) => events[(first + at) % maxEvents]!);
  }

  /** The events are lost when the server ends. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private removeFirst(): void {
    const at = this.first % maxEvents;
    this.length -= this.events[at]!.text.length;
    this.events[at] = undefined;
    this.first++;
  }
}

function isForRecentEvents({ requestUri }: AuditEvent): boolean {
  return requestUri === recentEventsPath || requestUri.startsWith(`${recentEventsPath}?`);
}
