import { signal, type Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { LiveTable } from "./live-table.ts";

/** Keys of the rows that a command concerns together. */
export type Marks = Signal<ReadonlySet<string>>;

/** Returns the marked rows of a table; a new table has none. */
export function useMarks(table: LiveTable): Marks {
  return useMemo(() => signal<ReadonlySet<string>>(new Set()), [table]);
}
