import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Quantity,
  type QuantityFormat,
  QuantityFault,
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityOf,
} from "../../src/base/quantity.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

describe("canonical form", () => {
  it.each([
    ["0", "0"],
    ["-0", "0"],
    ["0Ki", "0"],
    ["0e3", "0"],
    ["1", "1"],
    ["+1", "1"],
    ["-1", "-1"],
    ["001", "1"],
    ["1.", "1"],
    [".5", "500m"],
    ["0.5", "500m"],
    ["1.5", "1500m"],
    ["1000m", "1"],
    ["1000", "1k"],
    ["1500", "1500"],
    ["1000k", "1M"],
    ["1000000000000000000", "1E"],
    ["0.1", "100m"],
    ["100u", "100u"],
    ["1n", "1n"],
    ["0.1n", "1n"],
    ["-0.1n", "-1n"],
    ["1.0000000001", "1000000001n"],
    ["1E", "1E"],
    ["9E", "9E"],
    ["10E", "9223372036854775807"],
    ["-10E", "-9223372036854775807"],
    ["8Ei", "9223372036854775807"],
    ["1Ki", "1Ki"],
    ["1024Ki", "1Mi"],
    ["1.5Ki", "1536"],
    ["1.5Mi", "1536Ki"],
    ["0.5Ki", "512"],
    ["1023Ki", "1023Ki"],
    ["1.1Ki", "1127"],
    ["0.0001Ki", "102400u"],
    ["7Ei", "7Ei"],
    ["1e3", "1e3"],
    ["1E3", "1e3"],
    ["1e2", "100"],
    ["1e-1", "100e-3"],
    ["12e6", "12e6"],
    ["1e4", "10e3"],
    ["1e+3", "1e3"],
    ["1e-9", "1e-9"],
    ["1e-999999999999999999", "1e-9"],
    ["1e999999999999999999", "9223372036854775807"],
    ["0e999999999999999999", "0"],
  ])("of %s is %s", (text, canonical) => {
    expect(formatQuantity(parseQuantity(text))).toBe(canonical);
  });

  it.each([
    "",
    " 1",
    "1 ",
    ".",
    "+",
    "-",
    "Ki",
    "m",
    "1.2.3",
    "1ki",
    "1KI",
    "1K",
    "1Gi1",
    "1mm",
    "1e",
    "1e1.5",
    "1e3m",
    "--1",
    "1,5",
    "0x10",
    "1_000",
    "NaN",
    "1".repeat(600),
    "1\n",
  ])("of %j doesn't exist", (text) => {
    expect(() => parseQuantity(text)).toThrow(QuantityFault);
  });

  it("takes no long time over hostile texts", () => {
    const usedMs = cpuStopwatch();
    for (const text of ["1".repeat(3_000_000), `1e${"9".repeat(3_000_000)}`, ".".repeat(3_000_000)]) {
      expect(() => parseQuantity(text)).toThrow(QuantityFault);
    }
    expect(usedMs()).toBeLessThan(200);
  });
});

const format = fc.constantFrom<QuantityFormat>("DecimalSI", "BinarySI", "DecimalExponent");
const nanos = fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n });
const quantity: fc.Arbitrary<Quantity> = fc.record({ nanos, format });
const text = fc
  .tuple(
    fc.constantFrom("", "-", "+"),
    fc.integer({ min: 0, max: 99_999 }),
    fc.constantFrom("", ".", ".5", ".125", ".0001"),
    fc.constantFrom(
      "",
      "n",
      "u",
      "m",
      "k",
      "M",
      "G",
      "T",
      "P",
      "E",
      "Ki",
      "Mi",
      "Gi",
      "Ti",
      "Pi",
      "Ei",
      "e0",
      "e3",
      "E-3",
      "e+5",
    ),
  )
  .map((parts) => parts.join(""));

describe("laws", () => {
  it("the canonical text says the same, and is canonical", () => {
    fc.assert(
      fc.property(text, (given) => {
        const once = parseQuantity(given);
        const canonical = formatQuantity(once);
        const again = parseQuantity(canonical);
        // A binary quantity that no suffix fits is written without one, and read as a decimal.
        expect(formatQuantity({ ...again, format: once.format })).toBe(canonical);
        // Only fractions above 1024 with a binary suffix are rounded.
        if (once.format !== "BinarySI") expect(again.nanos).toBe(once.nanos);
        else expect(again.nanos - once.nanos < 10n ** 9n).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("canonical text has no fraction and no larger suffix would do", () => {
    fc.assert(
      fc.property(quantity, (given) => {
        expect(formatQuantity(given)).toMatch(/^(0|-?[1-9][0-9]*([KMGTPE]i|[numkMGTPE]?|e-?[1-9][0-9]*))$/);
      }),
    );
  });

  it("addition is exact", () => {
    fc.assert(
      fc.property(quantity, quantity, quantity, (a, b, c) => {
        const left = addQuantities(addQuantities(a, b), c);
        const right = addQuantities(a, addQuantities(b, c));
        expect(left.nanos).toBe(right.nanos);
        expect(compareQuantities(addQuantities(a, b), addQuantities(b, a))).toBe(0);
      }),
    );
  });

  it("comparison is a total order that agrees with the numbers", () => {
    fc.assert(
      fc.property(quantity, quantity, (a, b) => {
        const difference = a.nanos - b.nanos;
        expect(Math.sign(compareQuantities(a, b))).toBe(difference < 0n ? -1 : difference > 0n ? 1 : 0);
        expect(compareQuantities(a, b) + compareQuantities(b, a)).toBe(0);
      }),
    );
  });
});

describe("arithmetic", () => {
  it("keeps the first operand's format, unless that is zero", () => {
    const sum = (a: string, b: string) => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)));
    expect(sum("1Gi", "1")).toBe("1073741825");
    expect(sum("1Gi", "1024Mi")).toBe("2Gi");
    expect(sum("0", "1Gi")).toBe("1Gi");
    expect(sum("100m", "0.9")).toBe("1");
  });

  it("converts from whole numbers", () => {
    expect(formatQuantity(quantityOf(2048, "BinarySI"))).toBe("2Ki");
  });
});
