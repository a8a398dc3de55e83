import { either, fixed, plus, scaled, times, unlimited, type Range } from "./ranges.ts";
import type { Signature } from "./signature.ts";
import type { CelType } from "./types.ts";

/** What is known of an argument of a call before it is evaluated; the value that a function is called on is the first. */
export interface ArgumentEstimate {
  readonly size: Range;
  /** The sizes of its items, where it is a list. */
  readonly itemSize: Range;
  readonly type: CelType;
  /** Its value, where it is a literal integer. */
  readonly integer: bigint | undefined;
}

/** What a call costs beside its arguments, and how large its result is; undefined where nothing is known of the size. */
export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range;
}

type Rule = (args: readonly ArgumentEstimate[], form: Signature) => CallEstimate;

/** The share of a unit that going through one character, or through one of a regular expression, costs. */
const perCharacter = 0.1;
const perPatternCharacter = 0.25;

const one = fixed(1);
const constant: CallEstimate = { cost: one };

function traversal(size: Range): Range {
  return scaled(size, perCharacter);
}

const ofSize: Rule = ([text]) => ({ cost: traversal(text!.size) });
const sameSize: Rule = ([text]) => ({ cost: traversal(text!.size), size: text!.size });

/** Functions that go through a list or a text once. */
const through: Rule = ([value]) => {
  const { type, size, itemSize } = value!;
  if (type.is !== "list") return { cost: traversal(size) };
  const { is } = type.element;
  return { cost: times(size, is === "string" || is === "bytes" ? plus(one, traversal(itemSize)) : one) };
};

/** `startsWith` and `endsWith` look at as much of the text as the argument is long. */
const ofArgument: Rule = (args) => ({ cost: traversal(args[1]!.size) });

/** A match costs by the product of both lengths, that of an empty text as that of one character. */
function matching(args: readonly ArgumentEstimate[]): Range {
  const [text, pattern] = args.map(({ size }) => size) as [Range, Range];
  return times(traversal(plus(text, one)), scaled(pattern, perPatternCharacter));
}

const matches: Rule = (args, { onValue }) => (onValue ? { cost: matching(args) } : constant);
const find: Rule = (args) => ({ cost: matching(args), size: { min: 0, max: args[0]!.size.max } });

const comparison: Rule = ([first, second]) => {
  const least = Math.min(first!.size.max, second!.size.max);
  return { cost: traversal({ min: least > 0 ? 1 : 0, max: least }) };
};

/** Only texts and bytes have an order that takes longer to find for longer values. */
const ordering: Rule = (args, form) => (takesText(form) ? comparison(args, form) : constant);

const addition: Rule = ([first, second], form) => {
  const isList = form.takes[0]!.is === "list";
  if (!isList && !takesText(form)) return constant;
  const size = plus(first!.size, second!.size);
  return { cost: isList ? one : traversal(size), size };
};

function takesText({ takes }: Signature): boolean {
  return takes[0]!.is === "string" || takes[0]!.is === "bytes";
}

const membership: Rule = ([, among], { takes }) =>
  takes[1]!.is === "list" ? { cost: among!.size } : constant;

const replace: Rule = ([text, old, by]) => {
  const [size, from, to] = [text!.size, old!.size, by!.size];
  const most = replacedSize(size.max, from.min, to.max, to.max <= from.min);
  const least = replacedSize(size.min, from.max, to.min, from.max <= to.min);
  return { cost: scaled(size, 2 * perCharacter), size: plus({ min: least, max: most }, fixed(0)) };
};

/**
 * How long a text becomes when as much of it is replaced as can be.
 *
 * @param keeps whether the text as it is counts instead: replacing wouldn't change its length to where the estimate looks.
 */
function replacedSize(size: number, from: number, to: number, keeps: boolean): number {
  if (from === 0) return (size + 1) * to + size;
  return keeps ? size : Math.ceil(size / from) * to;
}

const split: Rule = ([text, , limit]) => {
  const { size } = text!;
  const most = limit?.integer === undefined ? size.max : Number(limit.integer);
  return { cost: scaled(size, 2 * perCharacter), size: { min: 0, max: most < 0 ? unlimited : most } };
};

const join: Rule = ([list, separator]) => {
  const { size, itemSize, type } = list!;
  const items = type.is === "list" ? times(size, itemSize) : fixed(0);
  const gaps = { min: Math.max(0, size.min - 1), max: Math.max(0, size.max - 1) };
  const whole = separator === undefined ? items : plus(items, times(separator.size, gaps));
  return { cost: traversal(whole), size: whole };
};

/** Texts become bytes of up to four times the length, and the other way round. */
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
  ...["isSorted", "sum", "min", "max", "indexOf", "lastIndexOf"].map((name) => [name, through] as const),
  ...["lowerAscii", "upperAscii", "substring", "trim"].map((name) => [name, sameSize] as const),
  ...["_<_", "_<=_", "_>_", "_>=_"].map((name) => [name, ordering] as const),
  ["_==_", comparison],
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
  ["url", ofSize],
  ["bytes", toBytes],
  ["string", toText],
]);

/**
 * What a call is estimated to cost: as the reference estimates it, which decides whether it takes a definition. That is neither the
 * least nor the most that an evaluation is charged.
 *
 * @param forms of the function that fit the types of the arguments: several where these are dynamic.
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
