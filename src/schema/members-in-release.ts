import { isInRelease, Row, rowOf, type Released } from "../base/release-rows.ts";
import type { Release } from "../base/releases.ts";
import { haveRows, ruleInRelease, type RuleCall, type RuleOf, type Rules } from "./rules.ts";

/** How each member of a kind that is {@link Rules} is called. */
const ruleCalls = {
  fillDefaults: { context: 1 },
  prepareCreate: { context: 1 },
  prepareUpdate: { context: 2 },
  validate: { context: 2 },
  validateCreate: { context: 2 },
  validateUpdate: { context: 3 },
  warnings: { context: 1, off: [] },
} as const satisfies Record<string, RuleCall>;

type RuleName = keyof typeof ruleCalls;
const ruleNames = Object.keys(ruleCalls) as RuleName[];

/** The members of a kind that may have rows; see `KindMembers`. */
type WithRows = { readonly [K in RuleName]?: unknown } & {
  readonly selectable?: Readonly<Record<string, unknown>>;
  readonly subresources?: Readonly<Record<string, unknown>>;
  readonly columns?: readonly unknown[];
  readonly generationOf?: unknown;
  readonly status?: unknown;
};

/** The members of a kind that have rows, in one release: those of `M`. */
export type ResolvedMembers<M extends WithRows> = {
  readonly [K in RuleName | "generationOf"]?: RuleOf<M[K]> | undefined;
} & {
  readonly [K in "selectable" | "subresources"]: {
    readonly [N in keyof NonNullable<M[K]>]: Exclude<NonNullable<M[K]>[N], Row<unknown>>;
  };
} & {
  readonly columns?: readonly Exclude<NonNullable<M["columns"]>[number], Row<unknown>>[] | undefined;
  /** Names of the selectable fields that some releases don't have: objects that these stored don't have them in their headers. */
  readonly laterSelectable?: ReadonlySet<string> | undefined;
};

/** Whether a member of a kind has rows. */
export function hasRows(members: WithRows): boolean {
  const { selectable = {}, subresources = {}, columns = [], generationOf, status } = members;
  const values = [...Object.values(selectable), ...Object.values(subresources), ...columns];
  return (
    ruleNames.some((name) => haveRows(members[name] as Rules<unknown>)) ||
    [...values, generationOf, status].some((one) => one instanceof Row)
  );
}

/** Returns the members of a kind in a release. */
export function resolveMembers<M extends WithRows>(
  members: M,
  release: Release,
): Omit<M, keyof WithRows> &
  Partial<ResolvedMembers<M>> & { readonly status?: Exclude<M["status"], Row<unknown>> } {
  const { selectable, subresources, columns, generationOf, status } = members;
  const added = Object.entries(selectable ?? {}).filter(([, one]) => one instanceof Row);
  const result: Record<string, unknown> = {
    ...members,
    ...(selectable && { selectable: entriesIn(selectable, release) }),
    ...(added.length > 0 && { laterSelectable: new Set(added.map(([name]) => name)) }),
    ...(subresources && { subresources: entriesIn(subresources, release) }),
    ...(columns && { columns: valuesIn(columns, release) }),
    ...(generationOf !== undefined && { generationOf: valuesIn([generationOf], release)[0] }),
    ...(status !== undefined && { status: valuesIn([status], release)[0] }),
  };
  for (const name of ruleNames) {
    const rules = members[name] as Rules<unknown> | undefined;
    if (rules !== undefined) result[name] = ruleInRelease(rules, release, ruleCalls[name]);
  }
  return result as never;
}

function entriesIn<T>(entries: Readonly<Record<string, Released<T>>>, release: Release): Record<string, T> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, one]) =>
      valuesIn([one], release).map((value) => [name, value] as const),
    ),
  );
}

function valuesIn<T>(values: readonly Released<T>[], release: Release): T[] {
  return values
    .map((one) => rowOf(one))
    .filter((row) => isInRelease(row, release))
    .map(({ value }) => value);
}
