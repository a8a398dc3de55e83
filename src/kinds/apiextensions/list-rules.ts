import type { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { itemSchema, marks, type Marks, type Schema } from "./schema.ts";

const listTypes = ["atomic", "map", "set"];

/** Checks the list type and its requirements for the items. */
export function checkListMarks(
  schema: Schema,
  own: Marks,
  report: FieldReport,
  vocabulary: Vocabulary,
): void {
  const prefix = vocabulary.schemaExtensionPrefix;
  const { listType, listMapKeys } = own;
  if (listMapKeys.length > 0 && listType !== "map") {
    const message = `must be map if ${prefix}list-map-keys is non-empty`;
    if (listType === undefined) report.at(`${prefix}list-type`).required(message);
    else report.at(`${prefix}list-type`).invalid(listType, message);
  }
  if (listType === undefined) return;
  const { type = "" } = schema;
  if (type !== "array") {
    const message = `must be array if ${prefix}list-type is specified`;
    if (type === "") report.at("type").required(message);
    else report.at("type").invalid(type, message);
  }
  if (!listTypes.includes(listType)) report.at(`${prefix}list-type`).notSupported(listType, listTypes);
  if ((listType === "set" || listType === "map") && itemSchema(schema)?.nullable === true) {
    report.at("items", "nullable").forbidden(`cannot be nullable when ${prefix}list-type is ${listType}`);
  }
  if (listType === "set") checkSetItems(itemSchema(schema), report.at("items"), vocabulary);
  if (listType === "map") checkMapList(schema, own, report, prefix);
}

/** Items of a set are compared and owned as a whole, so they must be scalar or atomic. */
function checkSetItems(items: Schema | undefined, report: FieldReport, vocabulary: Vocabulary): void {
  if (items === undefined) return;
  const { listType, mapType } = marks(items, vocabulary);
  const prefix = vocabulary.schemaExtensionPrefix;
  const message = `must be atomic as item of a list with ${prefix}list-type=set`;
  if (items.type === "array" && listType !== undefined && listType !== "atomic") {
    report.at(`${prefix}list-type`).invalid(listType, message);
  }
  if (items.type === "object" && mapType !== "atomic")
    report.at(`${prefix}map-type`).invalid(mapType, message);
}

function checkMapList(schema: Schema, own: Marks, report: FieldReport, prefix: string): void {
  const keysReport = report.at(`${prefix}list-map-keys`);
  if (own.listMapKeys.length === 0) {
    keysReport.required(`must not be empty if ${prefix}list-type is map`);
  }
  const items = itemSchema(schema);
  if (schema.items === undefined) {
    return report.at("items").required(`must have a schema if ${prefix}list-type is map`);
  }
  if (items === undefined) {
    return report
      .at("items")
      .invalid("a list", `must only have a single schema if ${prefix}list-type is map`);
  }
  if (items.type !== "object") {
    return report
      .at("items", "type")
      .invalid(items.type ?? "", `must be object if parent array's ${prefix}list-type is map`);
  }
  const seen = new Set<string>();
  const required = new Set(items.required ?? []);
  for (const key of own.listMapKeys) {
    if (report.full) return;
    if (seen.has(key)) keysReport.invalid(key, "must not contain duplicate entries");
    seen.add(key);
    const properties = items.properties ?? {};
    if (!Object.hasOwn(properties, key)) {
      keysReport.invalid(key, "entries must all be names of item properties");
    } else {
      checkKey(properties[key]!, required.has(key), report.at("items", "properties").key(key), prefix);
    }
  }
}

/** Checks a key of a list map: every item must have a value for it. */
function checkKey(property: Schema, isRequired: boolean, report: FieldReport, prefix: string): void {
  const { type = "" } = property;
  if (type === "array" || type === "object") {
    report.at("type").invalid(type, `must be a scalar type if parent array's ${prefix}list-type is map`);
  }
  if (property.default === undefined && !isRequired) {
    report
      .at("default")
      .required(
        `this property is in ${prefix}list-map-keys, so it must have a default or be a required property`,
      );
  }
  if (property.nullable === true) {
    report.at("nullable").forbidden(`this property is in ${prefix}list-map-keys, so it cannot be nullable`);
  }
}
