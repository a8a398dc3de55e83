import {
  type ArgumentEstimate,
  type CallEstimate,
  type Rule,
  either,
  fixed,
  plus,
  scaled,
  times,
  unlimited,
  zero,
  type Range,
} from "./estimate-rule.ts";
import type { Signature } from "../types/signature.ts";
import { formatType } from "../types/opaque-types.ts";
import { urlType, type CelType } from "../types/types.ts";
import { checkCost } from "../functions/access-functions.ts";

const single = fixed(1);
const characterCost = 0.1;

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
  return ([first, second]) => ({ cost: plus(scaled(times(first!.size, second!.size), factor), single) });
}

const quote: Rule = ([text]) => ({
  cost: scaled(text!.size, characterCost),
  size: plus({ min: text!.size.min, max: text!.size.max * 2 }, fixed(2)),
});

/** The pattern of a format is assumed to have 128 characters. */
const validate: Rule = ([, text]) => ({ cost: scaled(scaled(text!.size, characterCost), 32) });

const includes: Rule = ([target]) => {
  const { type, size, itemSize } = target!;
  const of = type.is === "list" ? type.element : type.is === "map" ? type.key : undefined;
  const isText = of?.is === "string" || of?.is === "bytes";
  return { cost: times(size, isText ? plus(single, scaled(itemSize, characterCost)) : single) };
};

/** Rules for functions of later releases. */
const laterRules: readonly (readonly [string, Rule])[] = [
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
  ["format", ([text]) => ({ cost: scaled(text!.size, characterCost) })],
  ["strings.quote", quote],
  ["validate", validate],
  ["includes", includes],
];

/** Cost per character of a string and of a regular expression. */
const perCharacter = 0.1;
const perPatternCharacter = 0.25;

const one = fixed(1);
const constant: CallEstimate = { cost: one };

function traversal(size: Range): Range {
  return scaled(size, perCharacter);
}

const ofSize: Rule = ([text]) => ({ cost: traversal(text!.size) });
/** Parses the text, if the argument is one. */
const ofParsedText: Rule = (args, form) => (takesStrings(form) ? ofSize(args, form) : constant);
const sameSize: Rule = ([text]) => ({ cost: traversal(text!.size), size: text!.size });

/** Functions that traverse a list or a string once. */
const through: Rule = ([value]) => {
  const { type, size, itemSize } = value!;
  if (type.is !== "list") return { cost: traversal(size) };
  const { is } = type.element;
  return { cost: times(size, is === "string" || is === "bytes" ? plus(one, traversal(itemSize)) : one) };
};

/** `startsWith` and `endsWith` compare as many characters as the argument has. */
const ofArgument: Rule = (args) => ({ cost: traversal(args[1]!.size) });

/** The cost of a match is proportional to the product of both lengths; an empty string counts as one character. */
function matching(args: readonly ArgumentEstimate[]): Range {
  const [text, pattern] = args.map(({ size }) => size) as [Range, Range];
  return times(traversal(plus(text, one)), scaled(pattern, perPatternCharacter));
}

const matches: Rule = (args) => ({ cost: matching(args) });
const find: Rule = (args) => ({ cost: matching(args), size: { min: 0, max: args[0]!.size.max } });

const comparison: Rule = ([first, second]) => {
  const least = Math.min(first!.size.max, second!.size.max);
  return { cost: traversal({ min: least > 0 ? 1 : 0, max: least }) };
};

/** Opaque values, such as addresses, are compared in constant time. */
const equality: Rule = (args, form) => {
  if (!args.every(({ type }) => isOpaque(type))) return comparison(args, form);
  // A format may have 64 characters.
  return args[0]!.type === formatType ? { cost: { min: 1, max: 7 } } : constant;
};

function isOpaque(type: CelType): boolean {
  return type.is === "opaque" && type !== urlType;
}

/** Only strings and bytes are compared in time proportional to their size. */
const ordering: Rule = (args, form) => (takesStrings(form) ? comparison(args, form) : constant);

const addition: Rule = ([first, second], form) => {
  const isList = form.takes[0]!.is === "list";
  if (!isList && !takesStrings(form)) return constant;
  const size = plus(first!.size, second!.size);
  return { cost: isList ? one : traversal(size), size };
};

function takesStrings({ takes }: Signature): boolean {
  return takes[0]!.is === "string" || takes[0]!.is === "bytes";
}

const membership: Rule = ([, container], { takes }) =>
  takes[1]!.is === "list" ? { cost: container!.size } : constant;

