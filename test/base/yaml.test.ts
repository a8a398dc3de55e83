import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { encodeJson } from "../../src/base/json/encode.ts";
import { SyntaxFault } from "../../src/base/json/syntax-fault.ts";
import type { JsonValue } from "../../src/base/json/value.ts";
import { decodeYaml } from "../../src/base/yaml/yaml.ts";
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

describe("YAML of the reference", () => {
  it.each<[text: string, value: JsonValue, what: string]>([
    ["a: 'one\n  two'", "one two", "single quotes, indented"],
    ["a:\n  b: 'one\n  two'", { b: "one two" }, "a line at the column of its key"],
    ['a:\n  b: "one\n  two"', { b: "one two" }, "double quotes"],
    ["a:\n  b: 'one\ntwo'", { b: "one two" }, "a line left of its key"],
    ['a:\n  b: "one\\\ntwo"', { b: "onetwo" }, "an escaped line end"],
    ["a:\n  b: '{\n  \"x\": 1\n}'\n  c: 1", { b: '{ "x": 1 }', c: 1 }, "a member after it"],
    ["a:\n- 'one\ntwo'\n- x", ["one two", "x"], "an item"],
    [String.raw`a: "x\\/y"`, String.raw`x\/y`, "an escaped backslash before a slash"],
    ["a: [\n1,\n2\n]", [1, 2], "a bracket at the column of its key"],
    ["a:\n  b: [\n  1\n  ]\n  c: {\nd: [\n]\n}\n", { b: [1], c: { d: [] } }, "brackets left of the key"],
    ["a: [one\ntwo]", ["one two"], "an unquoted text in brackets"],
    ["a: [001:db8::]", ["001:db8::"], "a colon before a closing bracket"],
    ["a: [x:, y::\n]", ["x:", { "y:": null }], "colons before a comma and a line end"],
    ["a: { b: x:, c:}", { b: "x:", "c:": null }, "a colon before a closing brace"],
    ["a: [?x, ? w : z]", [{ x: null }, { w: "z" }], "a question mark before a key"],
    ["a: [x:\ny z # b:\n]", [{ x: "y z" }], "a value in the next line"],
    ["a: 'x'#c", "x", "a comment without a space"],
    ["a: [x]#c", ["x"], "a comment after a bracket"],
    ["a: x#c", "x#c", "no comment"],
    ["a: x\r# c\rb: 2", "x", "lines that end with CR"],
    ["a: x\u0085# c\u0085b: 2", "x", "lines that end with NEL"],
    ["a: 'x\u0085y'", "x y", "a folded NEL"],
    ["\uFEFFa: x", "x", "a byte order mark"],
  ])("reads %j as %j: %s", async (text, value) => {
    expect(((await decode(text)) as { a: JsonValue }).a).toEqual(value);
  });

  it.each([
    ["a: 'x\n---\ny'", "missing closing 'quote"],
    ["a: [x\n---\ny]", "must be sufficiently indented and end with a ]"],
    ["a: 'x", "missing closing 'quote"],
    ["a: 'x'y", "unexpected scalar"],
    ["a: b: c", "nested mappings are not allowed"],
    ["a: [x, ::1]", "line 1, column 8: a value in brackets can't begin with a colon; put it in quotes"],
    ["a: [x?y]", "missing , between flow sequence items"],
    ["a: { b:{ c: d } }", "missing , or : between flow map items"],
    [String.raw`a: "x\/y"`, String.raw`invalid escape sequence \/`],
    [String.raw`a: ["x\\\/y"]`, String.raw`invalid escape sequence \/`],
  ])("refuses %j", async (text, message) => {
    expect(await fault(text)).toContain(message);
  });

  it("reads UTF-16 with a byte order mark", async () => {
    const little = Buffer.from("\uFEFFa: é€😀\n", "utf16le");
    const big = Buffer.from(little).swap16();
    for (const bytes of [little, big]) expect((await decodeYaml(bytes)).value).toEqual({ a: "é€😀" });
    await expect(decodeYaml(little.subarray(0, -1))).rejects.toThrow("not valid UTF-16");
  });
});

