import { expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { newSpanId, newTraceId, Trace } from "../../src/base/tracing/trace.ts";
import { Tracer } from "../../src/base/tracing/tracer.ts";
import { create } from "../../src/storage/conformance/support.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { TracedStore } from "../../src/storage/traced-store.ts";

test("reads of a listener aren't part of the trace of the request that commits", async () => {
  const tracer = new Tracer();
  const inner = createMemoryStore({ clock: systemClock });
  const store = new TracedStore(inner, tracer);
  const trace = new Trace(newTraceId(), "", undefined, systemClock);
  const reads: Promise<unknown>[] = [];
  const events = () => void reads.push(Promise.resolve(store.get("/g/other/ns/one")));
  const after = await store.latestRevision();
  const subscription = store.subscribe({ prefix: "/g/r/", after }, { events, ended: () => undefined });
  await tracer.spanOf({ trace, spanId: newSpanId() }, "Verb", {}, async () => {
    await create(store, "/g/r/ns/one", "text");
    await expect.poll(() => reads.length).toBeGreaterThan(0);
    await Promise.all(reads);
  });
  subscription.close();
  await store.close();
  expect(trace.spans.map(({ name }) => name)).toEqual(["storage create", "Verb"]);
});
