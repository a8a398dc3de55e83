import { isDeepStrictEqual } from "node:util";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { itemSchema, marks, memberSchema, type Marks, type Schema } from "./schema.ts";

/*
 * A structural schema says outside of every `allOf`, `anyOf`, `oneOf` and `not` what type each value has, so that unknown
 * fields can be told and dropped, and objects converted, by the structure alone. Inside of those it may only narrow.
 */

type Level = "root" | "field" | "item";

const missingType: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/** Checks that a schema is structural. */
export function checkStructure(schema: Schema, report: FieldReport, { vocabulary }: KindContext): void {
  checkNode(schema, "root", report, vocabulary);
}

function checkNode(schema: Schema, level: Level, report: FieldReport, vocabulary: Vocabulary): void {
  if (report.full) return;
  const own = marks(schema, vocabulary);
  checkMarks(schema, own, report, vocabulary.schemaExtensionPrefix);
  const { type = "" } = schema;
  if (type === "" && !own.embeddedResource && !own.intOrString && own.preserveUnknownFields !== true) {
    report.at("type").required(missingType[level]);
  }
  if (level === "root") {
    if (type !== "" && type !== "object") report.at("type").invalid(type, "must be object at the root");
    if (schema.additionalProperties !== undefined) {
      report.at("additionalProperties").forbidden("must not be used at the root");
    }
  }
  if (level === "root" || own.embeddedResource) checkMetadata(schema, level, report.at("properties"));
  if (type === "array" && schema.items === undefined) report.at("items").required("must be specified");
  const items = itemSchema(schema);
  if (items !== undefined) checkNode(items, "item", report.at("items"), vocabulary);
  const members = memberSchema(schema);
  if (members !== undefined) checkNode(members, "field", report.at("additionalProperties"), vocabulary);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkNode(property, "field", report.at("properties").key(name), vocabulary);
  }
  const narrowed = { structure: schema, report, vocabulary };
  checkJunctors(schema, saysIntegerOrString(schema), report, narrowed);
}

function checkMarks(schema: Schema, own: Marks, report: FieldReport, prefix: string): void {
  const { type = "" } = schema;
  if (own.intOrString) {
    const message = `must be false if ${prefix}int-or-string is true`;
    if (own.preserveUnknownFields === true)
      report.at(`${prefix}preserve-unknown-fields`).invalid(true, message);
    if (own.embeddedResource) report.at(`${prefix}embedded-resource`).invalid(true, message);
  }
  if (!own.embeddedResource) return;
  const message = `must be object if ${prefix}embedded-resource is true`;
  if (type === "") report.at("type").required(message);
  else if (type !== "object") report.at("type").invalid(type, message);
  if (schema.additionalProperties !== undefined) {
    report.at("additionalProperties").forbidden(`must not be used if ${prefix}embedded-resource is set`);
  }
  if (own.preserveUnknownFields !== true && Object.keys(schema.properties ?? {}).length === 0) {
    report
      .at("properties")
      .required(
        `must not be empty if ${prefix}embedded-resource is true without ${prefix}preserve-unknown-fields`,
      );
  }
}

/** Schemas may not redefine the types of apiVersion, kind and metadata; of the root's metadata only names may be restricted. */
function checkMetadata({ properties = {} }: Schema, level: Level, report: FieldReport): void {
  for (const name of ["apiVersion", "kind"]) {
    if (!Object.hasOwn(properties, name) || properties[name]!.type === "string") continue;
    report
      .key(name)
      .at("type")
      .invalid(properties[name]!.type ?? "", "must be string");
  }
  if (!Object.hasOwn(properties, "metadata")) return;
  const { type = "", default: _, properties: members = {}, ...further } = properties["metadata"]!;
  const at = report.key("metadata");
  if (type !== "object") at.at("type").invalid(type, "must be object");
  if (level !== "root") return;
  const others = Object.keys(members).some((name) => name !== "name" && name !== "generateName");
  if (others || Object.keys(further).length > 0) {
    at.forbidden(
      "must not specify anything other than name and generateName, but metadata is implicitly specified",
    );
  }
}

const integerOrString = [{ type: "integer" }, { type: "string" }];

/** Returns true if a schema has the form of an integer or string; the types in its `anyOf` are allowed. */
function saysIntegerOrString({ anyOf }: Schema): boolean {
  return anyOf?.length === 2 && isDeepStrictEqual(anyOf, integerOrString);
}

/** The structural schema around the parts of a junctor, and its position. */
interface Narrowed {
  readonly structure: Schema | undefined;
  readonly report: FieldReport;
  readonly vocabulary: Vocabulary;
}

/**
 * Checks the parts of allOf, anyOf, oneOf and not, which may only restrict values.
 *
 * @param skipAnyOf skips an `anyOf` that declares an integer or string.
 */
function checkJunctors(schema: Schema, skipAnyOf: boolean, report: FieldReport, narrowed: Narrowed): void {
  const isStructure = schema === narrowed.structure;
  if (!skipAnyOf) {
    for (const [index, part] of (schema.anyOf ?? []).entries()) {
      checkNarrowing(part, false, report.at("anyOf", index), narrowed);
    }
  }
  for (const [index, part] of (schema.allOf ?? []).entries()) {
    const skip = isStructure && index === 0 && saysIntegerOrString(part);
    checkNarrowing(part, skip, report.at("allOf", index), narrowed);
  }
  for (const [index, part] of (schema.oneOf ?? []).entries()) {
    checkNarrowing(part, false, report.at("oneOf", index), narrowed);
  }
  if (schema.not !== undefined) checkNarrowing(schema.not, false, report.at("not"), narrowed);
}

function checkNarrowing(part: Schema, skipAnyOf: boolean, report: FieldReport, narrowed: Narrowed): void {
  if (report.full) return;
  const { structure } = narrowed;
  if (structure === undefined) return narrowed.report.required(`because it is defined in ${report.path}`);
  checkOnlyNarrows(part, report, narrowed.vocabulary);
  const items = itemSchema(part);
  if (items !== undefined) {
    const below = { ...narrowed, structure: itemSchema(structure), report: narrowed.report.at("items") };
    checkNarrowing(items, false, report.at("items"), below);
  }
  const structuralProperties = structure.properties ?? {};
  for (const [name, property] of Object.entries(part.properties ?? {})) {
    const below = {
      ...narrowed,
      structure: Object.hasOwn(structuralProperties, name) ? structuralProperties[name] : undefined,
      report: narrowed.report.at("properties").key(name),
    };
    checkNarrowing(property, false, report.at("properties").key(name), below);
  }
  checkJunctors(part, skipAnyOf, report, narrowed);
}

/** Rejects members that may only be in the structural part of a schema. */
function checkOnlyNarrows(part: Schema, report: FieldReport, vocabulary: Vocabulary): void {
  const prefix = vocabulary.schemaExtensionPrefix;
  for (const name of ["type", "title", "description"] as const) {
    if ((part[name] ?? "") !== "") report.at(name).forbidden("must be empty to be structural");
  }
  for (const name of ["additionalProperties", "default", "externalDocs"] as const) {
    if (part[name] !== undefined) report.at(name).forbidden("must be undefined to be structural");
  }
  if (part.nullable === true) report.at("nullable").forbidden("must be false to be structural");
  for (const [name, value] of Object.entries(part)) {
    if (name.startsWith(prefix) && value !== undefined && value !== false) {
      report.at(name).forbidden("must be undefined to be structural");
    }
  }
  if (Object.hasOwn(part.properties ?? {}, "metadata")) {
    report.at("properties").key("metadata").forbidden("must not be specified in a nested context");
  }
}
