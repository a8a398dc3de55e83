import { SyntaxFault } from "../base/json/syntax-fault.ts";
import { decodeYaml } from "../base/yaml.ts";
import { decode, TypeFault } from "./decode.ts";
import type { FieldReport } from "./faults.ts";
import type { Static, StructType } from "./types.ts";

/** A configuration is invalid; the message names the field and the reason. */
export class ConfigurationError extends Error {
  override name = "ConfigurationError";
}

/** The expected object of a configuration file. */
export interface ConfigurationForm<S extends StructType> {
  readonly type: S;
  readonly kind: string;
  /** Supported versions; error messages name the first. */
  readonly apiVersions: readonly string[];
  /** Whether unknown and repeated fields are errors instead of warnings. */
  readonly strict?: boolean;
}

/** The object of a configuration file, with warnings about unknown and repeated fields. */
export interface Configuration<T> {
  readonly value: T;
  readonly warnings: readonly string[];
}

/**
 * Parses a configuration file: one document in YAML or JSON.
 *
 * @throws {ConfigurationError}
 */
export async function readConfiguration<S extends StructType>(
  bytes: Uint8Array,
  form: ConfigurationForm<S>,
): Promise<Configuration<Static<S>>> {
  const { value, duplicates } = await parseYaml(bytes);
  if (value === null) throw new ConfigurationError("the file is empty");
  const decoded = decodeConfiguration(value, form);
  const [first] = duplicates;
  if (form.strict === true && first !== undefined)
    throw new ConfigurationError(`${first}: the field occurs twice`);
  const repeated = duplicates.map(
    (name) => `field ${JSON.stringify(name)} occurs twice; the last value is used`,
  );
  return { value: decoded.value, warnings: [...decoded.warnings, ...repeated] };
}

/**
 * Parses a configuration file without kind and version, and returns the plain value.
 *
 * @throws {ConfigurationError}
 */
export async function readPlain(bytes: Uint8Array): Promise<unknown> {
  return (await parseYaml(bytes)).value;
}

/**
 * As {@link readConfiguration}, for an object that is embedded in another configuration.
 *
 * @throws {ConfigurationError}
 */
export function decodeConfiguration<S extends StructType>(
  value: unknown,
  { type, kind, apiVersions, strict = false }: ConfigurationForm<S>,
): Configuration<Static<S>> {
  const decoded = decodeType(type, value);
  const header = decoded.value as { kind?: string; apiVersion?: string };
  if (header.kind !== kind || !apiVersions.includes(header.apiVersion ?? "")) {
    const actual = `${JSON.stringify(header.kind ?? "")} of ${JSON.stringify(header.apiVersion ?? "")}`;
    throw new ConfigurationError(
      `kind and apiVersion: found ${actual}, expected "${kind}" of "${apiVersions[0]}"`,
    );
  }
  const [unknown] = decoded.unknownFields;
  if (strict && unknown !== undefined) throw new ConfigurationError(`${unknown}: there is no such field`);
  return {
    value: decoded.value as Static<S>,
    warnings: decoded.unknownFields.map((name) => `unknown field ${JSON.stringify(name)} has no effect`),
  };
}

/** @throws {ConfigurationError} if the report has faults. */
export function assertNoFaults({ faults }: FieldReport): void {
  if (faults.length === 0) return;
  throw new ConfigurationError(faults.map(({ field, message }) => `${field}: ${message}`).join("; "));
}

async function parseYaml(bytes: Uint8Array) {
  try {
    return await decodeYaml(bytes);
  } catch (error) {
    if (error instanceof SyntaxFault)
      throw new ConfigurationError(`can't be parsed: ${error.message}`, { cause: error });
    throw error;
  }
}

function decodeType(type: StructType, value: unknown) {
  try {
    return decode(type, value);
  } catch (error) {
    if (error instanceof TypeFault) throw new ConfigurationError(error.message, { cause: error });
    throw error;
  }
}
