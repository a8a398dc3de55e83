import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { SyntaxFault } from "../../src/base/json/syntax-fault.ts";
import type { JsonValue } from "../../src/base/json/value.ts";
import { decodeSimpleYaml } from "../../src/base/yaml/simple-yaml.ts";
import { decodeYaml } from "../../src/base/yaml/yaml.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const depth = 10_000;
/** With a smaller depth than the simple parser needs, the complete one reads the text. */
const completeDepth = 95;

async function complete(text: string): Promise<JsonValue | "fault" | "duplicates"> {
  try {
    const { value, duplicates } = await decodeYaml(Buffer.from(text), { maxDepth: completeDepth });
    return duplicates.length > 0 ? "duplicates" : value;
  } catch (error) {
    if (error instanceof SyntaxFault) return "fault";
    throw error;
  }
}

/** What is inserted into texts: each character with a meaning. */
const insertions = [
  ..." :-#\"'{}[],|>&*!?%@`~\n\t\\<",
  ": ",
  "- ",
  " #",
  "|+\n",
  "''",
  "\\n",
  "---\n",
  "<<: ",
  "\n  ",
  "y",
  "1_0",
];

describe("decodeSimpleYaml", () => {
  const simple: readonly string[] = [
    "a: 1\nb:\n  c: [x, 'y''z', \"\\n\", {d: e:f, \"g\":h}] # comment\n",
    "# comment\n---\na:\n- b: 1\n  c: yes\n-\n- - 2\n  - 3\n- d\n",
    "a: |\n\n  x\n    y\n\nb: >-\n  p\n  q\n\n  r\nc: |+\n  z\n\nd: 1\n",
    "a: one\n  two\n\n  three\nb: 'four\n  five: six\n\n  seven'\nc: \"eight\n  nine\\n\"\n",
    "a:\nb: ~\n'c': null\n\"d\": 0x1F\n8080: -1.5\non: 12345678901234567890\n",
    "a:\n# comment\n  b: x # y\n  # z\nc: x#y\n",
  ];

  it.each(simple)("reads %j as the complete parser does", async (text) => {
    const value = decodeSimpleYaml(text, depth);
    expect(value).toBeDefined();
    expect(value).toEqual(await complete(text));
  });

  const others: readonly (readonly [string, string])[] = [
    ["an anchor", "a: &x 1\nb: *x\n"],
    ["a tag", "a: !!str 1\n"],
    ["a merge key", "a:\n  <<: {b: 1}\n"],
    ["a repeated member", "a: 1\na: 2\n"],
    ["a repeated member in a line", "a: {b: 1, b: 2}\n"],
    ["a tab", "a:\n\tb: 1\n"],
    ["a carriage return", "a: 1\r\nb: 2\r\n"],
    ["a directive", "%YAML 1.1\n---\na: 1\n"],
    ["a second document", "a: 1\n---\nb: 2\n"],
    ["an explicit key", "? a\n: b\n"],
    ["a deeper line", "a: 1\n  b: 2\n"],
    ["a line between two levels", "a:\n    b: 1\n  c: 2\n"],
    ["a mapping in a line of another", "a: b: c\n"],
    ["a comment without a space", "a: 'x'#c\n"],
    ["a quote without its end", "a: 'x\nb: 1\n"],
    ["an infinite number", "a: .inf\n"],
    ["a folded scalar with a deeper line", "a: >\n  x\n    y\n  z\nb: 1\n"],
    ["the member __proto__", "__proto__:\n  a: 1\n"],
    ["a text", "a\n"],
    ["no content", "# a\n"],
    ["deep blocks", Array.from({ length: 70 }, (_, at) => `${" ".repeat(at)}a:\n`).join("")],
    ["a long text", `a: ${"x".repeat(600_000)}\n`],
  ];

  it.each(others)("leaves %s to the complete parser", (_, text) => {
    expect(decodeSimpleYaml(text, depth)).toBeUndefined();
  });

  it("reads nothing where less depth is allowed than it may use", () => {
    expect(decodeSimpleYaml("a: 1\n", completeDepth)).toBeUndefined();
  });

  const member = fc.oneof(
    fc.stringMatching(/^[a-z][a-z0-9./-]{0,8}$/),
    fc.string({ maxLength: 8 }),
    fc.constantFrom("y", "8080", "null", "1.5"),
  );
  const { value } = fc.letrec<{ value: JsonValue; object: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.oneof(
        fc.string({ maxLength: 12 }),
        fc.lorem({ maxCount: 30 }),
        fc.array(fc.lorem({ maxCount: 5 }), { maxLength: 4 }).map((lines) => lines.join("\n")),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.constantFrom("on", "0777", "a: b", "# c", "- d", "e\n\n", " f", "g ", "'", '"', "1e3", "{{x}}"),
      ),
      fc.array(tie("value"), { maxLength: 4 }),
      tie("object"),
    ),
    object: fc.dictionary(member, tie("value"), { maxKeys: 4 }) as fc.Arbitrary<JsonValue>,
  }));
  const options = fc.record({
    indentSeq: fc.boolean(),
    lineWidth: fc.constantFrom(0, 40, 80),
    defaultStringType: fc.constantFrom("PLAIN" as const, "QUOTE_SINGLE" as const, "QUOTE_DOUBLE" as const),
  });
  const text = fc
    .tuple(fc.dictionary(member, value, { minKeys: 1, maxKeys: 4 }), options)
    .map(([content, form]) => stringify(content, form));
  const edits = fc.array(
    fc.tuple(fc.nat(), fc.oneof(fc.constantFrom(...insertions), fc.integer({ min: 1, max: 3 }))),
    { maxLength: 3 },
  );

  it("reads what it reads as the complete parser does, also where the text is damaged", async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(text, edits, async (original, changes) => {
        let damaged = original;
        for (const [place, change] of changes) {
          const at = place % (damaged.length + 1);
          const [inserted, removed] = typeof change === "number" ? ["", change] : [change, 0];
          damaged = damaged.slice(0, at) + inserted + damaged.slice(at + removed);
        }
        const result = decodeSimpleYaml(damaged, depth);
        if (result === undefined) return;
        count++;
        expect(result).toEqual(await complete(damaged));
      }),
      { numRuns: 1500 },
    );
    expect(count).toBeGreaterThan(200);
  });

  it.each([
    ["lines in single quotes", `a: '${"x''\n".repeat(100_000)}`],
    ["lines in double quotes", `a: "${'\\"x\n'.repeat(100_000)}`],
    ["escapes in a line", `a: "${"\\x".repeat(200_000)}"\n`],
    ["quotes in a line", `a: '${"'".repeat(400_000)}\n`],
    ["lines of a plain scalar", `a: x\n${" y\n".repeat(150_000)}`],
    ["blank lines", `a: |\n${"\n".repeat(500_000)}`],
    ["spaces", `a: x\n${" ".repeat(500_000)}y: 1\n`],
    ["brackets", `a: ${"[".repeat(500_000)}\n`],
    ["dashes", `${"- ".repeat(250_000)}\n`],
    ["names", `${"a".repeat(500_000)}: 1\n`],
    ["comments", `${"#\n".repeat(250_000)}`],
  ])("needs linear time for %s", (_, hostile) => {
    const elapsed = cpuStopwatch();
    decodeSimpleYaml(hostile, depth);
    expect(elapsed()).toBeLessThan(1000);
  });
});
