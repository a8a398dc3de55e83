import { checkCost } from "../functions/access-functions.ts";
import type { ArgumentEstimate, Rule } from "./estimate-rule.ts";
import { fixed, plus, scaled, times, unlimited, type Range } from "./ranges.ts";
import type { CelType } from "../types/types.ts";

const one = fixed(1);
const perCharacter = 0.1;

/** Cost of comparing all items of a list with each other. */
export function sortingCost(size: Range, { is }: CelType): Range {
  return scaled(times(size, size), is === "string" || is === "bytes" ? 2.1 : 2);
}

/** Cost of a call that creates a list. */
const creation = fixed(11);

function listOfSize(size: Range, factor = 1): ReturnType<Rule> {
  return { cost: plus(scaled(size, factor), creation), size };
}

function literalOf({ integer }: ArgumentEstimate, otherwise: number): number {
  return integer === undefined ? otherwise : Math.max(0, Number(integer));
}

const slice: Rule = ([list, start, end]) => {
  const size = literalOf(end!, list!.size.max) - literalOf(start!, 0);
  return listOfSize(fixed(size < 0 ? unlimited : size));
};

const flatten: Rule = ([list, depth]) =>
  listOfSize(list!.size, depth === undefined ? 1 : literalOf(depth, unlimited));

const sort: Rule = ([list], { takes }) => {
  const [type] = takes as [CelType];
  const item: CelType = type.is === "list" ? type.element : type;
  return { cost: plus(sortingCost(list!.size, item), creation), size: times(list!.size, list!.size) };
};
const distinct: Rule = ([list]) => listOfSize(times(list!.size, list!.size), 2);

function sets(factor: number): Rule {
  return ([first, second]) => ({ cost: plus(scaled(times(first!.size, second!.size), factor), one) });
}

const quote: Rule = ([text]) => ({
  cost: scaled(text!.size, perCharacter),
  size: plus({ min: text!.size.min, max: text!.size.max * 2 }, fixed(2)),
});

/** The pattern of a format is assumed to have 128 characters. */
const validate: Rule = ([, text]) => ({ cost: scaled(scaled(text!.size, perCharacter), 32) });

const includes: Rule = ([target]) => {
  const { type, size, itemSize } = target!;
  const of = type.is === "list" ? type.element : type.is === "map" ? type.key : undefined;
  const isText = of?.is === "string" || of?.is === "bytes";
  return { cost: times(size, isText ? plus(one, scaled(itemSize, perCharacter)) : one) };
};

/** Rules for functions of later releases. */
export const laterRules: readonly (readonly [string, Rule])[] = [
  ["check", () => ({ cost: fixed(checkCost) })],
  ["slice", slice],
  ["flatten", flatten],
  ["sort", sort],
  ["distinct", distinct],
  ["reverse", ([list]) => listOfSize(list!.size)],
  ["lists.range", ([size]) => listOfSize(fixed(literalOf(size!, unlimited)))],
  ["sets.contains", sets(1)],
  ["sets.intersects", sets(1)],
  ["sets.equivalent", sets(2)],
  ["format", ([text]) => ({ cost: scaled(text!.size, perCharacter) })],
  ["strings.quote", quote],
  ["validate", validate],
  ["includes", includes],
];
