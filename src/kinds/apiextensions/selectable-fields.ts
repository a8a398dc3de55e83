import type { FieldReport } from "../../schema/faults.ts";
import { parseFieldPath } from "./field-path.ts";
import type { Schema } from "./schema.ts";

const maxFields = 8;
const selectableTypes = new Set(["boolean", "integer", "string"]);

/** Requires at most 8 unique paths of texts, integers and booleans in the schema, outside of the metadata. */
export function checkSelectableFields(
  fields: readonly { readonly jsonPath: string }[],
  schema: Schema | undefined,
  report: FieldReport,
): void {
  if (fields.length === 0) return;
  if (schema === undefined)
    return report.invalid("", "selectableFields may only be set when a schema is set");
  const seen = new Set<string>();
  for (const [index, { jsonPath }] of fields.entries()) {
    if (report.full) return;
    if (jsonPath === "") continue;
    const at = report.at(index, "jsonPath");
    const path = selectablePath(jsonPath);
    const target = path && schemaAt(schema, path);
    if (path === undefined) {
      at.invalid(jsonPath, "is an invalid path: must be names behind dots, such as .spec.color");
      continue;
    }
    if (target === undefined) {
      at.invalid(jsonPath, "is an invalid path: does not refer to a valid field");
      continue;
    }
    if (path[0] === "metadata") at.invalid(jsonPath, "must not point to fields in metadata");
    if (!selectableTypes.has(target.type ?? "")) {
      at.invalid(jsonPath, "must point to a field of type string, boolean or integer");
    }
    const name = path.join(".");
    if (seen.has(name)) at.duplicate(jsonPath);
    seen.add(name);
  }
  if (seen.size > maxFields) report.tooMany(seen.size, maxFields);
}

/** Returns the names of a path such as `.spec.color`; undefined if it is malformed or has brackets. */
export function selectablePath(jsonPath: string): readonly string[] | undefined {
  const segments = parseFieldPath(jsonPath);
  if (segments === undefined || segments.length === 0) return undefined;
  return segments.some(({ isQuoted }) => isQuoted) ? undefined : segments.map(({ name }) => name);
}

/** Returns the schema of a field; undefined if the schema doesn't have it. */
function schemaAt(schema: Schema, path: readonly string[]): Schema | undefined {
  let current = schema;
  for (const name of path) {
    const properties = current.properties ?? {};
    if (!Object.hasOwn(properties, name)) return undefined;
    current = properties[name]!;
  }
  return current;
}
