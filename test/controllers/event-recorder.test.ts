import { expect, test } from "vitest";
import { EventRecorder } from "../../src/controllers/event-recorder.ts";
import { createServer } from "../../src/index.ts";
import { Event } from "../../src/kinds/core/event.ts";
import { Client } from "../../src/resources/clients/client.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { engineOver } from "../resources/engine.ts";
import { ManualClock } from "../support/manual-clock.ts";

const about = { apiVersion: "v1", kind: "Pod", namespace: "x", name: "p" };
interface Found extends ApiObject {
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involvedObject: Readonly<Record<string, string>>;
}
/** The client of a server, and the one inside it. */
interface Lister {
  list(reference: {
    readonly apiVersion: "v1";
    readonly kind: "Event";
  }): Promise<{ items: readonly unknown[] }>;
}
const eventsOf = async (client: Lister) =>
  (await client.list({ apiVersion: "v1", kind: "Event" })).items as readonly Found[];

test("a repeated event increases the count for ten minutes, and events above the queue limit are dropped", async () => {
  const clock = new ManualClock();
  const store = createMemoryStore({ clock });
  const engine = engineOver(store, [Event]);
  const client = new Client(engine, { name: "server", uid: "", groups: [], extra: {} });
  const failures: unknown[] = [];
  const recorder = new EventRecorder(client, clock, "apiserver", (error) => failures.push(error));
  const counts = async () => (await eventsOf(client)).map(({ message, count }) => `${message} ${count}`);
  for (const message of ["a", "a", "b", "a"]) recorder.record(about, "Normal", "Why", message);
  await recorder.close();
  expect((await counts()).toSorted()).toEqual(["a 3", "b 1"]);
  await clock.advance(600_000);
  recorder.record(about, "Normal", "Why", "a");
  await recorder.close();
  expect((await counts()).toSorted()).toEqual(["a 1", "a 3", "b 1"]);
  expect(failures).toEqual([]);
  for (let count = 0; count < 20; count++) recorder.record(about, "Normal", "Why", `many ${count}`);
  await recorder.close();
  expect(failures).toHaveLength(4);
  expect(await counts()).toHaveLength(3 + 16);
  engine.pages.close();
  await store.close();
});

test("events on the Lease record when a server becomes leader and stops leading", async () => {
  const storage = createMemoryStore({ clock: new ManualClock() });
  const first = await createServer({ storage, port: false });
  await expect.poll(async () => (await eventsOf(first.client)).length).toBe(1);
  await first.close();
  const second = await createServer({ storage, port: false });
  try {
    await expect.poll(async () => (await eventsOf(second.client)).length).toBe(3);
    const events = await eventsOf(second.client);
    const told = events.map(({ reason, message }) => `${reason}: ${message.replace(/^\S+ /, "")}`);
    expect(told.toSorted()).toEqual([
      "LeaderElection: became leader",
      "LeaderElection: became leader",
      "LeaderElection: stopped leading",
    ]);
    const lease = await second.client.get({
      apiVersion: "coordination.platform.io/v1",
      kind: "Lease",
      namespace: "platform-system",
      name: "apiserver-controllers",
    });
    for (const { involvedObject } of events) {
      expect(involvedObject).toMatchObject({ kind: "Lease", uid: lease.metadata.uid });
    }
  } finally {
    await second.close();
    await storage.close();
  }
});
