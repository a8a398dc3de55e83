import { createHash } from "node:crypto";
import { encodeJson } from "../../base/json/encode.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import { checkInTurns } from "../../schema/check-in-turns.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { checkValue } from "../../schema/custom/check.ts";
import { Pattern } from "../../schema/custom/pattern.ts";
import { pruneMembers } from "../../schema/custom/read.ts";
import {
  parseSchema,
  schemaCost,
  type SchemaNode,
  type ValidationRule,
} from "../../schema/custom/schema-node.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { checkListMarks } from "./list-rules.ts";
import { itemSchema, marks, memberSchema, type Marks, type Schema } from "./schema.ts";
import { checkStructure } from "./structural-rules.ts";

/** Position of a schema in the schema of a definition. */
interface SchemaPosition {
  readonly context: KindContext;
  readonly isRoot: boolean;
  /** Whether it is in the metadata of an object, which the server validates. */
  readonly insideMetadata: boolean;
  /** The compiled patterns of the whole schema. */
  readonly patterns: Map<string, Pattern>;
  /** Why defaults are not allowed here; undefined if they are. */
  readonly noDefault: string | undefined;
}

const typeNames = ["array", "boolean", "integer", "number", "object", "string"];

/** Members that are allowed at the root when the status is a subresource: the others could depend on the status. */
const rootFields = new Set([
  "description",
  "type",
  "format",
  "title",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "required",
  "items",
  "properties",
  "externalDocs",
  "example",
]);
const rootMarks = ["preserve-unknown-fields", "validations"];

/** The units that the check of recent valid schemas took, by {@link schemaKey}: definitions are written several times, and by many servers. */
const validSchemas = new RecentMap<number>({ entries: 4096, cost: 0 });

function schemaKey(schema: Schema, hasStatus: boolean, { vocabulary }: KindContext): string {
  const digest = createHash("sha256")
    .update(encodeJson(schema as JsonValue))
    .digest("base64");
  return `${vocabulary.name} ${hasStatus} ${digest}`;
}

/**
 * Checks the whole schema of a version: supported parts of OpenAPI, and that the schema gives every value a type
 * ("structural schema"). Expressions are compiled after all other rules; see `expression-rules.ts`.
 */
export function checkRootSchema(
  schema: Schema,
  hasStatus: boolean,
  report: FieldReport,
  context: KindContext,
): MaybePromise<void> {
  const key = schemaKey(schema, hasStatus, context);
  const units = validSchemas.get(key);
  if (units !== undefined) return report.spend(units);
  const [faults, remaining] = [report.faults.length, report.remainingUnits];
  return andThen(checkUncachedSchema(schema, hasStatus, report, context), () => {
    if (report.faults.length === faults && report.remainingUnits >= 0)
      validSchemas.set(key, remaining - report.remainingUnits);
  });
}

function checkUncachedSchema(
  schema: Schema,
  hasStatus: boolean,
  report: FieldReport,
  context: KindContext,
): MaybePromise<void> {
  if (hasStatus) checkRootFields(schema, report, context);
  if (schema.nullable === true) report.at("nullable").forbidden("nullable cannot be true at the root");
  const checked = checkSchema(schema, report, {
    context,
    isRoot: true,
    insideMetadata: false,
    patterns: new Map(),
    noDefault: undefined,
  });
  return andThen(checked, () => checkStructure(schema, report, context));
}

function checkRootFields(schema: Schema, report: FieldReport, { vocabulary }: KindContext): void {
  const { type = "" } = schema;
  if (type !== "" && type !== "object") {
    report
      .at("type")
      .invalid(
        type,
        'only "object" is allowed at the root of the schema if the status subresource is enabled',
      );
  }
  const allowedMarks = rootMarks.map((name) => vocabulary.schemaExtensionPrefix + name);
  const stray = Object.keys(schema).find((name) => !rootFields.has(name) && !allowedMarks.includes(name));
  if (stray === undefined) return;
  const allowed = [...rootFields, ...allowedMarks].join(", ");
  report.invalid(
    stray,
    `only these fields are allowed at the root of the schema if the status subresource is enabled: ${allowed}`,
  );
}

/** Cost of reading a nested schema; see {@link FieldReport.spend}. */
const readUnits = 5;

