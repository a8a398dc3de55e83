import { defaultRelease, isLater, type Release } from "./releases.ts";

/**
 * Differences between releases. What differs is declared as rows: values with the releases, and the feature gate, to which they belong.
 * The same rows serve for fields, columns, subresources, rules, warnings, roles, checks and the behavior of plugins.
 *
 * - A value without a row belongs to every release. `since("1.28", value)` belongs to 1.28 and later releases, `until("1.34", value)` to
 *   those before 1.34, `gate("Name", value)` to servers on which the feature gate is enabled. They nest:
 *   `since("1.28", until("1.34", value))`.
 * - A list of rows means all of them ({@link rowsIn}, {@link allByRelease}: columns, rules, roles) or the last one ({@link byRelease}: a
 *   value that has another form in some releases). A condition without a value is {@link applies}.
 * - The release is compared once: when the copy of a kind, a plugin or a stage of a release is made, or at the first call of a
 *   function of `byRelease`, `allByRelease` or `applies`, which keeps the rows of each release. Gates belong to a server: they are read at
 *   each call.
 * - No release is special: rows of the default release are resolved as all others. The plain fields of a struct are those of the oldest
 *   release: when it is dropped, the rows of the next one become plain values.
 */
export class Row<T> {
  constructor(
    readonly value: T,
    /** The first release; undefined for all before `until`. */
    readonly since: Release | undefined,
    /** The first release without the value; undefined if there is none. */
    readonly until: Release | undefined,
    /** The feature gate; undefined for none. */
    readonly gate: string | undefined,
  ) {}
}

/** A value of all releases, or one of some. */
export type Released<T> = T | Row<T>;

/** The release of a server and its feature gates. */
export interface ReleaseFacts {
  /** The default release if undefined. */
  readonly release?: Release | undefined;
  /** Whether a feature gate is enabled; required for rows with a gate. */
  readonly enabled?: ((gate: string) => boolean) | undefined;
}

/** Declares a value of a release and later ones. */
export function since(release: Release): Row<true>;
export function since<T>(release: Release, value: Released<T>): Row<T>;
export function since(release: Release, value: unknown = true): Row<unknown> {
  const row = rowOf(value);
  return new Row(row.value, release, row.until, row.gate);
}

/** Declares a value of the releases before one. */
export function until(release: Release): Row<true>;
export function until<T>(release: Release, value: Released<T>): Row<T>;
export function until(release: Release, value: unknown = true): Row<unknown> {
  const row = rowOf(value);
  return new Row(row.value, row.since, release, row.gate);
}

/** Declares a value of servers with a feature gate. */
export function gate(name: string): Row<true>;
export function gate<T>(name: string, value: Released<T>): Row<T>;
export function gate(name: string, value: unknown = true): Row<unknown> {
  const row = rowOf(value);
  return new Row(row.value, row.since, row.until, name);
}

/** Returns a value as a row. */
export function rowOf<T>(value: Released<T>): Row<T> {
  return value instanceof Row ? value : new Row(value, undefined, undefined, undefined);
}

/** Whether a row belongs to a release, without regard to its gate. */
export function isInRelease(row: Row<unknown>, release: Release): boolean {
  return (
    (row.since === undefined || isAtLeast(release, row.since)) &&
    (row.until === undefined || !isAtLeast(release, row.until))
  );
}

/** Returns the values of a server, in order; for tables that are read once. */
export function rowsIn<T>(rows: readonly Released<T>[], facts: ReleaseFacts): readonly T[] {
  return allByRelease(...rows)(facts);
}

/** Returns a function that returns the values of a server, in order. */
export function allByRelease<T>(...rows: readonly Released<T>[]): (facts: ReleaseFacts) => readonly T[] {
  const ofRelease = perRelease((release) => {
    const own = rows.map((row) => rowOf(row)).filter((row) => isInRelease(row, release));
    return {
      own,
      values: own.some((row) => row.gate !== undefined) ? undefined : own.map(({ value }) => value),
    };
  });
  return (facts) => {
    const { own, values } = ofRelease(facts);
    return values ?? own.filter((row) => isGateEnabled(row, facts)).map(({ value }) => value);
  };
}

/** Returns a function that returns the last of the values of a server. The first value belongs to all releases. */
export function byRelease<T>(first: T, ...rows: readonly Row<T>[]): (facts: ReleaseFacts) => T {
  const lastFirst = rows.toReversed();
  const ofRelease = perRelease((release) => lastFirst.filter((row) => isInRelease(row, release)));
  return (facts) => {
    for (const row of ofRelease(facts)) if (isGateEnabled(row, facts)) return row.value;
    return first;
  };
}

/** Returns a function that returns whether one of the rows belongs to a server. */
export function applies(...rows: readonly Row<unknown>[]): (facts: ReleaseFacts) => boolean {
  return byRelease(false, ...rows.map((row) => new Row(true, row.since, row.until, row.gate)));
}

/** Returns a function that computes a value once for each release. */
function perRelease<T>(compute: (release: Release) => T): (facts: ReleaseFacts) => T {
  const values = new Map<Release, T>();
  return ({ release = defaultRelease }) => {
    let value = values.get(release);
    if (value === undefined) values.set(release, (value = compute(release)));
    return value;
  };
}

function isGateEnabled({ gate: name }: Row<unknown>, { enabled }: ReleaseFacts): boolean {
  if (name === undefined) return true;
  if (enabled === undefined) throw new Error(`the feature gates are missing: ${name}`);
  return enabled(name);
}

function isAtLeast(release: Release, first: Release): boolean {
  return !isLater(first, release);
}
