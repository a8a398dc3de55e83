import type { Metadata } from "./metadata.ts";

/** A column, as the server defines it. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0 for columns that are always shown. */
  readonly priority?: number;
}

/** A row of a Table of the server. */
export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object: {
    readonly metadata: Metadata;
  };
}

/** A row of the model. */
export interface Row {
  /** `namespace/name`. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** Milliseconds since 1970; NaN if unknown. */
  readonly createdMs: number;
  readonly isDeleting: boolean;
  readonly cells: readonly unknown[];
  /** Time of the last change that was seen, in milliseconds of the page's clock; 0 if there was none. */
  readonly changedMs: number;
  generation: number;
  /** Text for searches in lower case; computed at first use. */
  text: string | undefined;
}

export type Change =
  { readonly kind: "set"; readonly row: TableRow } | { readonly kind: "delete"; readonly row: TableRow };

/** Sort order: a column of the server, the namespace or the name. */
export interface Sort {
  readonly by: number | "key" | "age";
  readonly descending: boolean;
}

type Compare = (one: Row, other: Row) => number;

/** From this number of changes on, the view is merged instead of changed row by row. */
const bulkChanges = 64;

/**
 * The rows of a live table: a sorted and filtered view that is updated with each change. A change of one row costs a binary search and
 * a move of the rows behind it.
 */
export class TableModel {
  columns: readonly ColumnDefinition[] = [];
  /** The rows to show, in order. */
  view: Row[] = [];
  private readonly rows = new Map<string, Row>();
  private generation = 0;
  private sorting: Sort = { by: "key", descending: false };
  private words: readonly string[] = [];
  private compare: Compare = compareKeys;

  /** Number of all rows. */
  get size(): number {
    return this.rows.size;
  }

  get sort(): Sort {
    return this.sorting;
  }

  /** Begins a new list: rows that it doesn't contain are removed by {@link endList}. */
  beginList(): void {
    this.generation++;
  }

  /** Removes the rows that were not in the list. */
  endList(): void {
    const { generation } = this;
    let removed = false;
    for (const [key, row] of this.rows) {
      if (row.generation === generation) continue;
      this.rows.delete(key);
      removed = true;
    }
    if (removed) this.view = this.view.filter((row) => row.generation === generation);
  }

  /** Removes all rows. */
  clear(): void {
    this.rows.clear();
    this.view = [];
  }

  find(key: string): Row | undefined {
    return this.rows.get(key);
  }

  /** Returns the position of a row in the view; -1 if it isn't shown. */
  indexOf(key: string): number {
    const row = this.rows.get(key);
    if (row === undefined) return -1;
    const index = this.position(row);
    return this.view[index] === row ? index : -1;
  }

  sortBy(sort: Sort): void {
    this.sorting = sort;
    this.compare = comparisonOf(sort);
    this.rebuild();
  }

  /** Shows the rows only that contain each word. */
  search(text: string): void {
    const words = text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    if (words.join(" ") === this.words.join(" ")) return;
    this.words = words;
    this.rebuild();
  }

  /** Adds rows of a list. */
  addRows(rows: readonly TableRow[]): void {
    this.merge(rows.map((row) => this.rowOf(row, 0)));
  }

  /** Applies changes of a watch, in order. @param nowMs time of the page's clock, for marking changed rows. */
  apply(changes: readonly Change[], nowMs: number): void {
    if (changes.length >= bulkChanges) {
      const last = new Map(changes.map((change) => [keyOf(change.row), change]));
      const deleted = [...last.values()].filter(({ kind }) => kind === "delete");
      for (const { row } of deleted) this.remove(keyOf(row));
      this.merge(
        [...last.values()].filter(({ kind }) => kind === "set").map(({ row }) => this.rowOf(row, nowMs)),
      );
      return;
    }
    for (const { kind, row } of changes) {
      this.remove(keyOf(row));
      if (kind === "set") this.insert(this.rowOf(row, nowMs));
    }
  }