/** Requires that the schema allows its default, and that the default has no members that would be pruned. */
function checkDefault(schema: Schema, report: FieldReport, vocabulary: Vocabulary): MaybePromise<void> {
  report.spend(schemaCost(schema) * readUnits);
  if (report.full) return;
  const node = parseSchema(schema, vocabulary.schemaExtensionPrefix);
  const value = schema.default as JsonValue;
  return andThen(checkValue(node, value, report), () => {
    if (isObject(value)) checkNoUnknown(node, value, report);
  });
}

/** Requires that a default has no members that would be pruned. */
function checkNoUnknown(node: SchemaNode, value: JsonObject, report: FieldReport): void {
  const unknown: string[] = [];
  const support = {
    unknown: (steps: readonly (string | number)[]) => void unknown.push(steps.join(".")),
    metadata: (metadata: JsonValue) => metadata,
  };
  pruneMembers(node, value, [], support);
  if (unknown.length > 0)
    report.invalid(value, `must not have unknown fields: ${unknown.slice(0, 10).join(", ")}`);
}

/** Cost of checking one nested schema, without its default and its pattern; see {@link FieldReport.spend}. */
const schemaUnits = 20;

function checkSchema(schema: Schema, report: FieldReport, standing: SchemaPosition): MaybePromise<void> {
  report.spend(schemaUnits);
  if (report.full) return;
  const own = marks(schema, standing.context.vocabulary);
  checkUnsupported(schema, report);
  checkType(schema, own, report, standing);
  let defaultChecked: MaybePromise<void> = undefined;
  if (schema.default !== undefined && standing.noDefault !== undefined) {
    report.at("default").forbidden(`must not be set ${standing.noDefault}`);
  } else if (schema.default !== undefined) {
    defaultChecked = checkDefault(schema, report.at("default"), standing.context.vocabulary);
  }
  return andThen(defaultChecked, () => checkOther(schema, own, report, standing));
}

/** Checks the members that come after the default, and what is below. */
function checkOther(
  schema: Schema,
  own: Marks,
  report: FieldReport,
  standing: SchemaPosition,
): MaybePromise<void> {
  if ((schema.pattern ?? "") !== "") checkPattern(schema.pattern!, report.at("pattern"), standing.patterns);
  if (memberSchema(schema) !== undefined || schema.additionalProperties === false) {
    if (Object.keys(schema.properties ?? {}).length > 0) {
      report.at("additionalProperties").forbidden("additionalProperties and properties are mutual exclusive");
    }
  }
  checkListMarks(schema, own, report, standing.context.vocabulary);
  checkExpressions(own, report.at(`${standing.context.vocabulary.schemaExtensionPrefix}validations`));
  return checkInTurns(schemasBelow(schema, own, report, standing), report, (below) =>
    checkSchema(below.schema, below.report, below.standing),
  );
}

/** Cost of compiling a character or an instruction of a pattern; see {@link FieldReport.spend}. */
const compileUnits = 50;

/**
 * Requires a valid pattern. The cost of all patterns of a definition is bounded, because the time to compile one grows
 * with its size.
 */
function checkPattern(source: string, report: FieldReport, known: Map<string, Pattern>): void {
  let pattern = known.get(source);
  if (pattern === undefined) {
    report.spend(source.length * compileUnits);
    if (report.full) return;
    known.set(source, (pattern = new Pattern(source)));
    report.spend(pattern.size * compileUnits);
  }
  const { error } = pattern;
  if (error !== undefined) report.invalid(source, `must be a valid regular expression: ${error}`);
}

