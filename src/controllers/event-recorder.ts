import type { Clock } from "../base/clock.ts";
import type { Client, NewObject, ObjectReference } from "../resources/clients/client.ts";

/** An event that is the same as an earlier one is counted there for this time. */
const coalesceMs = 600_000;
/** How many kinds of events are remembered, and how many wait to be written; more are dropped. */
const maxKnown = 100;
const maxWaiting = 16;

interface Known {
  readonly name: string;
  readonly firstMs: number;
  count: number;
}

/**
 * Writes Events about objects in the background, as the reference's recorders do: one that is the same as an earlier one raises
 * its count. Events are for people: one that can't be written is reported and dropped.
 */
export class EventRecorder {
  /** By object, reason and message, the oldest first. */
  private readonly known = new Map<string, Known>();
  private waiting = 0;
  private written = 0;
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Client,
    private readonly clock: Clock,
    private readonly component: string,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Records what happened to an object. Events about cluster-scoped objects lie in the namespace `default`. */
  record(about: ObjectReference, type: "Normal" | "Warning", reason: string, message: string): void {
    if (this.waiting >= maxWaiting) return this.failed(new Error(`too many events wait: ${message}`));
    this.waiting++;
    this.last = this.last
      .then(() => this.write(about, { type, reason, message }))
      .catch((error: unknown) => this.failed(error))
      .finally(() => this.waiting--);
  }

  /** Resolves when what was recorded is written. */
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
    const before = this.known.get(key);
    if (before !== undefined && firstMs < before.firstMs + coalesceMs) {
      const reference = { apiVersion: "v1", kind: "Event", namespace: eventNamespace, name: before.name };
      if ((await this.client.find(reference)) !== undefined) {
        await this.client.patch(reference, { count: before.count + 1, lastTimestamp });
        before.count++;
        return;
      }
    }
    const found = await this.client.find(about);
    const { uid = "", resourceVersion = "" } = found?.metadata ?? {};
    // As the reference names them: the time in nanoseconds, here with the number of those that this recorder wrote.
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
    this.known.delete(key);
    this.known.set(key, { ...event, firstMs, count: 1 });
    if (this.known.size > maxKnown) this.known.delete(this.known.keys().next().value!);
  }
}
