import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { ApiObject } from "./api-object.ts";
import type { Since } from "./context.ts";

/** One column of the server's table (spec: conventions 2.4). */
export interface Column<O = ApiObject> {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: "name";
  readonly doc: string;
  /** 0 is shown always, 1 in wide output. */
  readonly priority?: 0 | 1;
  /**
   * Where the cell's value is in the object, such as `.spec.size`, for the kind's definition (`definitionOf`); a column
   * without it isn't in the definition.
   */
  readonly jsonPath?: string;
  /** Type of the definition's column where it differs: the reference's clients get ages as texts, from a date. */
  readonly definedType?: "date";
  /** The cell's value; `now` is in milliseconds since 1970. */
  readonly cell: (object: O, now: number, vocabulary: Vocabulary) => unknown;
  /** For a cell that tells ages: the same value, with each age asked of `since`. Kept rows are told new ages only. */
  readonly ages?: (object: O, since: Since) => unknown;
  /** Whether the cell of an unchanged object may change otherwise: its rows can't be kept. */
  readonly varies?: boolean;
}

/** A state of a table's row. */
export interface RowCondition {
  readonly type: "Completed";
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
}
