import { isInRelease, Row, rowOf, type Released } from "../base/release-rows.ts";
import type { Release } from "../base/releases.ts";
import type { KindContext } from "./context.ts";

/** A rule, or several that run in order. A row limits a rule to some releases or to servers with a feature gate. */
export type Rules<R> = Released<R> | readonly Released<R>[];

/** The type of one rule of `Rules`. */
export type RuleOf<T> = Exclude<T, Row<unknown> | readonly unknown[] | undefined>;

/** How a rule is called. */
export interface RuleCall {
  /** The position of the {@link KindContext} in the arguments. */
  readonly context: number;
  /** The result of a rule whose gate is off. */
  readonly off?: readonly never[];
}

/** Whether some of the rules are rows. */
export function haveRows(rules: Rules<unknown> | undefined): boolean {
  return listOf(rules).some((one) => one instanceof Row);
}

/**
 * Returns one function that calls the rules of a release in order; undefined if there are none. Lists that the rules return are joined.
 */
export function ruleInRelease<R>(rules: Rules<R>, release: Release, call: RuleCall): R | undefined {
  const rows = listOf(rules as Rules<AnyRule>).map((one) => rowOf(one));
  const [first, ...others] = rows
    .filter((row) => isInRelease(row, release))
    .map((row) => gatedRule(row, call));
  return others.reduce(joined, first) as R | undefined;
}

type AnyRule = (...args: unknown[]) => readonly unknown[] | undefined;

/** Returns rules as a list. */
export function listOf<T>(rules: Rules<T> | undefined): readonly Released<T>[] {
  if (rules === undefined) return [];
  return Array.isArray(rules) ? (rules as readonly Released<T>[]) : [rules as Released<T>];
}

/** Returns a rule that reads its gate from the context, because the servers of a release share its kinds. */
function gatedRule({ value, gate }: Row<AnyRule>, { context, off }: RuleCall): AnyRule {
  if (gate === undefined) return value;
  return (...args) => ((args[context] as KindContext).enabled(gate) ? value(...args) : off);
}

/** Rules have at most four arguments; named parameters avoid an array for each call. */
function joined(first: AnyRule | undefined, second: AnyRule): AnyRule {
  if (first === undefined) return second;
  return (a, b, c, d) => {
    const own = first(a, b, c, d);
    const others = second(a, b, c, d);
    if (own === undefined || others === undefined) return own ?? others;
    return own.length === 0 ? others : others.length === 0 ? own : [...own, ...others];
  };
}
