import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it } from "vitest";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { openEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { ProtobufFault } from "../../src/schema/protobuf/protobuf-fault.ts";
import * as types from "../../src/schema/types.ts";
import { struct } from "../../src/schema/meta.ts";
import { field, inlined, list, map, type StructType } from "../../src/schema/types.ts";

const Inner = struct("Inner", "", { name: field(1, types.string, "") });
const Outer: StructType = struct("Outer", "", () => ({
  jsonOnly: field(undefined, types.string, ""),
  text: field(1, types.string, ""),
  flag: field(2, types.bool, ""),
  small: field(3, types.int32, ""),
  large: field(4, types.int64, ""),
  ratio: field(5, types.double, ""),
  bytes: field(6, types.bytes, ""),
  at: field(7, types.time, ""),
  exactly: field(8, types.microTime, ""),
  amount: field(9, types.quantity, ""),
  port: field(10, types.intOrString, ""),
  any: field(11, types.object, ""),
  inner: field(12, Inner, ""),
  texts: field(13, list(types.string), ""),
  numbers: field(14, list(types.int32), ""),
  labels: field(15, map(types.string), ""),
  extra: field(16, map(list(types.string)), ""),
  self: field(17, Outer, ""),
}));

function message(write: (writer: BinaryWriter) => void): Uint8Array {
  const writer = new BinaryWriter();
  write(writer);
  return writer.finish();
}

const nested = (number: number, write: (writer: BinaryWriter) => void) =>
  message((writer) => writer.tag(number, WireType.LengthDelimited).bytes(message(write)));
const text = (number: number, value: string) =>
  message((writer) => writer.tag(number, WireType.LengthDelimited).string(value));
const varint = (number: number, value: number | bigint) =>
  message((writer) => writer.tag(number, WireType.Varint).int64(value));
const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

describe("decodeMessage", () => {
  it.each<[name: string, bytes: Uint8Array, value: object]>([
    ["an empty message", new Uint8Array(), {}],
    ["a string", text(1, "grüße"), { text: "grüße" }],
    ["the last of several values of a field", joined(text(1, "a"), text(1, "b")), { text: "b" }],
    ["a boolean", varint(2, 1), { flag: true }],
    ["a negative 32-bit integer", varint(3, -5), { small: -5 }],
    ["a 64-bit integer", varint(4, 2 ** 40), { large: 2 ** 40 }],
    ["an integer above 2^53", varint(4, 2n ** 60n + 1n), { large: 2n ** 60n + 1n }],
    ["a double", message((writer) => writer.tag(5, WireType.Bit64).double(0.25)), { ratio: 0.25 }],
    ["bytes", text(6, "hi"), { bytes: "aGk=" }],
    [
      "a time",
      nested(7, (writer) => writer.tag(1, WireType.Varint).int64(1_700_000_000)),
      { at: "2023-11-14T22:13:20Z" },
    ],
    ["an empty time", nested(7, () => undefined), { at: null }],
    [
      "microseconds",
      nested(8, (writer) => writer.tag(2, WireType.Varint).int32(1_500_000)),
      { exactly: "1970-01-01T00:00:00.001500Z" },
    ],
    ["a quantity", nested(9, (writer) => writer.raw(text(1, "100m"))), { amount: "100m" }],
    ["an integer as int-or-string", nested(10, (writer) => writer.raw(varint(2, 80))), { port: 80 }],
    [
      "a string as int-or-string",
      nested(10, (writer) => writer.raw(joined(varint(1, 1), text(3, "http")))),
      { port: "http" },
    ],
    ["an object as JSON", nested(11, (writer) => writer.raw(text(1, '{"a":[1]}'))), { any: { a: [1] } }],
    ["a struct", nested(12, (writer) => writer.raw(text(1, "x"))), { inner: { name: "x" } }],
    ["a list", joined(text(13, "a"), text(13, "")), { texts: ["a", ""] }],
    ["unpacked numbers", joined(varint(14, 1), varint(14, 2)), { numbers: [1, 2] }],
    ["packed numbers", nested(14, (writer) => writer.int32(1).int32(300)), { numbers: [1, 300] }],
    ["a map", nested(15, (writer) => writer.raw(joined(text(1, "k"), text(2, "v")))), { labels: { k: "v" } }],
    [
      "a map of lists",
      nested(16, (writer) =>
        writer.raw(
          joined(
            text(1, "k"),
            nested(2, (inner) => inner.raw(text(1, "v"))),
          ),
        ),
      ),
      { extra: { k: ["v"] } },
    ],
    ["an unknown field", joined(text(99, "new"), text(1, "a")), { text: "a" }],
  ])("decodes %s", (_name, bytes, value) => {
    expect(decodeMessage(Outer, bytes)).toEqual(value);
  });

  it("treats __proto__ as an ordinary key", () => {
    const entry = nested(15, (writer) => writer.raw(joined(text(1, "__proto__"), text(2, "v"))));
    const { labels } = decodeMessage(Outer, entry) as { labels: object };
    expect(Object.getOwnPropertyNames(labels)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
  });

  it.each<[name: string, bytes: Uint8Array]>([
    ["a length beyond the end", Uint8Array.of(0x0a, 0x7f, 0x61)],
    ["text that isn't UTF-8", Uint8Array.of(0x0a, 0x01, 0xff)],
    ["another wire type", varint(1, 7)],
    ["a time out of range", nested(7, (writer) => writer.raw(varint(1, 2n ** 60n)))],
    ["malformed JSON", nested(11, (writer) => writer.raw(text(1, "{")))],
    ["messages nested too deeply", deep(1000)],
  ])("rejects %s", (_name, bytes) => {
    expect(() => decodeMessage(Outer, bytes)).toThrow(ProtobufFault);
  });
});

it("nested inlined messages keep their own field numbers", () => {
  const innermost = struct("Innermost", "", { first: field(1, types.string, "") });
  const middle = struct("Middle", "", { second: field(1, types.string, ""), ...inlined(2, innermost) });
  const whole = struct("Whole", "", { third: field(1, types.string, ""), ...inlined(2, middle) });
  const value = { third: "c", second: "b", first: "a" };
  const bytes = joined(
    text(1, "c"),
    nested(2, (outer) =>
      outer.raw(
        joined(
          text(1, "b"),
          nested(2, (inner) => inner.raw(text(1, "a"))),
        ),
      ),
    ),
  );
  expect(Buffer.from(encodeMessage(whole, value))).toEqual(Buffer.from(bytes));
  expect(decodeMessage(whole, bytes)).toEqual(value);
});

function deep(levels: number): Uint8Array {
  let bytes: Uint8Array = new Uint8Array();
  for (let level = 0; level < levels; level++) {
    const inner = bytes;
    bytes = message((writer) => writer.tag(17, WireType.LengthDelimited).bytes(inner));
  }
  return bytes;
}

describe("openEnvelope", () => {
  const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

  it("returns the type and the message", () => {
    const type = nested(1, (writer) => writer.raw(joined(text(1, "v1"), text(2, "ConfigMap"))));
    const opened = openEnvelope(joined(magic, type, text(2, "raw"), text(3, ""), text(4, "")));
    expect(opened).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
    expect(Buffer.from(opened.message).toString()).toBe("raw");
  });

  it("rejects bytes without the magic number", () => {
    expect(() => openEnvelope(Buffer.from("{}"))).toThrow(ProtobufFault);
  });
});

it("decodeMessage rejects more than 200,000 values, as for JSON bodies", () => {
  const items = (count: number) => joined(...Array.from({ length: count }, () => text(13, "")));
  expect((decodeMessage(Outer, items(1000)) as { texts: string[] }).texts).toHaveLength(1000);
  const many = Buffer.concat(Array.from({ length: 200_001 }, () => text(13, "")));
  expect(() => decodeMessage(Outer, many)).toThrow("more than 200000 values");
  const packed = nested(14, (writer) => writer.raw(new Uint8Array(200_001)));
  expect(() => decodeMessage(Outer, packed)).toThrow("more than 200000 values");
});