  private rowOf({ cells, object: { metadata } }: TableRow, changedMs: number): Row {
    const { name, namespace = "", uid, creationTimestamp, deletionTimestamp } = metadata;
    return {
      key: `${namespace}/${name}`,
      namespace,
      name,
      uid,
      createdMs: creationTimestamp ? Date.parse(creationTimestamp) : Number.NaN,
      isDeleting: deletionTimestamp !== undefined && deletionTimestamp !== null,
      cells,
      changedMs,
      generation: this.generation,
      text: undefined,
    };
  }

  private insert(row: Row): void {
    this.rows.set(row.key, row);
    if (this.shows(row)) this.view.splice(this.position(row), 0, row);
  }

  private remove(key: string): void {
    const index = this.indexOf(key);
    if (index !== -1) this.view.splice(index, 1);
    this.rows.delete(key);
  }

  /** Adds many rows, or replaces them. */
  private merge(added: readonly Row[]): void {
    const replaced = new Set(added.filter(({ key }) => this.rows.has(key)).map(({ key }) => key));
    if (replaced.size > 0) this.view = this.view.filter(({ key }) => !replaced.has(key));
    for (const row of added) this.rows.set(row.key, row);
    const shown = added.filter((row) => this.shows(row)).toSorted(this.compare);
    const last = this.view.at(-1);
    if (shown.length === 0) return;
    if (last === undefined || this.compare(last, shown[0]!) < 0) for (const row of shown) this.view.push(row);
    else this.view = merged(this.view, shown, this.compare);
  }

  private rebuild(): void {
    this.view = [...this.rows.values()].filter((row) => this.shows(row)).toSorted(this.compare);
  }

  /** Position of a row in the view, or the one at which it would be inserted. */
  private position(row: Row): number {
    let [low, high] = [0, this.view.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(this.view[middle]!, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private shows(row: Row): boolean {
    if (this.words.length === 0) return true;
    const text = (row.text ??= [row.namespace, ...row.cells].map(String).join(" ").toLowerCase());
    return this.words.every((word) => text.includes(word));
  }
}

function keyOf({ object: { metadata } }: TableRow): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function merged(one: readonly Row[], other: readonly Row[], compare: Compare): Row[] {
  const result: Row[] = [];
  let [i, j] = [0, 0];
  while (i < one.length && j < other.length) {
    result.push(compare(one[i]!, other[j]!) < 0 ? one[i++]! : other[j++]!);
  }
  for (; i < one.length; i++) result.push(one[i]!);
  for (; j < other.length; j++) result.push(other[j]!);
  return result;
}

function compareKeys(one: Row, other: Row): number {
  if (one.namespace !== other.namespace) return one.namespace < other.namespace ? -1 : 1;
  return one.name === other.name ? 0 : one.name < other.name ? -1 : 1;
}

function comparisonOf({ by, descending }: Sort): Compare {
  const sign = descending ? -1 : 1;
  const values: Compare =
    by === "key"
      ? compareKeys
      : by === "age"
        ? (one, other) => compareValues(other.createdMs, one.createdMs)
        : (one, other) => compareValues(one.cells[by], other.cells[by]);
  return (one, other) => sign * values(one, other) || compareKeys(one, other);
}

/** Numbers before texts, and both before missing values. */
function compareValues(one: unknown, other: unknown): number {
  const [oneRank, otherRank] = [rankOf(one), rankOf(other)];
  if (oneRank !== otherRank) return oneRank - otherRank;
  if (oneRank === 0) return (one as number) - (other as number);
  if (oneRank === 2) return 0;
  const [a, b] = [String(one), String(other)];
  return a === b ? 0 : a < b ? -1 : 1;
}

function rankOf(value: unknown): number {
  if (typeof value === "number" && !Number.isNaN(value)) return 0;
  return value === undefined || value === null || value === "" || typeof value === "number" ? 2 : 1;
}
