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
export function checkStructure(schema: Schema, place: FieldReport, { vocabulary }: KindContext): void {
  checkNode(schema, "root", place, vocabulary);
}

function checkNode(schema: Schema, level: Level, place: FieldReport, vocabulary: Vocabulary): void {
  if (place.full) return;
  const own = marks(schema, vocabulary);
  checkMarks(schema, own, place, vocabulary.schemaExtensionPrefix);
  const { type = "" } = schema;
  if (type === "" && !own.embeddedResource && !own.intOrString && own.preserveUnknownFields !== true) {
    place.at("type").required(missingType[level]);
  }
  if (level === "root") {
    if (type !== "" && type !== "object") place.at("type").invalid(type, "must be object at the root");
    if (schema.additionalProperties !== undefined) {
      place.at("additionalProperties").forbidden("must not be used at the root");
    }
  }
  if (level === "root" || own.embeddedResource) checkMetadata(schema, level, place.at("properties"));
  if (type === "array" && schema.items === undefined) place.at("items").required("must be specified");
  const items = itemSchema(schema);
  if (items !== undefined) checkNode(items, "item", place.at("items"), vocabulary);
  const members = memberSchema(schema);
  if (members !== undefined) checkNode(members, "field", place.at("additionalProperties"), vocabulary);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkNode(property, "field", place.at("properties").key(name), vocabulary);
  }
  const narrowed = { structure: schema, place, vocabulary };
  checkJunctors(schema, saysIntegerOrString(schema), place, narrowed);
}

function checkMarks(schema: Schema, own: Marks, place: FieldReport, prefix: string): void {
  const { type = "" } = schema;
  if (own.intOrString) {
    const message = `must be false if ${prefix}int-or-string is true`;
    if (own.preserveUnknownFields === true)
      place.at(`${prefix}preserve-unknown-fields`).invalid(true, message);
    if (own.embeddedResource) place.at(`${prefix}embedded-resource`).invalid(true, message);
  }
  if (!own.embeddedResource) return;
  const message = `must be object if ${prefix}embedded-resource is true`;
  if (type === "") place.at("type").required(message);
  else if (type !== "object") place.at("type").invalid(type, message);
  if (schema.additionalProperties !== undefined) {
    place.at("additionalProperties").forbidden(`must not be used if ${prefix}embedded-resource is set`);
  }
  if (own.preserveUnknownFields !== true && Object.keys(schema.properties ?? {}).length === 0) {
    place
      .at("properties")
      .required(
        `must not be empty if ${prefix}embedded-resource is true without ${prefix}preserve-unknown-fields`,
      );
  }
}

/** Schemas may not redefine the types of apiVersion, kind and metadata; of the root's metadata only names may be restricted. */
function checkMetadata({ properties = {} }: Schema, level: Level, place: FieldReport): void {
  for (const name of ["apiVersion", "kind"]) {
    if (!Object.hasOwn(properties, name) || properties[name]!.type === "string") continue;
    place
      .key(name)
      .at("type")
      .invalid(properties[name]!.type ?? "", "must be string");
  }
  if (!Object.hasOwn(properties, "metadata")) return;
  const { type = "", default: _, properties: members = {}, ...further } = properties["metadata"]!;
  const at = place.key("metadata");
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
  readonly place: FieldReport;
  readonly vocabulary: Vocabulary;
}

/**
 * Checks the parts of allOf, anyOf, oneOf and not, which may only restrict values.
 *
 * @param skipAnyOf skips an `anyOf` that declares an integer or string.
 */
function checkJunctors(schema: Schema, skipAnyOf: boolean, place: FieldReport, narrowed: Narrowed): void {
  const isStructure = schema === narrowed.structure;
  if (!skipAnyOf) {
    for (const [index, part] of (schema.anyOf ?? []).entries()) {
      checkNarrowing(part, false, place.at("anyOf", index), narrowed);
    }
  }
  for (const [index, part] of (schema.allOf ?? []).entries()) {
    const skip = isStructure && index === 0 && saysIntegerOrString(part);
    checkNarrowing(part, skip, place.at("allOf", index), narrowed);
  }
  for (const [index, part] of (schema.oneOf ?? []).entries()) {
    checkNarrowing(part, false, place.at("oneOf", index), narrowed);
  }
  if (schema.not !== undefined) checkNarrowing(schema.not, false, place.at("not"), narrowed);
}

function checkNarrowing(part: Schema, skipAnyOf: boolean, place: FieldReport, narrowed: Narrowed): void {
  if (place.full) return;
  const { structure } = narrowed;
  if (structure === undefined) return narrowed.place.required(`because it is defined in ${place.path}`);
  checkOnlyNarrows(part, place, narrowed.vocabulary);
  const items = itemSchema(part);
  if (items !== undefined) {
    const below = { ...narrowed, structure: itemSchema(structure), place: narrowed.place.at("items") };
    checkNarrowing(items, false, place.at("items"), below);
  }
  const structuralProperties = structure.properties ?? {};
  for (const [name, property] of Object.entries(part.properties ?? {})) {
    const below = {
      ...narrowed,
      structure: Object.hasOwn(structuralProperties, name) ? structuralProperties[name] : undefined,
      place: narrowed.place.at("properties").key(name),
    };
    checkNarrowing(property, false, place.at("properties").key(name), below);
  }
  checkJunctors(part, skipAnyOf, place, narrowed);
}

/** Rejects members that may only be in the structural part of a schema. */
function checkOnlyNarrows(part: Schema, place: FieldReport, vocabulary: Vocabulary): void {
  const prefix = vocabulary.schemaExtensionPrefix;
  for (const name of ["type", "title", "description"] as const) {
    if ((part[name] ?? "") !== "") place.at(name).forbidden("must be empty to be structural");
  }
  for (const name of ["additionalProperties", "default", "externalDocs"] as const) {
    if (part[name] !== undefined) place.at(name).forbidden("must be undefined to be structural");
  }
  if (part.nullable === true) place.at("nullable").forbidden("must be false to be structural");
  for (const [name, value] of Object.entries(part)) {
    if (name.startsWith(prefix) && value !== undefined && value !== false) {
      place.at(name).forbidden("must be undefined to be structural");
    }
  }
  if (Object.hasOwn(part.properties ?? {}, "metadata")) {
    place.at("properties").key("metadata").forbidden("must not be specified in a nested context");
  }
}
