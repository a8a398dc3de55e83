import { SyntaxFault } from "../base/json/syntax-fault.ts";
import { decodeYaml } from "../base/yaml.ts";
import { decode, TypeFault } from "./decode.ts";
import type { FieldReport } from "./faults.ts";
import type { Static, StructType } from "./types.ts";

/** A configuration that can't be used; the message says what is wrong, and in which field. */
export class ConfigurationError extends Error {
  override name = "ConfigurationError";
}

/** What a configuration file is to hold: one object. */
export interface ConfigurationForm<S extends StructType> {
  readonly type: S;
  readonly kind: string;
  /** The versions that are understood; messages name the first. */
  readonly apiVersions: readonly string[];
}

/** The object of a configuration file, and what in the file has no effect. */
export interface Configuration<T> {
  readonly value: T;
  readonly warnings: readonly string[];
}

/**
 * Reads a configuration file: one document in YAML or JSON.
 *
 * @throws {ConfigurationError}
 */
export async function readConfiguration<S extends StructType>(
  bytes: Uint8Array,
  form: ConfigurationForm<S>,
): Promise<Configuration<Static<S>>> {
  const { value, duplicates } = await parsed(bytes);
  if (value === null) throw new ConfigurationError("the file is empty");
  const read = decodeConfiguration(value, form);
  const twice = duplicates.map((name) => `field ${JSON.stringify(name)} is given twice; the last one counts`);
  return { value: read.value, warnings: [...read.warnings, ...twice] };
}

/**
 * Reads a configuration file without kind and version, as a plain value.
 *
 * @throws {ConfigurationError}
 */
export async function readPlain(bytes: Uint8Array): Promise<unknown> {
  return (await parsed(bytes)).value;
}

/**
 * As {@link readConfiguration}, of an object that is embedded in the file of another one.
 *
 * @throws {ConfigurationError}
 */
export function decodeConfiguration<S extends StructType>(
  value: unknown,
  { type, kind, apiVersions }: ConfigurationForm<S>,
): Configuration<Static<S>> {
  const decoded = decodedAs(type, value);
  const found = decoded.value as { kind?: string; apiVersion?: string };
  if (found.kind !== kind || !apiVersions.includes(found.apiVersion ?? "")) {
    const said = `${JSON.stringify(found.kind ?? "")} of ${JSON.stringify(found.apiVersion ?? "")}`;
    throw new ConfigurationError(`kind and apiVersion: found ${said}, need "${kind}" of "${apiVersions[0]}"`);
  }
  return {
    value: decoded.value as Static<S>,
    warnings: decoded.unknownFields.map((name) => `unknown field ${JSON.stringify(name)} has no effect`),
  };
}

/** @throws {ConfigurationError} what was found wrong, if anything was. */
export function refuseFaults({ faults }: FieldReport): void {
  if (faults.length === 0) return;
  throw new ConfigurationError(faults.map(({ field, message }) => `${field}: ${message}`).join("; "));
}

async function parsed(bytes: Uint8Array) {
  try {
    return await decodeYaml(bytes);
  } catch (error) {
    if (error instanceof SyntaxFault)
      throw new ConfigurationError(`can't be read: ${error.message}`, { cause: error });
    throw error;
  }
}

function decodedAs(type: StructType, value: unknown) {
  try {
    return decode(type, value);
  } catch (error) {
    if (error instanceof TypeFault) throw new ConfigurationError(error.message, { cause: error });
    throw error;
  }
}