const replace: Rule = ([text, old, by]) => {
  const [size, from, to] = [text!.size, old!.size, by!.size];
  const maxSize = replacedSize(size.max, from.min, to.max, to.max <= from.min);
  const minSize = replacedSize(size.min, from.max, to.min, from.max <= to.min);
  return { cost: scaled(size, 2 * perCharacter), size: plus({ min: minSize, max: maxSize }, fixed(0)) };
};

/**
 * Returns the size of a string after the maximum number of replacements.
 *
 * @param keeps whether the result is the size without replacement.
 */
function replacedSize(size: number, from: number, to: number, keeps: boolean): number {
  if (from === 0) return (size + 1) * to + size;
  return keeps ? size : Math.ceil(size / from) * to;
}

const split: Rule = ([text, , limit]) => {
  const { size } = text!;
  const maxCount = limit?.integer === undefined ? size.max : Number(limit.integer);
  return { cost: scaled(size, 2 * perCharacter), size: { min: 0, max: maxCount < 0 ? unlimited : maxCount } };
};

const join: Rule = ([list, separator]) => {
  const { size, itemSize, type } = list!;
  const items = type.is === "list" ? times(size, itemSize) : fixed(0);
  const gaps = { min: Math.max(0, size.min - 1), max: Math.max(0, size.max - 1) };
  const whole = separator === undefined ? items : plus(items, times(separator.size, gaps));
  return { cost: traversal(whole), size: whole };
};

/** Bytes of an address. */
const addressSize: Range = { min: 4, max: 16 };

/** A network contains an address, which may be parsed first. */
function containment([, other]: readonly ArgumentEstimate[], { takes }: Signature, more: Range): Range {
  const compared = plus(traversal(plus(addressSize, addressSize)), more);
  return takes[1]!.is === "string" ? plus(compared, traversal(other!.size)) : compared;
}

/** A string has up to four bytes per character. */
const toBytes: Rule = ([text], form) => {
  if (form.takes[0]!.is !== "string") return constant;
  const { min, max } = text!.size;
  return { cost: traversal(text!.size), size: plus({ min, max: max * 4 }, fixed(0)) };
};
const toText: Rule = ([bytes], form) => {
  if (form.takes[0]!.is !== "bytes") return constant;
  const { min, max } = bytes!.size;
  return { cost: traversal(bytes!.size), size: { min: Math.floor(min / 4), max } };
};

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...laterRules,
  ...["isSorted", "sum", "min", "max", "indexOf", "lastIndexOf"].map((name) => [name, through] as const),
  ...["lowerAscii", "upperAscii", "substring", "trim"].map((name) => [name, sameSize] as const),
  ...["_<_", "_<=_", "_>_", "_>=_"].map((name) => [name, ordering] as const),
  ["_==_", equality],
  ["_!=_", comparison],
  ["_+_", addition],
  ["@in", membership],
  ["startsWith", ofArgument],
  ["endsWith", ofArgument],
  ["contains", ([text, needle]) => ({ cost: times(traversal(text!.size), traversal(needle!.size)) })],
  ["matches", matches],
  ["find", find],
  ["findAll", find],
  ["replace", replace],
  ["split", split],
  ["join", join],
  ...["url", "ip", "isIP", "cidr", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"].map(
    (name) => [name, ofParsedText] as const,
  ),
  ["ip.isCanonical", ([text]) => ({ cost: scaled(text!.size, 2 * perCharacter) })],
  ["containsIP", (args, form) => ({ cost: containment(args, form, zero) })],
  ["containsCIDR", (args, form) => ({ cost: containment(args, form, plus(traversal(addressSize), one)) })],
  ["bytes", toBytes],
  ["string", toText],
]);

/**
 * Estimates the cost of a call as Kubernetes does, because the estimate decides whether a definition is accepted. It is neither
 * a lower nor an upper bound of the cost at runtime.
 *
 * @param forms the matching overloads: several if the types of the arguments are dynamic.
 */
export function estimateCall(
  name: string,
  forms: readonly Signature[],
  args: readonly ArgumentEstimate[],
): CallEstimate {
  const rule = rules.get(name);
  if (rule === undefined) return constant;
  return forms.map((form) => rule(args, form)).reduce(eitherEstimate);
}

function eitherEstimate(first: CallEstimate, second: CallEstimate): CallEstimate {
  const cost = either(first.cost, second.cost);
  const sizes = [first.size, second.size].filter((size) => size !== undefined);
  return sizes.length === 0 ? { cost } : { cost, size: sizes.reduce(either) };
}
