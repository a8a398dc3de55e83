import { jsonOf, type JsonValue } from "../../base/json/value.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { JsonPath, JsonPathFault } from "../../base/json/json-path.ts";
import type { Since } from "../../schema/context.ts";
import type { Column } from "../../schema/columns.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { VocabularyBehavior } from "../../vocabulary/behavior.ts";
import { agedCell, ageColumn, defaultColumns, nameColumn } from "../../kinds/columns.ts";

/** A column of a definition. */
export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  readonly priority?: number | undefined;
  readonly jsonPath: string;
}

/** The columns of a custom kind's table: the name and the columns of the definition, or the default columns if it has none (spec: conventions 2.4). */
export function customColumns(
  definitions: readonly ColumnDefinition[],
  { ageOfCustomObjects }: VocabularyBehavior,
): readonly Column[] {
  if (definitions.length > 0) {
    const visits = visitsOf(definitions.length);
    return [nameColumn, ...definitions.map((definition) => columnOf(definition, visits))];
  }
  return ageOfCustomObjects ? [nameColumn, { ...ageColumn, type: "date" }] : defaultColumns;
}

/** Maximum number of values of an object that the JSON paths of all cells of a row visit. */
const rowVisits = 200_000;
/** Minimum of that limit for one cell, regardless of the number of columns. */
const minCellVisits = 100;

function visitsOf(columns: number): number {
  return Math.max(minCellVisits, Math.floor(rowVisits / columns));
}

function columnOf(definition: ColumnDefinition, visits: number): Column {
  const { name, type, format, description = "", priority = 0, jsonPath } = definition;
  const path = pathOf(jsonPath);
  return {
    name,
    type: type as Column["type"],
    ...(format !== undefined && format !== "" && { format: format as "name" }),
    doc:
      description === ""
        ? `Custom resource definition column (in JSONPath format): ${jsonPath}`
        : description,
    priority: priority as 0 | 1,
    ...agedCell((object: ApiObject, since) => cellOf(type, path?.first(jsonOf(object), visits), since)),
  };
}

/** Parses a JSON path; undefined for an invalid one, whose cells are empty. */
function pathOf(text: string): JsonPath | undefined {
  try {
    return JsonPath.parse(text);
  } catch (error) {
    if (error instanceof JsonPathFault) return undefined;
    throw error;
  }
}

/** The content of a cell; null for a missing value or one of another type than the column. */
function cellOf(type: string, value: JsonValue | undefined, since: Since): unknown {
  if (value === undefined || value === null) return null;
  switch (type) {
    case "string":
      return typeof value === "string" ? value : encodeJson(value);
    case "date":
      if (typeof value !== "string") return null;
      return Number.isNaN(Date.parse(value)) ? "<invalid>" : since(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : typeof value === "bigint" ? value : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    default:
      return null;
  }
}
