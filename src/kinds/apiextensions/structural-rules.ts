import { isDeepStrictEqual } from "node:util";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { checkInTurns } from "../../schema/check-in-turns.ts";
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
export function checkStructure(
  schema: Schema,
  report: FieldReport,
  { vocabulary }: KindContext,
): MaybePromise<void> {
  return checkNode({ schema, level: "root", report }, vocabulary);
}

/** A schema outside of every junctor. */
interface StructuralNode {
  readonly schema: Schema;
  readonly level: Level;
  readonly report: FieldReport;
}

/** Cost of checking one nested schema; see {@link FieldReport.spend}. */
const schemaUnits = 20;

function checkNode({ schema, level, report }: StructuralNode, vocabulary: Vocabulary): MaybePromise<void> {
  report.spend(schemaUnits);
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
  const below = checkInTurns(nodesBelow(schema, report), report, (node) => checkNode(node, vocabulary));
  return andThen(below, () => {
    const narrowed = { structure: schema, report, vocabulary };
    return checkJunctors(schema, saysIntegerOrString(schema), report, narrowed);
  });
}

function nodesBelow(schema: Schema, report: FieldReport): readonly StructuralNode[] {
  const nodes: StructuralNode[] = [];
  const items = itemSchema(schema);
  if (items !== undefined) nodes.push({ schema: items, level: "item", report: report.at("items") });
  const members = memberSchema(schema);
  if (members !== undefined)
    nodes.push({ schema: members, level: "field", report: report.at("additionalProperties") });
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    nodes.push({ schema: property, level: "field", report: report.at("properties").key(name) });
  }
  return nodes;
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

/** A part of a junctor, or a schema inside of one. */
interface NarrowingPart {
  readonly part: Schema;
  /** Whether its `anyOf` declares an integer or string, and isn't checked. */
  readonly skipAnyOf: boolean;
  readonly report: FieldReport;
  readonly narrowed: Narrowed;
}

/**
 * Checks the parts of allOf, anyOf, oneOf and not, which may only restrict values.
 *
 * @param skipAnyOf skips an `anyOf` that declares an integer or string.
 */
function checkJunctors(
  schema: Schema,
  skipAnyOf: boolean,
  report: FieldReport,
  narrowed: Narrowed,
): MaybePromise<void> {
  return checkInTurns(junctorParts(schema, skipAnyOf, report, narrowed), report, checkNarrowing);
}

function junctorParts(
  schema: Schema,
  skipAnyOf: boolean,
  report: FieldReport,
  narrowed: Narrowed,
): readonly NarrowingPart[] {
  const isStructure = schema === narrowed.structure;
  const partsOf = (name: "anyOf" | "allOf" | "oneOf"): readonly NarrowingPart[] =>
    (schema[name] ?? []).map((part, index) => ({
      part,
      skipAnyOf: name === "allOf" && isStructure && index === 0 && saysIntegerOrString(part),
      report: report.at(name, index),
      narrowed,
    }));
  const parts = [...(skipAnyOf ? [] : partsOf("anyOf")), ...partsOf("allOf"), ...partsOf("oneOf")];
  if (schema.not !== undefined)
    parts.push({ part: schema.not, skipAnyOf: false, report: report.at("not"), narrowed });
  return parts;
}

function checkNarrowing({ part, skipAnyOf, report, narrowed }: NarrowingPart): MaybePromise<void> {
  report.spend(schemaUnits);
  if (report.full) return;
  const { structure } = narrowed;
  if (structure === undefined) return narrowed.report.required(`because it is defined in ${report.path}`);
  checkOnlyNarrows(part, report, narrowed.vocabulary);
  const below = checkInTurns(narrowingBelow(part, structure, report, narrowed), report, checkNarrowing);
  return andThen(below, () => checkJunctors(part, skipAnyOf, report, narrowed));
}

function narrowingBelow(
  part: Schema,
  structure: Schema,
  report: FieldReport,
  narrowed: Narrowed,
): readonly NarrowingPart[] {
  const below: NarrowingPart[] = [];
  const items = itemSchema(part);
  if (items !== undefined) {
    below.push({
      part: items,
      skipAnyOf: false,
      report: report.at("items"),
      narrowed: { ...narrowed, structure: itemSchema(structure), report: narrowed.report.at("items") },
    });
  }
  const structuralProperties = structure.properties ?? {};
  for (const [name, property] of Object.entries(part.properties ?? {})) {
    below.push({
      part: property,
      skipAnyOf: false,
      report: report.at("properties").key(name),
      narrowed: {
        ...narrowed,
        structure: Object.hasOwn(structuralProperties, name) ? structuralProperties[name] : undefined,
        report: narrowed.report.at("properties").key(name),
      },
    });
  }
  return below;
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
