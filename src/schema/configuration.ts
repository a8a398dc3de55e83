import { SyntaxFault } from "../base/json/syntax-fault.ts";
import { decodeYaml } from "../base/yaml/yaml.ts";
import { lineOfField } from "../base/yaml/yaml-positions.ts";
import { decode, TypeFault } from "./decode.ts";
import type { FieldReport } from "./faults.ts";
import type { Static, StructType } from "./types.ts";

/** A configuration is invalid; the message names the field and the reason. */
export class ConfigurationError extends Error {
  override name = "ConfigurationError";
}

/** A configuration has a field that its kind doesn't have, or a field twice. */
class FieldError extends ConfigurationError {
  constructor(
    readonly field: string,
    readonly reason: string,
    line?: number,
  ) {
    super(`${field}: ${reason}${line === undefined ? "" : ` (line ${line})`}`);
  }
}

/** The expected object of a configuration file. */
export interface ConfigurationForm<S extends StructType> {
  readonly type: S;
  readonly kind: string;
  /** Supported versions; error messages name the first. */
  readonly apiVersions: readonly string[];
  /**
   * Whether unknown and repeated fields are warnings instead of errors. Only for files that the reference reads so too: a misspelled
   * field of a rule must not disable the rule silently.
   */
  readonly lenient?: boolean;
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
  const decoded = await withLines(bytes, "", () => {
    const result = decodeConfiguration(value, form);
    assertUnique(duplicates, form);
    return result;
  });
  const repeated = duplicates.map(
    (name) => `field ${JSON.stringify(name)} occurs twice; the last value is used`,
  );
  return { value: decoded.value, warnings: [...decoded.warnings, ...repeated] };
}

/**
 * Parses a configuration file without kind and version, and returns the plain value.
 *
 * @param check throws for fields that the configuration doesn't have.
 * @throws {ConfigurationError}
 */
export async function readPlain(bytes: Uint8Array, check?: (value: unknown) => void): Promise<unknown> {
  const { value, duplicates } = await parseYaml(bytes);
  await withLines(bytes, "", () => {
    check?.(value);
    assertUnique(duplicates, {});
  });
  return value;
}

/**
 * Runs `decode`; errors about a field get its line.
 *
 * @param path field of `bytes` that is decoded; empty for the whole file.
 * @throws {ConfigurationError}
 */
export async function withLines<T>(bytes: Uint8Array, path: string, decode: () => T): Promise<T> {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    const field = path === "" ? error.field : `${path}.${error.field}`;
    throw new FieldError(field, error.reason, await lineOfField(bytes, field));
  }
}

/**
 * Checks the members of an object without kind and version; any other value passes.
 *
 * @param path field with the object; empty for the whole file.
 * @throws {ConfigurationError} for a member that isn't in `fields`.
 */
export function assertMembers(value: unknown, fields: readonly string[], path = ""): void {
  if (typeof value !== "object" || value === null) return;
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown === undefined) return;
  throw new FieldError(
    path === "" ? unknown : `${path}.${unknown}`,
    `there is no such field; known are ${fields.join(", ")}`,
  );
}

function assertUnique([first]: readonly string[], { lenient = false }: { readonly lenient?: boolean }): void {
  if (!lenient && first !== undefined) throw new FieldError(first, "the field occurs twice");
}

/**
 * As {@link readConfiguration}, for an object that is embedded in another configuration.
 *
 * @throws {ConfigurationError}
 */
export function decodeConfiguration<S extends StructType>(
  value: unknown,
  { type, kind, apiVersions, lenient = false }: ConfigurationForm<S>,
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
  if (!lenient && unknown !== undefined) throw new FieldError(unknown, "there is no such field");
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
