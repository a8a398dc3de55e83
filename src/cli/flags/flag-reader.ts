import { parseDuration } from "../../base/time/duration.ts";
import { similarName } from "../../base/similar-name.ts";
import type { Flag } from "./flag.ts";
import { removalOf } from "./flag-life-cycles.ts";

/** Thrown for an invalid command line; the message names the flag and the allowed values. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The values given on a command line, by flag name. */
export type FlagValues = ReadonlyMap<string, string>;

/**
 * Parses `--name=value`, `--name value`, and a short flag with its value; a boolean flag needs no value.
 *
 * @param others receives the arguments that aren't flags; undefined if there may be none.
 * @throws {UsageError}
 */
export function parseFlags(flags: readonly Flag[], words: readonly string[], others?: string[]): FlagValues {
  const values = new Map<string, string>();
  for (let at = 0; at < words.length; at++) {
    const word = spelledOut(flags, words[at]!);
    if (!word.startsWith("--")) {
      if (others === undefined || (word.startsWith("-") && word !== "-"))
        throw new UsageError(`unexpected argument ${JSON.stringify(word)}`);
      others.push(word);
      continue;
    }
    const equals = word.indexOf("=");
    const name = word.slice(2, equals === -1 ? undefined : equals);
    const flag = flags.find((one) => one.name === name);
    if (flag === undefined) {
      const removal = removalOf(name);
      throw new UsageError(
        `unknown flag --${name}${removal === undefined ? suggestion(flags, name) : `; ${removal}`}`,
      );
    }
    let value = equals === -1 ? undefined : word.slice(equals + 1);
    if (value === undefined) {
      const next = words[at + 1];
      if (flag.type === "boolean" && next !== "true" && next !== "false") value = "true";
      else if (next === undefined) throw new UsageError(`--${name} needs a value`);
      else value = words[++at]!;
    }
    const before = values.get(name);
    values.set(name, flag.type === "list" && before !== undefined ? `${before},${value}` : value);
  }
  return values;
}

/** Expands a short flag (`-f x`, `-f=x`, `-fx`) to its long form. */
function spelledOut(flags: readonly Flag[], word: string): string {
  const [, letter, value] = /^-([A-Za-z])(?:=?(.*))$/s.exec(word) ?? [];
  const flag = flags.find(({ short }) => short !== undefined && short === letter);
  if (flag === undefined) return word;
  return value === "" ? `--${flag.name}` : `--${flag.name}=${value}`;
}

/** Returns a suggestion for a misspelled flag. */
function suggestion(flags: readonly Flag[], name: string): string {
  const names = flags.map((flag) => flag.name);
  const similar = similarName(name, names);
  return similar === undefined ? "; see --help" : `; did you mean --${similar}?`;
}

/** Reads the values of flags by their types, with the defaults of the table. */
export class FlagReader {
  constructor(
    private readonly flags: readonly Flag[],
    private readonly values: FlagValues,
  ) {}

  /** The names of the flags that are set. */
  get flagNames(): readonly string[] {
    return [...this.values.keys()];
  }

  /** Returns the text of a flag, or its default. */
  text(name: string): string {
    const flag = this.flags.find((one) => one.name === name);
    if (flag === undefined) throw new Error(`no flag --${name}`);
    return this.values.get(name) ?? flag.default;
  }

  optional(name: string): string | undefined {
    const text = this.text(name);
    return text === "" ? undefined : text;
  }

  list(name: string): string[] {
    return this.text(name)
      .split(",")
      .map((one) => one.trim())
      .filter((one) => one !== "");
  }

  integer(name: string, min: number, max: number): number {
    const text = this.text(name);
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new UsageError(`--${name}: ${JSON.stringify(text)} is not an integer from ${min} to ${max}`);
    }
    return value;
  }

  number(name: string, min: number, max: number): number {
    const text = this.text(name);
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > max) {
      throw new UsageError(`--${name}: ${JSON.stringify(text)} is not a number from ${min} to ${max}`);
    }
    return value;
  }

  /** As {@link integer}; undefined where the flag has no value. */
  optionalInteger(name: string, min: number, max: number): number | undefined {
    return this.text(name) === "" ? undefined : this.integer(name, min, max);
  }

  /** @throws {UsageError} if the flag has no value. */
  required(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw new UsageError(`--${name} is needed`);
    return value;
  }

  boolean(name: string): boolean | undefined {
    const text = this.text(name);
    if (text === "") return undefined;
    if (text === "true" || text === "false") return text === "true";
    throw new UsageError(`--${name}: ${JSON.stringify(text)} is not true or false`);
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T {
    const text = this.text(name);
    const match = allowed.find((one) => one === text);
    if (match !== undefined) return match;
    const similar = similarName(text, allowed);
    const hint = similar === undefined ? "" : `; did you mean ${similar}?`;
    throw new UsageError(`--${name}: ${JSON.stringify(text)} is not one of ${allowed.join(", ")}${hint}`);
  }

  /** Returns the milliseconds of a duration such as `90s`, `5m` or `1h30m`. */
  durationMs(name: string): number {
    const text = this.text(name);
    const nanos = parseDuration(text);
    if (nanos === undefined || nanos < 0n) {
      throw new UsageError(
        `--${name}: ${JSON.stringify(text)} is not a length of time such as 30s, 5m or 1h30m`,
      );
    }
    return Number(nanos) / 1_000_000;
  }
}