describe("a large text, which is composed in parts", () => {
  const filler = Array.from(
    { length: 400 },
    (_, i) => `    f${i}: {b: [${i}], c: a text of some length}\n`,
  ).join("");

  it("is read as a small one", async () => {
    const value = fc.jsonValue({ maxDepth: 5, noUnicodeString: false });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.string(), value), { minLength: 1, maxLength: 20 }),
        async (parts) => {
          // The repetition makes it large; the nesting makes large values within large values.
          const items = Array.from({ length: 60 }, (_, i) => ({
            [`k${i}`]: parts,
            list: parts.map(([, v]) => v),
          }));
          const text = stringify({ spec: { items, last: parts } }, { version: "1.1" });
          expect(JSON.parse(encodeJson(await decode(text)))).toEqual(
            JSON.parse(JSON.stringify({ spec: { items, last: parts } })),
          );
        },
      ),
      { numRuns: 8 },
    );
  });

  it("keeps duplicates, anchors, merge keys, comments and the position of faults", async () => {
    const text = (rest: string) => `# c\na: &x {b: 1}\nspec:\n  # d\n  big:\n${filler}${rest}`;
    const { value, duplicates: names } = await decodeYaml(
      Buffer.from(text("    f1: 2\n    f2: *x\n    <<: *x\n  big: 3\nspec: 4 # e\n")),
    );
    expect(names).toEqual(["spec.big.f1", "spec.big.f2", "spec.big", "spec"]);
    expect(value).toEqual({ a: { b: 1 }, spec: 4 });
    const kept = (await decode(text("    f2: *x\n    <<: *x\n"))) as {
      spec: { big: Record<string, JsonValue> };
    };
    expect(kept.spec.big).toMatchObject({ f1: { b: [1] }, f2: { b: 1 }, b: 1 });
    expect(await fault(text("    bad: [\n"))).toMatch(/^line 407, column 1: flow sequence/);
    expect(await fault(text("   bad: 1\n"))).toMatch(/^line 406, column 1: all mapping items must start/);
    expect(await fault(text("    bad: *y\n"))).toBe(
      "line 406, column 10: alias *y has no anchor &y before it",
    );
    expect(await fault(`a: b:\n${filler}`)).toContain("nested mappings are not allowed");
    expect(await fault(`${text("")}---\nb: 1\n`)).toContain("found a second");
    expect(await decode(`%YAML 1.1\n---\nspec:\n${filler}`)).toHaveProperty("spec.f399.b", [399]);
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
    expect(message).toMatch(/nested deeper|too large|too many|unexpected flow-map-end token/);
    expect(usedMs()).toBeLessThan(3000);
  });

  it.each([
    ["escapes in a string", `a: "${"\\q".repeat(long)}"`, "line 1, column 5: invalid escape sequence \\q"],
    ["closing braces", `a: [${"}".repeat(75_000)}]`, "line 1, column 6: unexpected flow-map-end token"],
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

  it("has a size up to which all is read", async () => {
    const items = (count: number) => `a:\n${"- x\n".repeat(count)}`;
    const { a } = (await decode(items(190_000))) as { a: string[] };
    expect([a.length, a.every((item) => item === "x")]).toEqual([190_000, true]);
    expect(await fault(items(205_000))).toContain("the YAML is too large; send it as JSON");
    const lines = (count: number) => `a: |\n${"  x\n".repeat(count)}`;
    expect(await decode(lines(700_000))).toEqual({ a: "x\n".repeat(700_000) });
    expect(await fault("\n".repeat(1_000_001))).toBe(
      "line 1000001, column 1: the YAML is too large; send it as JSON",
    );
    expect(await fault("---\n".repeat(2000))).toContain("too large");
  });

  it("reads flow collections and values with an anchor or a tag up to a smaller size", async () => {
    for (const before of ["a: [", "a: &x\n  - [", "a: !!seq\n  - [", "--- &x\n- ["]) {
      expect(await fault(`${before}${"x,".repeat(20_000)}]`)).toBe("no fault");
      expect(await fault(`${before}${"x,".repeat(45_000)}]`)).toContain("too large");
    }
  });

  it("yields while it reads a large definition", async () => {
    const field = (index: number) =>
      `      field${index}:\n        description: Field ${index} of many.\n        properties:\n` +
      "          name:\n            type: string\n        type: object\n";
    const text = `spec:\n  versions:\n  - name: v1\n    schema:\n${Array.from({ length: 8000 }, (_, i) => field(i)).join("")}`;
    // Processor time, because other programs interrupt turns.
    let longestMs = 0;
    let usedMs = cpuStopwatch();
    let isDone = false;
    const turn = (): void => {
      longestMs = Math.max(longestMs, usedMs());
      usedMs = cpuStopwatch();
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    const value = (await decode(text)) as { spec: { versions: { schema: object }[] } };
    isDone = true;
    expect(Object.keys(value.spec.versions[0]!.schema)).toHaveLength(8000);
    expect(longestMs).toBeLessThan(150);
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
