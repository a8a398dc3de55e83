import { expect, test } from "vitest";
import { ChunkFraming } from "../../src/http/transport/chunk-framing.ts";

const text = (parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString();

test("a chunk has its size in hexadecimal digits before it and a line end after it", () => {
  const framing = new ChunkFraming();
  expect(text(framing.frame(Buffer.from("x".repeat(26))))).toBe(`1a\r\n${"x".repeat(26)}\r\n`);
  expect(framing.end.toString()).toBe("0\r\n\r\n");
});

test("no bytes make no chunk, which would end the body", () => {
  expect(new ChunkFraming().frame(new Uint8Array())).toEqual([]);
});

test("bytes that are written again are framed once", () => {
  const framing = new ChunkFraming();
  const bytes = Buffer.from("event");
  const first = framing.frame(bytes);
  expect(first.length).toBe(1);
  expect(framing.frame(bytes)).toBe(first);
  expect(text(framing.frame(Buffer.from("other")))).toBe("5\r\nother\r\n");
  expect(text(framing.frame(bytes))).toBe("5\r\nevent\r\n");
});

test("large bytes are copied only when they are written again", () => {
  const framing = new ChunkFraming();
  const large = Buffer.alloc(40_000, "y");
  const first = framing.frame(large);
  expect(first[1]).toBe(large);
  const second = framing.frame(large);
  expect(second.length).toBe(1);
  expect(framing.frame(large)).toBe(second);
  expect(text(second)).toBe(text(first));
});
