import { declareFunction, traversal, type CelFunction, type Run } from "./function-table.ts";
import {
  addQuantities,
  compareQuantities,
  negated,
  parseQuantityText,
  QuantityValue,
  signOf,
} from "../values/quantities.ts";
import type { Meter } from "../costs/meter.ts";
import { compareVersions, parseSemver, Semver } from "../values/semantic-versions.ts";
import { Fault, noOverload, type OpaqueValue, type Value } from "../values/values.ts";

/** Meter steps for parsing a character. */
const stepsPerCharacter = 3;
/** Meter steps for parsing a text, in addition to the characters. */
const stepsPerText = 100;

function ofQuantity(run: (quantity: QuantityValue) => Value): Run {
  return ([quantity]) => (quantity instanceof QuantityValue ? run(quantity) : noOverload);
}

/** Counts the work of comparing or adding two values. */
function countComparison(one: OpaqueValue, other: OpaqueValue, meter: Meter): void {
  meter.work(one.stepsToCompare + other.stepsToCompare + 20);
}

function ofQuantities(run: (one: QuantityValue, other: QuantityValue) => Value): Run {
  return ([one, other], meter) => {
    const second = typeof other === "bigint" ? new QuantityValue(other, 0, true) : other;
    if (!(one instanceof QuantityValue && second instanceof QuantityValue)) return noOverload;
    countComparison(one, second, meter);
    meter.work(Math.abs(one.exponent - second.exponent) >> 1);
    return run(one, second);
  };
}

const parseText =
  (read: (text: string, normalize: boolean) => Value): Run =>
  ([text, normalize = false], meter) => {
    if (typeof text !== "string" || typeof normalize !== "boolean") return noOverload;
    meter.work(text.length * stepsPerCharacter + stepsPerText);
    return read(text, normalize);
  };

const byText: Pick<CelFunction, "cost"> = { cost: traversal };
const arithmetic = ["quantity.(quantity) -> quantity", "quantity.(int) -> quantity"];
const notInteger = new Fault("cannot convert value to integer");

/** Functions of quantities. */
export const quantityFunctions: readonly (readonly [string, CelFunction])[] = [
  ["quantity", declareFunction(["(string) -> quantity"], parseText(parseQuantityText), byText)],
  [
    "isQuantity",
    declareFunction(
      ["(string) -> bool"],
      parseText((text) => !(parseQuantityText(text) instanceof Fault)),
      byText,
    ),
  ],
  [
    "sign",
    declareFunction(
      ["(quantity) -> int"],
      ofQuantity((quantity) => BigInt(signOf(quantity))),
    ),
  ],
  [
    "isInteger",
    declareFunction(
      ["quantity.() -> bool"],
      ofQuantity(({ integer }) => integer !== undefined),
    ),
  ],
  [
    "asInteger",
    declareFunction(
      ["quantity.() -> int"],
      ofQuantity(({ integer }) => integer ?? notInteger),
    ),
  ],
  [
    "asApproximateFloat",
    declareFunction(
      ["quantity.() -> double"],
      ofQuantity(({ approximate }) => approximate),
    ),
  ],
  ["add", declareFunction(arithmetic, ofQuantities(addQuantities))],
  [
    "sub",
    declareFunction(
      arithmetic,
      ofQuantities((one, other) => addQuantities(one, negated(other))),
    ),
  ],
  ...comparisons("quantity", (holds) => ofQuantities((one, other) => holds(compareQuantities(one, other)))),
];

function ofVersion(index: number): CelFunction {
  return declareFunction(["semver.() -> int"], ([version]) =>
    version instanceof Semver ? BigInt.asIntN(64, version.numbers[index]!) : noOverload,
  );
}

const isSemver = parseText((text, normalize) => !(parseSemver(text, normalize) instanceof Fault));

/** Functions of semantic versions. */
export const semverFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "semver",
    declareFunction(["(string) -> semver", "(string, bool) -> semver"], parseText(parseSemver), byText),
  ],
  ["isSemver", declareFunction(["(string) -> bool", "(string, bool) -> bool"], isSemver, byText)],
  ["major", ofVersion(0)],
  ["minor", ofVersion(1)],
  ["patch", ofVersion(2)],
  ...comparisons("semver", (holds) => ([one, other], meter) => {
    if (!(one instanceof Semver && other instanceof Semver)) return noOverload;
    countComparison(one, other, meter);
    return holds(compareVersions(one, other));
  }),
];

/** Functions that compare two values of a type. */
function comparisons(
  type: "quantity" | "semver",
  runOf: (holds: (order: number) => Value) => Run,
): readonly (readonly [string, CelFunction])[] {
  const accepts = ([one]: readonly Value[]): boolean =>
    one instanceof (type === "semver" ? Semver : QuantityValue);
  const declare = (result: string, holds: (order: number) => Value): CelFunction =>
    declareFunction([`${type}.(${type}) -> ${result}`], runOf(holds), { accepts });
  return [
    ["isGreaterThan", declare("bool", (order) => order > 0)],
    ["isLessThan", declare("bool", (order) => order < 0)],
    ["compareTo", declare("int", (order) => BigInt(order))],
  ];
}
