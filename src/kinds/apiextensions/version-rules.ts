import { dns1035LabelFaults } from "../../base/names.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { checkSelectableFields } from "./selectable-fields.ts";
import { checkRootSchema } from "./schema-rules.ts";
import type { Schema } from "./schema.ts";

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/** Checks the type of a column. */
export function columnType(type: string, report: FieldReport): void {
  if (!columnTypes.includes(type)) report.invalid(type, `must be one of ${columnTypes.join(", ")}`);
}

/** Checks the format of a column. */
export function columnFormat(format: string, report: FieldReport): void {
  if (!columnFormats.includes(format)) report.invalid(format, `must be one of ${columnFormats.join(", ")}`);
}

/** Requires a simple path that starts with a dot. */
export function simplePath(path: string, report: FieldReport): void {
  if (!path.startsWith(".")) report.invalid(path, "must be a simple json path starting with .");
}

/** Returns a check for a path below one of the given paths. */
export function pathBelow(...places: readonly string[]): (path: string, report: FieldReport) => void {
  const parts = places.map((one) => one.slice(0, -1)).join(" or ");
  return (path, report) => {
    if (!path.startsWith(".")) simplePath(path, report);
    else if (!places.some((one) => path.startsWith(one))) {
      report.invalid(path, `should be a json path under ${parts}`);
    }
  };
}

interface Version {
  readonly name: string;
  readonly served?: boolean | undefined;
  readonly schema?: { readonly openAPIV3Schema?: unknown } | undefined;
  readonly subresources?: { readonly status?: unknown } | undefined;
  readonly deprecated?: boolean | undefined;
  readonly deprecationWarning?: string | undefined;
  readonly selectableFields?: readonly { readonly jsonPath: string }[] | undefined;
}

const maxWarningLength = 256;

/** Requires a name and a schema; checks the deprecation warning. */
export function checkVersion(version: Version, report: FieldReport, context: KindContext): void {
  for (const message of dns1035LabelFaults(version.name)) report.at("name").invalid(version.name, message);
  checkWarning(version, report.at("deprecationWarning"));
  const schema = version.schema?.openAPIV3Schema as Schema | undefined;
  checkSelectableFields(version.selectableFields ?? [], schema, report.at("selectableFields"));
  const at = report.at("schema", "openAPIV3Schema");
  if (schema === undefined) {
    if (version.served === true) at.required("schemas are required");
    return;
  }
  const hasStatus = version.subresources?.status !== undefined;
  at.defer((own) => checkRootSchema(schema, hasStatus, own, context));
}

function checkWarning({ deprecated, deprecationWarning: warning }: Version, report: FieldReport): void {
  if (warning === undefined) return;
  if (deprecated !== true) report.invalid(warning, "can only be set for deprecated versions");
  if (warning.length > maxWarningLength) {
    report.invalid(warning, `must be <= ${maxWarningLength} characters in length`);
  }
  if (warning.trim() === "") report.invalid(warning, "must not be an empty string");
  if (/[\p{C}\u2028\u2029]/u.test(warning)) {
    report.invalid(warning, "must only contain printable UTF-8 characters");
  }
}
