import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateInstructions, compileLinear } from "../../src/base/linear-expressions.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const atom = fc.constantFrom(
  "a",
  ".",
  "[a-z]",
  "[^]x]",
  "[[:alpha:]_]",
  "[\\]]",
  "\\d",
  "\\pL",
  "\\p{Greek}",
  "\\x{41}",
  "\\Qa.b\\E",
  "{",
  "^",
  "$",
  "\\b",
);
const suffix = fc.constantFrom("", "", "*", "+", "?", "*?", "{2}", "{3,}", "{0,4}", "{2,5}", "{0}");

const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc
    .array(
      fc.tuple(
        fc.oneof(
          { maxDepth: 3 },
          atom,
          tie("pattern").map((inner) => `(${inner})`),
          tie("pattern").map((inner) => `(?:${inner})`),
          tie("pattern").map((inner) => `(?P<n>${inner})`),
        ),
        suffix,
        fc.constantFrom("", "", "|"),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.flat().join("")),
}));

test("the estimate is at least the size of the program", () => {
  fc.assert(
    fc.property(pattern, (source) => {
      let expression: ReturnType<typeof compileLinear>;
      try {
        expression = compileLinear(source, Infinity);
      } catch {
        // The library refuses some, such as two groups of one name.
        return;
      }
      expect(estimateInstructions(source), source).toBeGreaterThanOrEqual(expression.programSize());
    }),
    { numRuns: 3000 },
  );
});

test("a pattern whose program is too large is refused at once", () => {
  for (const source of [
    "(\\pL{1,1000})".repeat(500),
    "[^a]{1000}".repeat(1000),
    "((a{10}){10}){10}".repeat(50),
  ]) {
    const usedMs = cpuStopwatch();
    expect(() => compileLinear(source, 10_000)).toThrow(
      /expression too large: about \d+ instructions, at most 10000/,
    );
    expect(usedMs()).toBeLessThan(100);
  }
});

test("usual patterns are estimated at a small multiple of their program", () => {
  for (const source of [
    "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$",
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
  ]) {
    const size = compileLinear(source, 10_000).programSize();
    expect(estimateInstructions(source)).toBeLessThan(2 * size);
  }
});

test.each(["", "\\", "[", "(", "a{", "a{1", "\\Q", "\\p{", "[^", "[[:", ")", "(((", "{1000}", "*"])(
  "an incomplete pattern is measured (%j)",
  (source) => expect(estimateInstructions(source)).toBeGreaterThan(0),
);
