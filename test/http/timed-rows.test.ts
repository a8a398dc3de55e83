import { expect, test } from "vitest";
import { TimedRows, TimedRowsWriter } from "../../src/http/encodings/timed-rows.ts";

const start = Date.parse("2026-01-01T00:00:00Z");

function row(writer: TimedRowsWriter, name: string, created: string | undefined): boolean {
  writer.write(',{"cells":');
  const written = writer.cells([name, `1 (${writer.since(created)} ago)`, writer.since(created), null]);
  if (!written) writer.write("[]");
  writer.write("}");
  return written;
}

test("rows are cached without their ages, which are computed for each response", () => {
  const writer = new TimedRowsWriter();
  expect(row(writer, "ä", "2026-01-01T00:00:00Z")).toBe(true);
  expect(row(writer, "b", undefined)).toBe(true);
  const second = new TimedRowsWriter();
  expect(row(second, "c", "2026-01-01T01:00:00Z")).toBe(true);
  const rows = TimedRows.joined([writer.rows(), second.rows()]);
  const at = (seconds: number): string => rows.at(start + seconds * 1000).toString();
  expect(at(5)).toBe(
    ',{"cells":["ä","1 (5s ago)","5s",null]}' +
      ',{"cells":["b","1 (<unknown> ago)","<unknown>",null]}' +
      ',{"cells":["c","1 (<invalid> ago)","<invalid>",null]}',
  );
  expect(at(5)).toBe(at(5));
  expect(at(3700)).toContain('["ä","1 (61m ago)","61m",null]');
  expect(at(3700)).toContain('["c","1 (100s ago)","100s",null]');
  expect(rows.bytes).toBeGreaterThan(100);
});

test("cells with a text that looks like an age placeholder are rejected", () => {
  const writer = new TimedRowsWriter();
  expect(row(writer, "a\0b", "2026-01-01T00:00:00Z")).toBe(false);
  expect(row(writer, "\\u0000", "2026-01-01T00:00:00Z")).toBe(false);
  expect(row(writer, "a", "2026-01-01T00:00:00Z")).toBe(true);
  expect(writer.rows().at(start).toString()).toBe(
    ',{"cells":[]},{"cells":[]},{"cells":["a","1 (0s ago)","0s",null]}',
  );
});

test("more rows than the initial buffer holds are encoded", () => {
  const writer = new TimedRowsWriter();
  const name = "x".repeat(50_000);
  for (let index = 0; index < 5; index++) row(writer, name, "2026-01-01T00:00:00Z");
  writer.raw(Buffer.from(name), 1, 50_000);
  const text = writer.rows().at(start).toString();
  expect(text.length).toBeGreaterThan(299_000);
  expect(text.split("0s ago").length).toBe(6);
});
