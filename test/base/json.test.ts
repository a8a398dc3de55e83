import { decodeTrusted } from "../../src/base/json/trusted.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeJson, defaultMaxDepth } from "../../src/base/json/decode.ts";
import { encodeJson, encodeString } from "../../src/base/json/encode.ts";
import { maxDuplicates } from "../../src/base/json/duplicate-members.ts";
import { decodeExactly } from "../../src/base/json/exact.ts";
import { SyntaxFault } from "../../src/base/json/syntax-fault.ts";
import {
  type JsonObject,
  type JsonValue,
  deepClone,
  deepEqual,
  getMember,
  setMember,
} from "../../src/base/json/value.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const decode = (text: string) => decodeJson(Buffer.from(text));
const fault = (text: string | Uint8Array) => {
  try {
    decodeJson(Buffer.from(text as string));
  } catch (error) {
    if (error instanceof SyntaxFault) return error.message;
    throw error;
  }
  return "no fault";
};

describe("what is encoded", () => {
  const unit = fc.oneof(
    fc.constantFrom(
      '"',
      "\\",
      "/",
      "\n",
      "\u0000",
      "\u001f",
      "\u007f",
      "é",
      "\ud800",
      "\udfff",
      "😀",
      "\u2028",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constant("plain ".repeat(60)),
  );
  const text = fc.string({ unit, maxLength: 6 });

  it("is for a string what JSON.stringify gives", () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(encodeString(one)).toBe(JSON.stringify(one));
      }),
    );
  });
});

describe("decodeJson", () => {
  it("gives what JSON.parse gives for any JSON text", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const { value, duplicates } = decode(text);
        // large integers are read exactly, not as the nearest double
        expect(JSON.parse(encodeJson(value))).toEqual(JSON.parse(text));
        expect(duplicates).toEqual([]);
      }),
    );
  });

  it("reads the same whether the exact parser is used or not", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2, "\t", "\r\n "), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(JSON.parse(encodeJson(decodeExactly(text, 50).value))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("accepts and refuses the same texts as JSON.parse", () => {
    const character = fc.constantFrom(...'{}[]",:\\u0123e-+.truefalsn \n\t\u0001ü');
    const text = fc.string({ unit: character, maxLength: 12 });
    fc.assert(
      fc.property(text, (candidate) => {
        let valid = true;
        try {
          JSON.parse(candidate);
        } catch {
          valid = false;
        }
        const message = fault(candidate);
        // JSON.parse reads 1e999 as infinite, which this decoder refuses
        if (!message.endsWith("out of range")) expect(message === "no fault").toBe(valid);
      }),
      { numRuns: 5000 },
    );
  });

  it("refuses an escaped quote that never ends, in strings of any length", () => {
    for (const length of [0, 1, 46, 47, 48, 49, 50, 95, 96, 97, 200]) {
      const filler = "x".repeat(length);
      for (const tail of ["", '\\"', "\\\\", "\\n", '\\\\\\"']) {
        const good = `{"${filler}${tail}":"${filler}","b":{"c":1}}`;
        expect(decode(good).value).toEqual(JSON.parse(good));
        expect(fault(`["${filler}${tail}`)).toContain("never closed");
      }
    }
  });
});

describe("duplicate members", () => {
  const cases: readonly (readonly [string, readonly string[], unknown])[] = [
    ['{"a":1,"a":2}', ["a"], { a: 2 }],
    ['{"data":{"a":"1","b":"2","a":"3"}}', ["data.a"], { data: { a: "3", b: "2" } }],
    [
      '{"rules":[{"verbs":["a"],"verbs":["b"]},{"x":1,"x":2}]}',
      ["rules[0].verbs", "rules[1].x"],
      { rules: [{ verbs: ["b"] }, { x: 2 }] },
    ],
    ['[[{"a":1},{"a":1,"a":1}]]', ["[0][1].a"], [[{ a: 1 }, { a: 1 }]]],
    ['{"a":1,"a":2,"a":3}', ["a"], { a: 3 }],
    ['{"a":1,"\\u0061":2}', ["a"], { a: 2 }],
    ['{"a":{"b":1},"a":{"c":1}}', ["a"], { a: { c: 1 } }],
    ['{"__proto__":1,"__proto__":2}', ["__proto__"], JSON.parse('{"__proto__":2}')],
    ['{"a:b\\"":{"x":1},"y":[{"a":"::","a":"{"}]}', ["y[0].a"], { 'a:b"': { x: 1 }, y: [{ a: "{" }] }],
  ];
  it.each(cases)("C-4.8-03 finds them in %s", (text, duplicates, value) => {
    expect(decode(text)).toEqual({ value, duplicates });
  });

  it("C-4.8-08 finds every duplicate of any object, and the last one wins", () => {
    const names = fc.array(
      fc.constantFrom("a", "b", "c", "1", "0", "__proto__", "constructor", "\ud83d\ude00"),
    );
    fc.assert(
      fc.property(names, (list) => {
        const text = `{"in":{${list.map((name, index) => `${JSON.stringify(name)}:${index}`).join(",")}}}`;
        const expected = new Set(
          list.filter((name, index) => list.indexOf(name) < index).map((name) => `in.${name}`),
        );
        const { value, duplicates } = decode(text);
        expect(new Set(duplicates)).toEqual(expected);
        expect(value).toEqual(JSON.parse(text));
      }),
    );
  });

  it("lists no more than a bounded number", () => {
    const members = Array.from({ length: 300 }, (_, index) => `"k${index}":1,"k${index}":2`);
    expect(decode(`{${members.join(",")}}`).duplicates).toHaveLength(maxDuplicates);
  });

  it("lists no more than one path that is long by itself", () => {
    const members = Array.from({ length: 300 }, (_, index) => `"k${index}":1,"k${index}":2`);
    const name = "n".repeat(100_000);
    expect(decode(`{"${name}":{${members.join(",")}}}`).duplicates).toEqual([`${name}.k0`]);
  });

  it("lists the same path in repeated objects once", () => {
    expect(decode('{"x":[{"a":1,"a":1}],"x":[{"a":1,"a":1},{"a":1,"a":1}]}').duplicates).toEqual([
      "x[0].a",
      "x",
      "x[1].a",
    ]);
  });
});

