import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { HandlerGuard } from "../../src/http/transport/http-exchange.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";
import { SlicedSink, sliceBytes } from "../../src/http/transport/sliced-sink.ts";

/** A response whose connection takes one write at a time. */
class Response extends EventEmitter {
  readonly written: Buffer[] = [];
  writableLength = 0;
  writableEnded = false;
  destroyed = false;
  get writableNeedDrain(): boolean {
    return this.writableLength > 0;
  }
  write(bytes: Uint8Array): boolean {
    this.written.push(Buffer.from(bytes));
    this.writableLength += bytes.length;
    return false;
  }
  end(): void {
    this.writableEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
  }
  /** The client takes all that was written. */
  take(): void {
    this.writableLength = 0;
    this.emit("drain");
  }
}

function fixture() {
  const response = new Response();
  const sink = new SlicedSink(response, new HandlerGuard((error) => expect(error).toBeUndefined()));
  let drains = 0;
  sink.on("drain", () => drains++);
  return { response, sink, drains: () => drains };
}

describe("a large answer over TLS", () => {
  const large = Buffer.alloc(2 * sliceBytes + 100, "abc");

  test("is written in slices, each after the connection has taken the one before, and whole", () => {
    const { response, sink, drains } = fixture();
    expect(sink.write(large)).toBe(false);
    sink.write(Buffer.from("next"));
    sink.end();
    const sizes = () => response.written.map(({ length }) => length);
    expect(sizes()).toEqual([sliceBytes]);
    expect(sink.writableLength).toBe(large.length + 4);
    response.take();
    expect(sizes()).toEqual([sliceBytes, sliceBytes]);
    expect([drains(), response.writableEnded, sink.writableNeedDrain]).toEqual([0, false, true]);
    response.take();
    response.take();
    expect([response.writableEnded, sink.writableEnded]).toEqual([true, true]);
    response.take();
    expect([drains(), sink.writableLength]).toEqual([1, 0]);
    expect(Buffer.concat(response.written).equals(Buffer.concat([large, Buffer.from("next")]))).toBe(true);
  });

  test("is followed by many small pieces in order and in linear time", () => {
    const { response, sink } = fixture();
    const pieces = Array.from({ length: 100_000 }, (_, index) => Buffer.from(`${index},`));
    sink.write(large);
    for (const piece of pieces) sink.write(piece);
    const stopwatch = cpuStopwatch();
    while (sink.writableLength > 0) response.take();
    expect(stopwatch()).toBeLessThan(1000);
    expect(Buffer.concat(response.written).equals(Buffer.concat([large, ...pieces]))).toBe(true);
  });

  test("leaves small pieces as they are", () => {
    const { response, sink } = fixture();
    sink.write(Buffer.from("one"));
    sink.write(Buffer.from("two"));
    expect(response.written.map(String)).toEqual(["one", "two"]);
  });

  test("takes turns with other responses for each slice but the first", () => {
    const response = new Response();
    const turns: (() => void)[] = [];
    const guard = new HandlerGuard((error) => expect(error).toBeUndefined());
    const sink = new SlicedSink(response, guard, { pace: (task) => void turns.push(task) });
    sink.write(large);
    response.take();
    sink.write(Buffer.from("next"));
    expect([response.written.length, turns.length]).toEqual([1, 1]);
    turns.shift()!();
    expect(response.written.length).toBe(2);
    response.take();
    response.emit("close");
    turns.shift()!();
    expect(response.written.length).toBe(2);
  });

  test("in pieces is written in slices too", () => {
    const { response, sink } = fixture();
    const piece = Buffer.alloc(sliceBytes / 2, "p");
    for (let count = 0; count < 5; count++) sink.write(piece);
    expect(response.written.length).toBe(2);
    while (sink.writableLength > 0) response.take();
    expect(Buffer.concat(response.written).equals(Buffer.alloc(sliceBytes * 2.5, "p"))).toBe(true);
  });

  test("is let go of when the connection is gone", () => {
    const { response, sink } = fixture();
    sink.write(large);
    response.writableLength = 0;
    response.emit("close");
    expect([sink.writableLength, response.written.length]).toEqual([0, 1]);
  });
});
