import { integer, list, object, rulesOf, type ReferenceCase, type TitledRow } from "../case.ts";

const spec = object({ i: integer, l: list(integer, { maxItems: 3 }) });

const repeat = (count: number, text: string): string => text.repeat(count);
const joined = (count: number, operand: string, operator: string): string =>
  Array.from({ length: count }, () => operand).join(operator);
const around = (count: number, before: string, inner: string, after: string): string =>
  `${repeat(count, before)}${inner}${repeat(count, after)}`;

/** Nested expressions at the depths around which the verdict of the reference changes. */
const shapes: readonly (readonly [title: string, counts: readonly number[], (count: number) => string])[] = [
  ["operands of ==", [242, 243, 244, 245], (count) => `${joined(count, "true", " == ")}`],
  ["operands of +", [241, 242, 243, 244], (count) => `${joined(count, "1", " + ")} > 0`],
  ["operands of *", [241, 242, 243, 244], (count) => `${joined(count, "1", " * ")} == 1`],
  ["operands of + in a list", [236, 237, 238, 239], (count) => `[${joined(count, "1", " + ")}].size() > 0`],
  ["operands of &&", [300, 1000], (count) => joined(count, "true", " && ")],
  ["operands of ||", [300, 1000], (count) => joined(count, "false", " || ")],
  ["parentheses", [39, 40, 41, 42], (count) => around(count, "(", "true", ")")],
  ["lists", [39, 40, 41], (count) => `size(${around(count, "[", "", "]")}) > 0`],
  ["maps", [33, 34, 35, 36], (count) => `size(${around(count, "{1: ", "1", "}")}) > 0`],
  [
    "conditions behind a colon",
    [120, 242, 243, 244, 245],
    (count) => `${repeat(count, "true ? true : ")}true`,
  ],
  ["conditions in front", [20, 39, 40, 41], (count) => `${around(count, "(true ? ", "true", " : true)")}`],
  ["negations", [2, 243, 600], (count) => `${repeat(count * 2, "!")}true`],
  ["minus signs", [3, 601], (count) => `${repeat(count, "-")}1 < 0`],
  ["selections", [2, 237, 238, 239, 240], (count) => `dyn(self)${repeat(count, ".o")} == self || true`],
  ["indexes", [2, 237, 238, 239, 240], (count) => `dyn([1])${repeat(count, "[0]")} == 1 || true`],
  ["conversions", [38, 39, 40, 41], (count) => `${around(count, "dyn(", "true", ")")} == true`],
  ["functions of a list", [32, 33, 34, 35], (count) => `${around(count, "[", "1", "].size()")} == 1`],
  ["loops", [5, 39, 40, 41], (count) => `${around(count, "[1].all(x, ", "true", ")")}`],
  ["loops behind each other", [40, 80, 120], (count) => `[1]${repeat(count, ".map(x, x)")}.size() == 1`],
  ["mixed operators", [33, 34, 35, 36], (count) => `${around(count, "(1 + ", "1", ")")} > 0`],
  ["negated parentheses", [33, 34, 35, 36], (count) => `${around(count, "!(", "true", ")")} || true`],
];

const rows: readonly TitledRow[] = shapes.flatMap(([title, counts, make]) =>
  counts.map((count) => ({ title: `${count} ${title}`, rule: make(count), specs: [{ i: 1 }] })),
);

export const depthCases: readonly ReferenceCase[] = rulesOf("depth", spec, rows);
