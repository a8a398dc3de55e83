import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { ApiObject } from "./api-object.ts";
import type { Since } from "./context.ts";

/** One column of the server's table (spec: conventions 2.4). */
export interface Column<O = ApiObject> {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: "name";
  readonly doc: string;
  /** 0: always shown; 1: only in wide output. */
  readonly priority?: 0 | 1;
  /**
   * JSON path of the value, such as `.spec.size`, for the CustomResourceDefinition of the kind (`definitionOf`). Columns without
   * it are omitted from the definition.
   */
  readonly jsonPath?: string;
  /** Type in the definition if it differs from `type`: ages are `date` there. */
  readonly definedType?: "date";
  /** Returns the value of the cell; `now` is in milliseconds since 1970. */
  readonly cell: (object: O, now: number, vocabulary: Vocabulary) => unknown;
  /** For a cell with ages: returns the same value with ages formatted by `since`. Cached rows are updated with this function. */
  readonly ages?: (object: O, since: Since) => unknown;
  /** Whether the cell may change without a change of the object; such rows aren't cached. */
  readonly varies?: boolean;
}

/** A condition of a table row. */
export interface RowCondition {
  readonly type: "Completed";
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
}
