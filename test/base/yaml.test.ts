import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeJson } from "../../src/base/json/encode.ts";
import { SyntaxFault } from "../../src/base/json/syntax-fault.ts";
import type { JsonValue } from "../../src/base/json/value.ts";
import { decodeYaml } from "../../src/base/yaml.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const decode = async (text: string): Promise<JsonValue> => (await decodeYaml(Buffer.from(text))).value;
const duplicates = async (text: string) => (await decodeYaml(Buffer.from(text))).duplicates;
const fault = async (text: string): Promise<string> => {
  try {
    await decodeYaml(Buffer.from(text));
    return "no fault";
  } catch (error) {
    if (error instanceof SyntaxFault) return error.message;
    throw error;
  }
};

describe("decodeYaml", () => {
  it("C-4.7-12 reads JSON bodies and YAML bodies alike", async () => {
    const expected = { apiVersion: "v1", data: { a: "1", b: "x\ny\n" }, list: [1, { c: true }, []] };
    expect(await decode(JSON.stringify(expected))).toEqual(expected);
    expect(
      await decode(
        '---\napiVersion: v1\ndata:\n  a: "1"\n  b: |\n    x\n    y\nlist:\n- 1\n- c: true\n- []\n',
      ),
    ).toEqual(expected);
    expect(
      await decode("{apiVersion: v1, data: {a: '1', b: \"x\\ny\\n\"}, list: [1, {c: yes}, []]}"),
    ).toEqual(expected);
  });

  it("reads any JSON text as JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4, noUnicodeString: false }), async (value) => {
        const text = JSON.stringify({ value });
        expect(JSON.parse(encodeJson(await decode(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  const scalars: readonly (readonly [string, JsonValue])[] = [
    ["yes", true],
    ["Yes", true],
    ["YES", true],
    ["y", true],
    ["on", true],
    ["true", true],
    ["TRUE", true],
    ["no", false],
    ["n", false],
    ["Off", false],
    ["false", false],
    ["yEs", "yEs"],
    ["~", null],
    ["null", null],
    ["", null],
    ["nULL", "nULL"],
    ["'yes'", "yes"],
    ['"1"', "1"],
    ["!!str yes", "yes"],
    ["!!str 1", "1"],
    ["!!int '7'", 7],
    ["!!float 2", 2],
    ["!custom 5", "5"],
    ["0", 0],
    ["-7", -7],
    ["+7", 7],
    ["0777", 511],
    ["0o17", 15],
    ["0x1F", 31],
    ["0b101", 5],
    ["-0x10", -16],
    ["1_000", 1000],
    ["089", 89],
    ["9007199254740993", 9007199254740993n],
    ["18446744073709551615", 18446744073709551615n],
    ["1.5", 1.5],
    ["1.", 1],
    [".5", 0.5],
    ["1e3", 1000],
    ["-2.5E-1", -0.25],
    ["1.2.3", "1.2.3"],
    ["12:30:45", "12:30:45"],
    ["2001-12-14", "2001-12-14"],
    ["2001-12-14T21:59:43Z", "2001-12-14T21:59:43Z"],
    ["-", "-"],
    ["+", "+"],
    ["1Gi", "1Gi"],
    [".", "."],
    ["!!binary aGVsbG8=", "hello"],
    ["a b", "a b"],
    ["<<", "<<"],
  ];
  it.each(scalars.filter(([source]) => source !== "-"))(
    "reads the scalar %j as %o",
    async (source, value) => {
      expect(await decode(`a: ${source}`)).toEqual({ a: value });
    },
  );

  it("makes strings of members' names", async () => {
    expect(await decode("1: a\ntrue: b\n1.5: c\ny: d\n'e': f\n0x10: g")).toEqual({
      "1": "a",
      true: "d",
      "1.5": "c",
      e: "f",
      "16": "g",
    });
    expect(await fault("? [a]\n: b")).toBe(
      "line 1, column 3: the name of a member must be a string, a number or a boolean",
    );
    expect(await fault("~: b")).toContain("the name of a member");
  });

  it("reads an empty text as null", async () => {
    expect(await decode("")).toBeNull();
    expect(await decode("# nothing\n---\n")).toBeNull();
  });

  it("takes one document", async () => {
    expect(await decode("---\na: 1\n---\n")).toEqual({ a: 1 });
    expect(await decode("# c\n---\n---\na: 1\n...\n")).toEqual({ a: 1 });
    expect(await fault("a: 1\n---\nb: 2\n")).toBe(
      "line 3, column 1: one YAML document is expected, found a second",
    );
  });

  it("C-4.8-08 lists duplicate members, the last one wins", async () => {
    const text = "data:\n  a: 1\n  a: 2\nrules:\n- verbs: [x]\n  verbs: [z]\n- {b: 1, b: 2}\n";
    expect(await duplicates(text)).toEqual(["data.a", "rules[0].verbs", "rules[1].b"]);
    expect(await decode(text)).toEqual({ data: { a: 2 }, rules: [{ verbs: ["z"] }, { b: 2 }] });
    expect(await duplicates('{"a":1,"a":2}')).toEqual(["a"]);
    expect(await duplicates("yes: 1\ntrue: 2")).toEqual(["true"]);
  });

  it("expands aliases into copies", async () => {
    const value = (await decode("a: &x {b: [1]}\nc: *x\n")) as { a: object; c: object };
    expect(value).toEqual({ a: { b: [1] }, c: { b: [1] } });
    expect(value.a).not.toBe(value.c);
    expect(await decode("a: &x 1\nb: *x\nc: &x 2\nd: *x")).toEqual({ a: 1, b: 1, c: 2, d: 2 });
    expect(await fault("a: *x")).toBe("line 1, column 4: alias *x has no anchor &x before it");
    expect(await fault("a: &x\n  b: *x")).toContain("no anchor &x");
  });

  it("applies merge keys, explicit members first", async () => {
    expect(await decode("d: &d {a: 1, b: 2}\ne:\n  b: 3\n  <<: *d\n")).toEqual({
      d: { a: 1, b: 2 },
      e: { a: 1, b: 3 },
    });
    expect(await decode("d: &d {a: 1}\nf: &f {a: 2, c: 3}\ne:\n  <<: [*d, *f]\n")).toMatchObject({
      e: { a: 1, c: 3 },
    });
    expect(await decode("'<<': 1")).toEqual({ "<<": 1 });
    expect(await fault("<<: 1")).toBe("line 1, column 1: << merges only mappings");
  });

  it("keeps __proto__ an ordinary member", async () => {
    const value = await decode("__proto__:\n  polluted: true\n");
    expect(Object.keys(value as object)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it.each([
    ["a: [1", "line 1, column 6: "],
    ["a: 1\n b: 2", "line 1, column 4: "],
    ["a: .inf", "line 1, column 4: .inf has no JSON form"],
    ["a: .NaN", "line 1, column 4: .NaN has no JSON form"],
    ["a: 1e999", "line 1, column 4: the number is out of range"],
    ["a: !!int x", 'line 1, column 10: "x" isn\'t an integer, as its tag says'],
    ["\ta: 1", "line 1, column 1: tabs are not allowed as indentation"],
  ])("names the place of the fault in %j", async (text, message) => {
    expect(await fault(text)).toContain(message);
  });
});

describe("hostile YAML", () => {
  const laughs = Array.from({ length: 9 }, (_, level) => {
    const items = level === 0 ? "lol" : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array(9).fill(items).join(",")}]`;
  });
  const long = 500_000;
  const texts: Record<string, string> = {
    "billion laughs": laughs.join("\n"),
    "a long string doubled": `a0: &a0 ${"x".repeat(1000)}\n${Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join("\n")}`,
    "merge laughs": Array.from(
      { length: 2000 },
      (_, i) => `a${i}: &a${i}\n  k${i}: 1${i > 0 ? `\n  <<: *a${i - 1}` : ""}`,
    ).join("\n"),
    "flow sequences": "[".repeat(long),
    "flow mappings": "{a: ".repeat(long),
    "sequences in a line": "- ".repeat(long),
    "keys in a line": "? ".repeat(long),
    "deep indentation": Array.from({ length: 1500 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join(""),
    "very many members": "a: b\n".repeat(long),
    "very many documents": "---\n".repeat(long),
    "very many errors": "a: }\n".repeat(long),
  };
  it.each(Object.keys(texts))("is refused in time: %s", async (name) => {
    const usedMs = cpuStopwatch();
    const message = await fault(texts[name]!);
    expect(message).toMatch(/nested deeper|too large|too many/);
    expect(usedMs()).toBeLessThan(3000);
  });

  it.each([
    ["escapes in a string", `a: "${"\\q".repeat(long)}"`, "line 1, column 5: invalid escape sequence \\q"],
    ["closing braces", `a: [${"}".repeat(75_000)}]`, "line 1, column 5: flow sequence in block collection"],
    ["members", "a: }\n".repeat(10_000), "line 1, column 4: unexpected flow-map-end token"],
  ])("is refused at the first of very many faults: %s", async (_what, text, message) => {
    const usedMs = cpuStopwatch();
    expect(await fault(text)).toContain(message);
    expect(usedMs()).toBeLessThan(500);
  });

  it("reads the same member of an object with a long name in linear time", async () => {
    const usedMs = cpuStopwatch();
    const name = "n".repeat(1_000_000);
    expect(await duplicates(`? ${name}\n:\n${"  a: 1\n".repeat(8000)}`)).toEqual([`${name}.a`]);
    expect(usedMs()).toBeLessThan(2000);
  });

  it("has a size up to which all is read, and quickly", async () => {
    const usedMs = cpuStopwatch();
    const items = (count: number) => `a:\n${"- x\n".repeat(count)}`;
    expect(await decode(items(15_000))).toEqual({ a: Array(15_000).fill("x") });
    expect(await fault(items(16_500))).toContain("the YAML is too large; send it as JSON");
    const lines = (count: number) => `a: |\n${"  x\n".repeat(count)}`;
    expect(await decode(lines(99_000))).toEqual({ a: "x\n".repeat(99_000) });
    expect(await fault(lines(101_000))).toBe("line 100001, column 4: the YAML is too large; send it as JSON");
    expect(await fault("---\n".repeat(2000))).toContain("too large");
    expect(usedMs()).toBeLessThan(2000);
  });

  it("allows the depth that JSON is allowed", async () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(await fault(nested(200))).toBe("no fault");
    expect(await fault(nested(201))).toContain("nested deeper than 200");
    const blocks = (depth: number) =>
      Array.from({ length: depth }, (_, level) => `${" ".repeat(level)}a:\n`).join("");
    expect(await fault(blocks(200))).toBe("no fault");
    expect(await fault(blocks(201))).toContain("nested deeper than 200");
  });
});