/** Rejects unsupported parts of JSON Schema. */
function checkUnsupported(schema: Schema, report: FieldReport): void {
  const unsupported = [
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
  ] as const;
  for (const name of unsupported) {
    if (schema[name] !== undefined) report.at(name).forbidden(`${name} is not supported`);
  }
  if (schema.uniqueItems === true) {
    report
      .at("uniqueItems")
      .forbidden("uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
  }
  if (Array.isArray(schema.items)) {
    report.at("items").forbidden("items must be a schema object and not an array");
  }
}

function checkType(schema: Schema, own: Marks, report: FieldReport, standing: SchemaPosition): void {
  const { type = "" } = schema;
  const prefix = standing.context.vocabulary.schemaExtensionPrefix;
  if (type === "null") {
    report.at("type").forbidden("type cannot be set to null, use nullable as an alternative");
  } else if (type !== "" && !typeNames.includes(type)) {
    report.at("type").notSupported(type, typeNames);
  }
  if (own.preserveUnknownFields === false) {
    report.at(`${prefix}preserve-unknown-fields`).invalid(false, "must be true or undefined");
  }
  if (standing.insideMetadata && own.embeddedResource) {
    report.at(`${prefix}embedded-resource`).forbidden("must not be used inside of resource meta");
  }
  if (own.mapType === undefined) return;
  if (type !== "object") {
    const message = `must be object if ${prefix}map-type is specified`;
    if (type === "") report.at("type").required(message);
    else report.at("type").invalid(type, message);
  }
  if (own.mapType !== "atomic" && own.mapType !== "granular") {
    report.at(`${prefix}map-type`).notSupported(own.mapType, ["atomic", "granular"]);
  }
}

/** Requires expressions; their messages must be a single line. */
function checkExpressions({ validations }: Marks, report: FieldReport): void {
  for (const [index, { rule, message = "" }] of validations.entries()) {
    if (report.full) return;
    const at = report.at(index);
    if (rule.trim() === "") at.at("rule").required("rule is not specified");
    if (message !== "" && message.trim() === "") {
      at.at("message").invalid(message, "message must be non-empty if specified");
    } else if (/[\n\r]/.test(message.trim())) {
      at.at("message").invalid(message, "message must not contain line breaks");
    } else if (message === "" && /[\n\r]/.test(rule.trim())) {
      at.at("message").required("message must be specified if rule contains line breaks");
    }
    checkLaterMembers(validations[index]!, at);
  }
}

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Checks the fields that later releases added to rules. The path is checked with the whole schema. */
function checkLaterMembers(rule: ValidationRule, report: FieldReport): void {
  const { messageExpression = "", reason, fieldPath = "" } = rule;
  if (messageExpression !== "" && messageExpression.trim() === "") {
    report.at("messageExpression").required("messageExpression must be non-empty if specified");
  }
  if (reason !== undefined && reason !== null && !reasons.includes(reason)) {
    report.at("reason").notSupported(reason, reasons);
  }
  if (fieldPath !== "" && fieldPath.trim() === "") {
    report.at("fieldPath").invalid(fieldPath, "must be non-empty if specified");
  }
  if (fieldPath.includes("\n")) report.at("fieldPath").invalid(fieldPath, "must not contain line breaks");
}

/** A schema inside another one. */
interface NestedSchema {
  readonly schema: Schema;
  readonly report: FieldReport;
  readonly standing: SchemaPosition;
}

function schemasBelow(
  schema: Schema,
  own: Marks,
  report: FieldReport,
  standing: SchemaPosition,
): readonly NestedSchema[] {
  const nested: NestedSchema[] = [];
  const below = { ...standing, isRoot: false };
  const members = memberSchema(schema);
  if (members !== undefined)
    nested.push({ schema: members, report: report.at("additionalProperties"), standing: below });
  const holdsMetadata = standing.isRoot || own.embeddedResource;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = holdsMetadata && ["apiVersion", "kind", "metadata"].includes(name);
    const insideMetadata = standing.insideMetadata || isMeta;
    const noDefault = isMeta && standing.isRoot ? `in top-level ${name}` : standing.noDefault;
    nested.push({
      schema: property,
      report: report.at("properties").key(name),
      standing: { ...below, insideMetadata, noDefault },
    });
  }
  const items = itemSchema(schema);
  if (items !== undefined) nested.push({ schema: items, report: report.at("items"), standing: below });
  for (const name of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [index, part] of (schema[name] ?? []).entries()) {
      const partStanding = { ...below, noDefault: `inside ${name}` };
      nested.push({ schema: part, report: report.at(name, index), standing: partStanding });
    }
  }
  if (schema.not !== undefined) {
    const notStanding = { ...below, noDefault: "inside not" };
    nested.push({ schema: schema.not, report: report.at("not"), standing: notStanding });
  }
  return nested;
}
