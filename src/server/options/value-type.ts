import { parseDuration, parseDurationInDays } from "../../base/time/duration.ts";
import { similarName } from "../../base/similar-name.ts";

/** The type of a flag's value, as the help text shows it. */
export type FlagType = "string" | "integer" | "number" | "boolean" | "duration" | "list" | "file";

/** The type of an option's value: how it is checked, parsed from text and printed. */
export interface ValueType {
  readonly flagType: FlagType;
  /** The TypeScript type, for the generated declarations. */
  readonly typescript: string;
  /** The allowed values; completes "… is not". */
  readonly expected: string;
  /** The allowed texts of a flag, where they differ from the values; completes "… is not". */
  readonly expectedText?: string;
  /** Whether the value names a file that other users must not be able to write; absent: no. */
  readonly isSecret?: boolean;
  /** Matches the content of a secret file that other users should not be able to read; absent: any content. */
  readonly secretContent?: RegExp;
  accepts(value: unknown): boolean;
  /** Parses the text of a flag or an environment variable; undefined if it is not allowed. */
  parse(text: string): unknown;
  /** The allowed text that a wrong one most likely means. */
  suggest?(text: string): string | undefined;
  /** Prints a default value as a flag takes it. */
  format(value: unknown): string;
}

const isText = (value: unknown): value is string => typeof value === "string";
const identity = (value: unknown) => String(value);

/** Any text. */
export const text: ValueType = {
  flagType: "string",
  typescript: "string",
  expected: "a text",
  accepts: isText,
  parse: (value) => value,
  format: identity,
};

/** The path of a file. */
export const file: ValueType = { ...text, flagType: "file", expected: "the path of a file" };

/** The path of a file with keys or credentials, which other users must not be able to write. */
export const secretFile: ValueType = { ...file, isSecret: true };

const privateKey = /PRIVATE KEY-----/;

/** The path of a client configuration (kubeconfig), which may have credentials. */
export const clientConfigurationFile: ValueType = {
  ...secretFile,
  secretContent: /\b(?:token|password|client-key-data)["']?:/,
};

/** The path of a configuration of encryption, which may have keys. */
export const encryptionConfigurationFile: ValueType = { ...secretFile, secretContent: /\bsecret["']?:/ };

/** A list of texts; as a flag, comma separated. @param typescript the type of one item. */
export function texts(typescript = "string"): ValueType {
  return {
    flagType: "list",
    typescript: `readonly ${typescript.includes(" ") ? `(${typescript})` : typescript}[]`,
    expected: "a list of texts",
    accepts: (value) => Array.isArray(value) && value.every(isText),
    parse: (value) =>
      value
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
    format: (value) => (value as readonly string[]).join(","),
  };
}

/** Paths of files with keys, public or private. */
export const keyFiles: ValueType = { ...texts(), isSecret: true, secretContent: privateKey };

/** True or false. */
export const boolean: ValueType = {
  flagType: "boolean",
  typescript: "boolean",
  expected: "true or false",
  accepts: (value) => typeof value === "boolean",
  parse: (value) => (value === "true" || value === "false" ? value === "true" : undefined),
  format: identity,
};

/** An integer within bounds, both included. */
export function integer(min: number, max: number): ValueType {
  const accepts = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  return {
    flagType: "integer",
    typescript: "number",
    expected: `an integer from ${min} to ${max}`,
    accepts,
    parse: (value) => (/^\d+$/.test(value) && accepts(Number(value)) ? Number(value) : undefined),
    format: identity,
  };
}

/** An integer within bounds, both included, or `auto`. */
export function integerOrAuto(min: number, max: number): ValueType {
  const number = integer(min, max);
  return {
    ...number,
    typescript: 'number | "auto"',
    expected: `auto or ${number.expected}`,
    accepts: (value) => value === "auto" || number.accepts(value),
    parse: (value) => (value === "auto" ? value : number.parse(value)),
  };
}

/** A number above 0 and up to a maximum. */
export function rate(max: number): ValueType {
  const accepts = (value: unknown) => typeof value === "number" && value > 0 && value <= max;
  return {
    flagType: "number",
    typescript: "number",
    expected: `a number above 0, at most ${max}`,
    accepts,
    parse: (value) => (/^\d+(\.\d+)?$/.test(value) && accepts(Number(value)) ? Number(value) : undefined),
    format: identity,
  };
}

const units = [
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** Milliseconds as a duration in the largest unit of which they are a multiple, such as `5m` or `0s`. */
function durationText(ms: number): string {
  const [unit, size] = units.find(([, one]) => ms > 0 && ms % one === 0) ?? ["s", 1000];
  return `${ms / size}${unit}`;
}

/** A time span in milliseconds; as a flag, a duration such as `90s`. */
export const milliseconds: ValueType = {
  flagType: "duration",
  typescript: "number",
  expected: "a number of milliseconds, 0 or more",
  expectedText: "a length of time such as 30s, 5m or 1h30m",
  accepts: (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
  parse(value) {
    const nanoseconds = parseDuration(value);
    return nanoseconds === undefined || nanoseconds < 0n ? undefined : Number(nanoseconds) / 1_000_000;
  },
  format: (value) => durationText(value as number),
};

/** As {@link milliseconds}; the flag also accepts days, such as `30d`. */
export const millisecondsInDays: ValueType = {
  ...milliseconds,
  expectedText: "a length of time such as 30s, 5m or 30d",
  parse(value) {
    const nanoseconds = parseDurationInDays(value);
    return nanoseconds === undefined || nanoseconds < 0n ? undefined : Number(nanoseconds) / 1_000_000;
  },
};

/** One of several texts. @param spellings the text in a flag, for values that are spelled differently there. */
export function oneOf(
  values: readonly string[],
  spellings: Readonly<Record<string, string>> = {},
): ValueType {
  const spelled = (value: string) => spellings[value] ?? value;
  return {
    flagType: "string",
    typescript: values.map((value) => JSON.stringify(value)).join(" | "),
    expected: `one of ${values.join(", ")}`,
    expectedText: `one of ${values.map(spelled).join(", ")}`,
    accepts: (value) => values.includes(value as string),
    parse: (value) => values.find((one) => spelled(one) === value),
    suggest: (value) => similarName(value, values.map(spelled)),
    format: (value) => spelled(value as string),
  };
}

/**
 * An integer for which the flag has a larger unit than the library, such as megabytes instead of bytes.
 *
 * @param unit the number of the library's units in one unit of the flag.
 * @param zero the number that a flag value of 0 means, in units of the flag.
 */
export function scaled(value: ValueType, unit: number, zero = 0): ValueType {
  const number = integer(0, 1_000_000);
  return {
    ...value,
    flagType: "integer",
    expectedText: number.expected,
    parse(text) {
      const parsed = number.parse(text) as number | undefined;
      return parsed === undefined ? undefined : (parsed === 0 ? zero : parsed) * unit;
    },
    format: (scaledValue) =>
      String((scaledValue as number) === zero * unit ? 0 : (scaledValue as number) / unit),
  };
}
