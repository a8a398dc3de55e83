import type { ColumnDefinition, Row, Sort } from "./table.ts";
import { ageText } from "./time.ts";
import { toneOf } from "./tones.ts";

/** A column of the table. */
export interface TableColumn {
  readonly title: string;
  readonly description: string;
  /** Width in characters, and the share of the remaining space. */
  readonly width: number;
  readonly grow: number;
  readonly isNumber: boolean;
  readonly sort: Sort["by"];
  readonly text: (row: Row) => string;
  /** Name of the tone of the text, such as `good` or `bad`; undefined for the usual one. */
  readonly tone?: (text: string) => string | undefined;
}

/** Titles of columns that describe a state, whose texts have tones. */
const statusTitles = new Set(["Status", "Phase", "Ready", "State", "Condition", "Available", "Reason"]);
/** Returns the sort order of its text in a URL: the title of a column, after `-` for descending order. */
export function sortOf(text: string, columns: readonly TableColumn[]): Sort {
  const descending = text.startsWith("-");
  const title = descending ? text.slice(1) : text;
  return { by: columns.find((one) => one.title === title)?.sort ?? "key", descending };
}

/** Returns the text of {@link sortOf}; empty for the usual order. */
export function sortText({ by, descending }: Sort, columns: readonly TableColumn[]): string {
  if (by === "key" && !descending) return "";
  return `${descending ? "-" : ""}${columns.find(({ sort }) => sort === by)?.title ?? ""}`;
}

const [minWidth, maxWidth] = [5, 44];

/**
 * Returns the columns of a table: the namespace if there are several, then those of the server with their usual priority. The widths
 * are those of the longest texts of some rows.
 */
export function tableColumns(
  definitions: readonly ColumnDefinition[],
  rows: readonly Row[],
  showsNamespace: boolean,
): TableColumn[] {
  const columns: TableColumn[] = [];
  if (showsNamespace) {
    columns.push(column("Namespace", "Namespace of the object", "key", rows, ({ namespace }) => namespace));
  }
  for (const [index, { name, type, description = "", priority = 0 }] of definitions.entries()) {
    if (priority > 0) continue;
    if (name === "Age") {
      const age = (row: Row) =>
        Number.isNaN(row.createdMs) ? cellText(row.cells[index]) : ageText(Date.now() - row.createdMs);
      columns.push({ ...column(name, description, "age", rows, age), width: 8, grow: 0.4 });
      continue;
    }
    const isNumber = type === "integer" || type === "number";
    const text = (row: Row) => cellText(row.cells[index]);
    const by = index === 0 && !showsNamespace ? "key" : index;
    const tone = statusTitles.has(name) ? { tone: toneOf } : {};
    columns.push({ ...column(name, description, by, rows, text), isNumber, ...tone });
  }
  return columns;
}

function column(
  title: string,
  description: string,
  sort: TableColumn["sort"],
  rows: readonly Row[],
  text: (row: Row) => string,
): TableColumn {
  const longest = rows.reduce((most, row) => Math.max(most, text(row).length), title.length + 1);
  const width = Math.max(minWidth, Math.min(maxWidth, longest + 2));
  return { title, description, width, grow: width / 10, isNumber: false, sort, text };
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