describe("numbers", () => {
  const cases: readonly (readonly [string, number | bigint])[] = [
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["-9007199254740993", -9007199254740993n],
    ["9223372036854775807", 9223372036854775807n],
    ["18446744073709551615", 18446744073709551615n],
    ["1e20", 1e20],
    ["1.0", 1],
    ["0.1", 0.1],
    ["1e-400", 0],
  ];
  it.each(cases)("reads %s exactly", (text, value) => {
    expect(decode(`{"a":[${text}]}`).value).toEqual({ a: [value] });
  });

  it.each(["1e999", "-1e999", "9".repeat(400)])("refuses %s", (text) => {
    expect(fault(`[${text}]`)).toBe("line 1, column 2: the number is out of range");
  });

  it("writes integers as they were read", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
        const text = `{"a":[${integer}],"b":"x"}`;
        expect(encodeJson(decode(text).value)).toBe(text);
      }),
    );
  });
});

describe("faults", () => {
  it.each([
    ["", "line 1, column 1: a value expected, found the end of the text"],
    ["{", "line 1, column 2: a member's name in double quotes expected, found the end of the text"],
    ['{"a":1,}', `line 1, column 8: a member's name in double quotes expected, found "}"`],
    ['{\n "a": 1,\n "b" 2}', 'line 3, column 6: ":" expected, found "2"'],
    ["[1 2]", 'line 1, column 4: "," or "]" expected, found "2"'],
    ["[1}", 'line 1, column 3: "," or "]" expected, found "}"'],
    ['{"a":1} {}', 'line 1, column 9: the end of the text expected, found "{"'],
    ["[01]", 'line 1, column 3: "," or "]" expected, found "1"'],
    ["[tru]", 'line 1, column 2: a value expected, found "t"'],
    ['["a\nb"]', "line 1, column 4: a control character must be escaped in a string"],
    ['["a\\x"]', "line 1, column 4: unknown escape sequence in a string"],
    ['["abc', "line 1, column 2: this string is never closed"],
    ["\ufeff{}", 'line 1, column 1: a value expected, found "\ufeff"'],
  ])("names the place in %j", (text, message) => {
    expect(fault(text)).toBe(message);
  });

  it("names the place of bytes that aren't UTF-8", () => {
    expect(fault(Buffer.from([0x22, 0xc3, 0xbc, 0x0a, 0x61, 0xff, 0x22]))).toBe(
      "line 2, column 2: the text is not valid UTF-8",
    );
    expect(fault(Buffer.from([0x22, 0x61, 0xe2, 0x82]))).toBe(
      "line 1, column 3: the text is not valid UTF-8",
    );
  });

  it.each(["x", "ü", "€", "😀"])("names the place of a late one, behind many times %s", (part) => {
    const size = Buffer.byteLength(part);
    for (const place of [65_530, 65_536, 65_540, 131_072, 200_000]) {
      for (let shift = 0; shift < 6; shift++) {
        const count = Math.floor((place + shift) / size);
        const before = Buffer.from(`"${"a".repeat(shift)}${part.repeat(count)}`);
        const column = 2 + shift + part.length * count;
        for (const wrong of [[0xff], [0xe2, 0x82], [0x80, 0x80, 0x80, 0x80], [0xed, 0xa0, 0x80]]) {
          const text = Buffer.concat([before, Buffer.from(wrong), Buffer.from('"')]);
          expect(fault(text)).toBe(`line 1, column ${column}: the text is not valid UTF-8`);
        }
      }
    }
  });

  it("limits nesting", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(fault(nested(defaultMaxDepth))).toBe("no fault");
    expect(fault(nested(defaultMaxDepth + 1))).toContain("nested deeper than 200");
    expect(() => decodeJson(Buffer.from('{"a":{}}'), { maxDepth: 1 })).toThrow("nested deeper than 1");
  });

  it("replaces unpaired surrogates", () => {
    expect(decode('["\\ud800x","\\ud83d\\ude00"]').value).toEqual(["\ufffdx", "\ud83d\ude00"]);
  });
});

