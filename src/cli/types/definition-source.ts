import { apiGroup } from "../../vocabulary/names.ts";
import { getMember, isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { dnsSubdomainFaults } from "../../base/names.ts";
import { kubernetes } from "../../vocabulary/kubernetes.ts";
import { platform } from "../../vocabulary/platform.ts";

/** A version of a definition, as input for its types. */
export interface SourceVersion {
  readonly name: string;
  /** Undefined if the version has no schema. */
  readonly schema: JsonObject | undefined;
  /** Path of the schema in the definition, for messages. */
  readonly path: string;
}

/** The parts of a CustomResourceDefinition from which types are written. */
export interface SourceDefinition {
  /** `metadata.name`: `orders.shop.example.com`. */
  readonly name: string;
  readonly group: string;
  readonly kind: string;
  readonly versions: readonly SourceVersion[];
}

/** Thrown for an invalid definition; the message begins with the path of the field. */
export class DefinitionFault extends Error {
  override name = "DefinitionFault";
  constructor(path: string, why: string) {
    super(path === "" ? why : `${path}: ${why}`);
  }
}

const groups = new Set(
  [platform, kubernetes].map(({ groupSuffix }) => apiGroup(groupSuffix, "apiextensions")),
);

/** Whether an object is a CustomResourceDefinition of any version. */
export function isDefinition(value: JsonValue): value is JsonObject {
  if (!isObject(value) || value["kind"] !== "CustomResourceDefinition") return false;
  const { apiVersion } = value;
  return typeof apiVersion === "string" && groups.has(apiVersion.split("/")[0]!);
}

/**
 * Reads a definition.
 *
 * @throws {DefinitionFault} if it is invalid.
 */
export function readDefinition(value: JsonObject): SourceDefinition {
  const apiVersion = textAt(value, "apiVersion", "");
  if (!apiVersion.endsWith("/v1")) {
    throw new DefinitionFault(
      "apiVersion",
      `${JSON.stringify(apiVersion)} is an older version; plinth convert writes definitions in v1`,
    );
  }
  const name = textAt(objectAt(value, "metadata", ""), "name", "metadata");
  const faults = dnsSubdomainFaults(name);
  if (faults.length > 0) throw new DefinitionFault("metadata.name", faults[0]!);
  const spec = objectAt(value, "spec", "");
  const group = textAt(spec, "group", "spec");
  const kind = textAt(objectAt(spec, "names", "spec"), "kind", "spec.names");
  if (!/^[A-Za-z][-A-Za-z0-9]*$/.test(kind)) {
    throw new DefinitionFault(
      "spec.names.kind",
      `${JSON.stringify(kind)} is no name of a kind such as "Order"`,
    );
  }
  const { versions } = spec;
  if (!Array.isArray(versions) || versions.length === 0) {
    throw new DefinitionFault("spec.versions", "must be a list of at least one version");
  }
  return { name, group, kind, versions: versions.map((one, at) => readVersion(one, `spec.versions[${at}]`)) };
}

function readVersion(value: JsonValue, path: string): SourceVersion {
  if (!isObject(value)) throw new DefinitionFault(path, "must be an object");
  const name = textAt(value, "name", path);
  if (!/^[a-z][-a-z0-9]*$/.test(name)) {
    throw new DefinitionFault(`${path}.name`, `${JSON.stringify(name)} is no name of a version such as "v1"`);
  }
  const whole = `${path}.schema.openAPIV3Schema`;
  const { schema } = value;
  if (schema === undefined || schema === null) return { name, schema: undefined, path: whole };
  if (!isObject(schema)) throw new DefinitionFault(`${path}.schema`, "must be an object");
  return { name, schema: objectAt(schema, "openAPIV3Schema", `${path}.schema`), path: whole };
}

function objectAt(parent: JsonObject, name: string, path: string): JsonObject {
  const value = getMember(parent, name);
  if (!isObject(value)) throw new DefinitionFault(below(path, name), "must be an object");
  return value;
}

function textAt(parent: JsonObject, name: string, path: string): string {
  const value = getMember(parent, name);
  if (typeof value !== "string" || value === "")
    throw new DefinitionFault(below(path, name), "must be a text");
  return value;
}

function below(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
