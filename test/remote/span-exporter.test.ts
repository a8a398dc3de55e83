import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { newSpanId, newTraceId, Trace } from "../../src/base/tracing/trace.ts";
import { SpanExporter } from "../../src/remote/span-exporter.ts";
import { Collector } from "../support/collector.ts";

let collector: Collector;
let exporter: SpanExporter;
let failures: string[];
beforeEach(async () => {
  collector = await Collector.start();
  failures = [];
  exporter = exporterFor(collector.url);
});
afterEach(async () => {
  await exporter.close();
  await collector.close();
});

const exporterFor = (url: string) =>
  new SpanExporter({
    url: new URL("/v1/traces", url),
    resource: { "service.name": "test" },
    clock: systemClock,
    failed: (reason) => failures.push(reason),
  });

/** A trace of one span, with an attribute of this length. */
function traceOf(length = 1): Trace {
  const trace = new Trace(newTraceId(), "", undefined, systemClock);
  const attributes = { text: "x".repeat(length) };
  const times = { startMs: systemClock.monotonicNow(), endMs: systemClock.monotonicNow() };
  trace.end({
    name: "one",
    kind: "server",
    spanId: newSpanId(),
    parentId: "",
    attributes,
    error: undefined,
    ...times,
  });
  return trace;
}

/** A batch is sent at once when it is full. */
const fullBatch = 600 * 1024;
const noDrops = { queue_full: 0, export_failed: 0, rejected: 0, shutdown: 0 };

test("spans are sent on close", async () => {
  for (let count = 0; count < 3; count++) exporter.add(traceOf());
  await exporter.close();
  expect(collector.spans.map(({ name }) => name)).toEqual(["one", "one", "one"]);
  expect(collector.texts).toHaveLength(1);
  expect(exporter.counts).toEqual({ exported: 3, dropped: noDrops });
});

test("a batch is sent again after 503 and 429, after the time of Retry-After", async () => {
  collector.answer = (response, number) => {
    if (number > 2) return collector.accept(response);
    response.writeHead(number === 1 ? 503 : 429, { "retry-after": "0" }).end();
  };
  exporter.add(traceOf(fullBatch));
  await collector.requests(3);
  await exporter.close();
  expect(exporter.counts).toEqual({ exported: 1, dropped: noDrops });
  expect(failures).toEqual([]);
});

test("a batch that the collector refuses is dropped and counted", async () => {
  collector.answer = (response) => void response.writeHead(400).end();
  exporter.add(traceOf(fullBatch));
  await collector.requests(1);
  await expect.poll(() => exporter.counts.dropped.export_failed).toBe(1);
  expect(failures).toEqual([`${collector.url}/v1/traces answers with status 400`]);
});

test.each([
  ['{"partialSuccess":{"rejectedSpans":"1"}}', 1],
  ['{"partialSuccess":{"rejectedSpans":"999999999999"}}', 1],
  ['{"partialSuccess":{"rejectedSpans":-5}}', 0],
  ["null", 0],
  ["[[[[", 0],
])("the answer %s rejects %i spans of one", async (text, rejected) => {
  collector.answer = (response) => void response.writeHead(200).end(text);
  exporter.add(traceOf());
  await exporter.close();
  expect(exporter.counts).toEqual({ exported: 1 - rejected, dropped: { ...noDrops, rejected } });
});

test("an answer without end is cut off", async () => {
  let isClosed = false;
  collector.answer = (response) => {
    response.on("close", () => (isClosed = true));
    response.writeHead(200);
    const piece = Buffer.alloc(16 * 1024, "x");
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  };
  exporter.add(traceOf(fullBatch));
  await expect.poll(() => exporter.counts.dropped.export_failed).toBe(1);
  await expect.poll(() => isClosed).toBe(true);
  expect(failures[0]).toContain("answers more than 65536 bytes");
});

test("while the collector doesn't answer, spans are queued up to a limit, and close ends in time", async () => {
  collector.answer = () => undefined;
  exporter.add(traceOf(fullBatch));
  await collector.requests(1);
  for (let count = 0; count < 20; count++) exporter.add(traceOf(fullBatch));
  // 8 MiB of encoded spans are 14 traces of this size.
  expect(exporter.counts.dropped.queue_full).toBe(6);
  const closeMs = performance.now();
  await exporter.close();
  expect(performance.now() - closeMs).toBeLessThan(6000);
  expect(exporter.counts.exported).toBe(0);
  expect(exporter.counts.dropped).toEqual({ ...noDrops, queue_full: 6, shutdown: 15 });
});

test("close doesn't wait for the pause before another attempt", async () => {
  collector.answer = (response) => void response.writeHead(503, { "retry-after": "600" }).end();
  exporter.add(traceOf(fullBatch));
  await collector.requests(1);
  const closeMs = performance.now();
  await exporter.close();
  expect(performance.now() - closeMs).toBeLessThan(2500);
  expect(exporter.counts.dropped.shutdown).toBe(1);
});

test("a collector that can't be reached costs the spans, nothing else", async () => {
  const closed = await Collector.start();
  const lost = exporterFor(closed.url);
  await closed.close();
  lost.add(traceOf());
  await lost.close();
  expect(lost.counts).toEqual({ exported: 0, dropped: { ...noDrops, shutdown: 1 } });
  expect(failures[0]).toContain("can't be reached");
});