describe("hostile texts of 3 MiB", () => {
  const size = 3 * 1024 * 1024;
  const fill = (part: string) => part.repeat(Math.floor(size / part.length));
  const texts: Record<string, () => string | Buffer> = {
    "open arrays": () => fill("["),
    "open objects": () => fill('{"a":'),
    "a million members": () =>
      `{${Array.from({ length: 250_000 }, (_, index) => `"k${index}":1`).join(",")}}`,
    "the same member": () => `{${fill('"a":1,')}"a":1}`,
    "the same member of an object with a long name": () =>
      `{"${"n".repeat(size / 2)}":{${'"a":1,'.repeat(100_000)}"a":1}}`,
    "the same member of many objects below a long name": () =>
      `{"${"n".repeat(size / 2)}":{${'"x":{"a":1,"a":1},'.repeat(50_000)}"x":1}}`,
    "a long number": () => fill("9"),
    "a long string": () => `"${fill("x")}"`,
    "escaped quotes": () => `"${fill('\\"')}"`,
    "long runs between escapes": () => `"${fill(`${"x".repeat(60)}\\n`)}"`,
    "strings never closed": () => fill('"\\"'),
    "white space": () => fill(" "),
    colons: () => fill(":"),
    surrogates: () => `"${fill("\\ud800")}"`,
    "a string that is never closed": () => `"${fill("ü")}`,
    "a late byte that isn't UTF-8": () =>
      Buffer.concat([Buffer.from(`"${fill("ü")}`), Buffer.from([0xff, 0x22])]),
  };
  it.each(Object.keys(texts))("are read or refused in linear time: %s", (name) => {
    const bytes = Buffer.from(texts[name]!() as string);
    const usedMs = cpuStopwatch();
    try {
      decodeJson(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxFault);
    }
    expect(usedMs()).toBeLessThan(3000);
  });
});

describe("values", () => {
  it("keeps __proto__ an ordinary member", () => {
    const { value } = decode('{"a":{"__proto__":{"polluted":true}},"constructor":1}');
    const object = value as JsonObject;
    expect(({} as JsonObject)["polluted"]).toBeUndefined();
    expect((object["a"] as JsonObject)["polluted"]).toBeUndefined();
    const copy = deepClone(object);
    expect(encodeJson(copy)).toBe('{"a":{"__proto__":{"polluted":true}},"constructor":1}');
    expect(getMember({}, "toString")).toBeUndefined();
    const set: JsonObject = {};
    setMember(set, "__proto__", { x: 1 });
    expect(Object.keys(set)).toEqual(["__proto__"]);
    expect(deepEqual(set, JSON.parse('{"__proto__":{"x":1}}'))).toBe(true);
  });

  it("clones without sharing, and equals its clone", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = deepClone(value as JsonValue);
        expect(deepEqual(copy, value as JsonValue)).toBe(true);
        if (typeof value === "object" && value !== null) expect(copy).not.toBe(value);
      }),
    );
  });

  it.each<readonly [JsonValue, JsonValue, boolean]>([
    [1, 1n, true],
    [2n ** 60n, 2 ** 60, true],
    [2n ** 60n + 1n, 2 ** 60, false],
    [1, "1", false],
    [null, {}, false],
    [[], {}, false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [{ a: 1 }, { b: 1 }, false],
    [{ toString: 1 }, { a: 1 }, false],
    [[1, 2], [2, 1], false],
    [0.5, 0n, false],
  ])("compares %o with %o", (a, b, equal) => {
    expect(deepEqual(a, b)).toBe(equal);
    expect(deepEqual(b, a)).toBe(equal);
  });
});

describe("what the server wrote", () => {
  it("may have more values than a body, and is exact all the same", () => {
    const items = Array.from({ length: 250_000 }, () => "1").join(",");
    const value = decodeTrusted(Buffer.from(`{"n":9007199254740993,"items":[${items}]}`)) as Record<
      string,
      unknown
    >;
    expect(value["n"]).toBe(9007199254740993n);
    expect(value["items"]).toHaveLength(250_000);
  });
});
