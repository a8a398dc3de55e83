import { describe, expect, it, test } from "vitest";
import { CborFault, decodeCbor } from "../../src/base/cbor/decode-cbor.ts";
import { encodeCbor } from "../../src/base/cbor/encode-cbor.ts";
import type { JsonValue } from "../../src/base/json/value.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

describe("encoding CBOR", () => {
  test.each<[string, JsonValue, string]>([
    [
      "small integers",
      [0, 23, 24, 255, 256, 65_536, -1, -25],
      "88 00 17 1818 18ff 190100 1a00010000 20 3818",
    ],
    ["integers beyond 32 bits", [2 ** 32, 2n ** 63n - 1n], "82 1b0000000100000000 1b7fffffffffffffff"],
    ["the smallest integer", -(2n ** 63n), "3b7fffffffffffffff"],
    ["integers beyond 64 bits as numbers", 2n ** 64n, "fa5f800000"],
    [
      "numbers in the shortest form",
      [0.5, 1.1, 0.100000001490116],
      "83 f93800 fb3ff199999999999a fb3fb999999ffffff7",
    ],
    ["a number of 32 bits", 100_000.5, "fa47c35040"],
    ["the smallest number of 16 bits", 2 ** -24, "f90001"],
    ["a number below those of 16 bits", 2 ** -25, "fa33000000"],
    ["texts as byte strings", { é: "ab" }, "a1 42c3a9 426162"],
    ["false, true and null", [false, true, null], "83 f4 f5 f6"],
  ])("writes %s", (_title, value, expected) => {
    expect(encodeCbor(value).toString("hex")).toBe(`d9d9f7${expected.replaceAll(" ", "")}`);
    expect(JSON.stringify(decodeCbor(encodeCbor(value)), String)).toBe(JSON.stringify(value, String));
  });

  it("writes bytes with the tag of base64", () => {
    const shape = { members: new Map([["data", { members: new Map(), each: "bytes" as const }]]) };
    const bytes = encodeCbor({ data: { a: "AQID" }, text: "AQID" }, shape);
    expect(bytes.toString("hex")).toBe("d9d9f7a24464617461a14161d64301020344746578744441514944");
    expect(decodeCbor(bytes)).toEqual({ data: { a: "AQID" }, text: "AQID" });
  });

  it("writes texts of every length", () => {
    for (let length = 0; length < 300; length++) {
      for (const text of ["a".repeat(length), `${"a".repeat(length)}€`]) {
        expect(decodeCbor(encodeCbor(text))).toBe(text);
      }
    }
  });
});

describe("decoding CBOR", () => {
  test.each<[string, string, JsonValue]>([
    ["indefinite lengths", "bf 6161 9f 01 ff 6162 5f 4163 4164 ff ff", { a: [1], b: "cd" }],
    ["byte strings as texts", "43 616263", "abc"],
    ["bytes for base64, base64url and base16", "83 d6 42fbff d5 42fbff d7 42fbff", ["+/8=", "-_8", "fbff"]],
    [
      "times",
      "83 c074323031332d30332d32315432303a30343a30305a c11a514b67b0 c1f93800",
      ["2013-03-21T20:04:00Z", "2013-03-21T20:04:00Z", "1970-01-01T00:00:00.5Z"],
    ],
    ["unknown tags as their content", "d903e8 d9d9f7 01", 1],
    ["numbers of 16 and 32 bits", "82 f93e00 fa40490fdb", [1.5, Math.fround(Math.PI)]],
    ["large integers without loss", "1b7fffffffffffffff", 9223372036854775807n],
    ["lengths that aren't the shortest form", "58 01 61", "a"],
  ])("reads %s", (_title, text, expected) => {
    expect(decodeCbor(hex(text))).toEqual(expected);
  });

  it("reads __proto__ as an ordinary name", () => {
    expect(Object.keys(decodeCbor(hex("a1 695f5f70726f746f5f5f a0")) as object)).toEqual(["__proto__"]);
  });

  test.each([
    ["nothing", ""],
    ["bytes after the item", "00 00"],
    ["a truncated text", "42 61"],
    ["a text longer than memory", "5b 7fffffffffffffff 61"],
    ["an array longer than the data", "9a ffffffff 00"],
    ["duplicate keys", "a2 6161 01 4161 02"],
    ["keys that aren't texts", "a1 01 01"],
    ["invalid UTF-8", "62 c328"],
    ["invalid UTF-8 in bytes", "42 c328"],
    ["NaN", "f97e00"],
    ["infinity", "fb7ff0000000000000"],
    ["undefined", "f7"],
    ["other simple values", "f820"],
    ["integers beyond 63 bits", "1b8000000000000000"],
    ["integers below 63 bits", "3b8000000000000000"],
    ["big numbers", "c2 4101"],
    ["times that are none", "c0 6161"],
    ["times in byte strings", "c0 54 323031332d30332d32315432303a30343a30305a"],
    ["30 February", "c0 74 323032342d30322d33305430303a30303a30305a"],
    ["24:00", "c0 74 323032342d30322d30315432343a30303a30305a"],
    ["times that are truncated", "c0"],
    ["a break outside", "ff"],
    ["reserved lengths", "5c"],
    ["a chunk of another type", "7f 4161 ff"],
    ["nested chunks", "5f 5f 4161 ff ff"],
  ])("rejects %s", (_title, text) => {
    expect(() => decodeCbor(hex(text))).toThrow(CborFault);
  });

  it("limits nesting and the number of values, also of tags and chunks", () => {
    const nested = (byte: number, depth: number) => Buffer.concat([Buffer.alloc(depth, byte), Buffer.of(0)]);
    for (const byte of [0x81, 0xc9]) {
      expect(() => decodeCbor(nested(byte, 200))).not.toThrow();
      for (const depth of [201, 3_000_000])
        expect(() => decodeCbor(nested(byte, depth))).toThrow("nested deeper");
    }
    for (const byte of [0x00, 0x40, 0x80]) {
      const items = Buffer.concat([Buffer.of(0x9f), Buffer.alloc(3_000_000, byte), Buffer.of(0xff)]);
      expect(() => decodeCbor(items)).toThrow("values");
    }
    expect(() => decodeCbor(Buffer.concat([Buffer.of(0x5f), Buffer.alloc(3_000_000, 0x40)]))).toThrow(
      "values",
    );
  });

  it("reads the largest bodies in linear time", () => {
    const usedMs = cpuStopwatch();
    const keys = Object.fromEntries(Array.from({ length: 99_000 }, (_, index) => [`key-${index}`, "v"]));
    expect(decodeCbor(encodeCbor(keys))).toEqual(keys);
    const text = "é".repeat(1_500_000);
    expect(decodeCbor(encodeCbor({ text }))).toEqual({ text });
    expect(usedMs()).toBeLessThan(3000);
  });
});
