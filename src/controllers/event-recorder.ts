import type { Clock } from "../base/time/clock.ts";
import type { Client, NewObject, ObjectReference } from "../resources/clients/client.ts";

/** Within this time after the first event, an identical event only raises its count. */
const coalesceMs = 600_000;
/** Limits of remembered events and of events that wait to be written; further ones are dropped. */
const maxRecorded = 100;
const maxWaiting = 16;

interface RecordedEvent {
  readonly name: string;
  readonly firstMs: number;
  count: number;
}

/**
 * Writes Events about objects in the background, as the recorders of the reference: an identical event raises the count
 * of the earlier one. An event that can't be written is reported and dropped.
 */
export class EventRecorder {
  /** Written events by object, reason and message; oldest first. */
  private readonly recorded = new Map<string, RecordedEvent>();
  private waiting = 0;
  private written = 0;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Client,
    private readonly clock: Clock,
    private readonly component: string,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Records an event about an object. Events about cluster-scoped objects are in the namespace `default`. */
  record(about: ObjectReference, type: "Normal" | "Warning", reason: string, message: string): void {
    if (this.waiting >= maxWaiting) return this.failed(new Error(`too many events wait: ${message}`));
    this.waiting++;
    this.last = this.last
      .then(() => this.write(about, { type, reason, message }))
      .catch((error: unknown) => this.failed(error))
      .finally(() => this.waiting--);
  }

  /** Resolves when all recorded events are written. */
  close(): Promise<void> {
    return this.last;
  }

  private async write(
    about: ObjectReference,
    facts: { readonly type: string; readonly reason: string; readonly message: string },
  ): Promise<void> {
    const { apiVersion, kind, name, namespace = "" } = about;
    const scope = namespace === "" ? {} : { namespace };
    const eventNamespace = namespace === "" ? "default" : namespace;
    const nowMs = this.clock.now();
    const lastTimestamp = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
    const key = JSON.stringify([about, facts]);
    const firstMs = this.clock.monotonicNow();
    const before = this.recorded.get(key);
    if (before !== undefined && firstMs < before.firstMs + coalesceMs) {
      const reference = { apiVersion: "v1", kind: "Event", namespace: eventNamespace, name: before.name };
      if ((await this.client.find(reference)) !== undefined) {
        await this.client.patch(reference, { count: before.count + 1, lastTimestamp });
        before.count++;
        return;
      }
    }
    const subject = await this.client.find(about);
    const { uid = "", resourceVersion = "" } = subject?.metadata ?? {};
    // As in the reference, the name ends with the time in nanoseconds; the number of events of this recorder makes it
    // unique.
    const event = { name: `${name}.${(BigInt(nowMs) * 1_000_000n + BigInt(this.written++)).toString(16)}` };
    const object: NewObject = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: event.name, namespace: eventNamespace },
      involvedObject: { apiVersion, kind, name, ...scope, uid, resourceVersion },
      ...facts,
      source: { component: this.component },
      firstTimestamp: lastTimestamp,
      lastTimestamp,
      count: 1,
    };
    await this.client.add(object);
    this.recorded.delete(key);
    this.recorded.set(key, { ...event, firstMs, count: 1 });
    if (this.recorded.size > maxRecorded) this.recorded.delete(this.recorded.keys().next().value!);
  }
}
