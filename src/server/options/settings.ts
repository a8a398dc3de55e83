import { similarName } from "../../base/similar-name.ts";
import { OptionsError } from "./options-error.ts";
import {
  isOption,
  isVariants,
  optionsOf,
  allVariantOptions,
  type Option,
  type OptionGroup,
  type OptionTable,
  type OptionVariants,
  type SettableOption,
} from "./option.ts";
import { texts, type ValueType } from "./value-type.ts";

/** A value of an option, and the name under which it was set, for messages: `--secure-port`, `PLINTH_SECURE_PORT`, `port`. */
export interface Setting {
  readonly value: unknown;
  readonly name: string;
}

/** The options that are set, by path. */
export type Settings = ReadonlyMap<string, Setting>;

/** Who sets options: the command line, with flags and a file, or a program that embeds the server. */
export type OptionUser = "program" | "library";

type Values = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reads the options of an object: the argument of `createServer` or a configuration file.
 *
 * @param others further allowed members, which are ignored.
 * @param source precedes the names in messages; empty for the library.
 * @throws {OptionsError} an unknown member or a value of the wrong type, which it names.
 */
export function settingsOf(
  table: OptionTable,
  object: unknown,
  { others = [], source = "" }: { readonly others?: readonly string[]; readonly source?: string } = {},
): Map<string, Setting> {
  const settings = new Map<string, Setting>();
  if (!isObject(object))
    throw new OptionsError(
      `${source === "" ? "options" : source}: ${shown(object)} is not an object of options`,
    );
  new ObjectReader(source, settings).read(table, object, "", others);
  return settings;
}

class ObjectReader {
  constructor(
    private readonly source: string,
    private readonly settings: Map<string, Setting>,
  ) {}

  read(table: OptionTable, object: Values, within: string, others: readonly string[] = []): void {
    for (const [key, value] of Object.entries(object)) {
      const path = within + key;
      const name = this.name(path);
      if (others.includes(key) || value === undefined) continue;
      const row = Object.hasOwn(table, key) ? table[key] : undefined;
      if (row === undefined) {
        const keys = [...Object.keys(table), ...others];
        const ofFlag =
          within === "" ? [...optionsOf(table)].find(({ option }) => option.flag === key) : undefined;
        if (ofFlag !== undefined)
          throw new OptionsError(`${name}: there is no such option; that of --${key} is ${ofFlag.path}`);
        const similar = similarName(key, keys);
        const help = similar === undefined ? `; there are ${keys.join(", ")}` : hint(similar);
        throw new OptionsError(`${name}: there is no such option${help}`);
      }
      if (isOption(row)) this.settings.set(path, { value: this.value(row.type, value, name), name });
      else this.group(row, value, path, name);
    }
  }

  private group(row: OptionGroup | OptionVariants, value: unknown, path: string, name: string): void {
    const canBeOff = !isVariants(row) && row.toggle !== undefined;
    if (canBeOff && value === false) {
      this.settings.set(path, { value: false, name });
      return;
    }
    if (!isObject(value))
      throw new OptionsError(
        `${name}: ${shown(value)} is not an object of options${canBeOff ? ", or false" : ""}`,
      );
    this.settings.set(path, { value: true, name });
    this.read(isVariants(row) ? this.variantOf(row, value, path) : row.members, value, `${path}.`);
  }

  /** The options that the selecting option allows; all if the object doesn't set it, because another source may set it. */
  private variantOf(row: OptionVariants, value: Values, path: string): OptionTable {
    const { [row.by]: choice } = value;
    if (choice === undefined) return allVariantOptions(row);
    const chosen = this.value(row.choice.type, choice, this.name(`${path}.${row.by}`));
    return { [row.by]: row.choice, ...row.variants[chosen as string] };
  }

  /** Checks the type of a value. In a file it may also be the text that the flag accepts, such as `5m`. */
  private value(type: ValueType, value: unknown, name: string): unknown {
    if (type.accepts(value)) return value;
    const parsed = this.source !== "" && typeof value === "string" ? type.parse(value) : undefined;
    if (parsed !== undefined) return parsed;
    const similar = typeof value === "string" ? type.suggest?.(value) : undefined;
    throw new OptionsError(`${name}: ${shown(value)} is not ${type.expected}${hint(similar)}`);
  }

  private name(path: string): string {
    return this.source === "" ? path : `${this.source}: ${path}`;
  }
}

function hint(similar: string | undefined): string {
  return similar === undefined ? "" : `; did you mean ${similar}?`;
}

/**
 * Parses the text of a flag or an environment variable.
 *
 * @param name precedes the message of an error.
 * @returns undefined if an empty text unsets the option.
 * @throws {OptionsError} the text is not allowed.
 */
function parseSetting({ type, default: byDefault }: Option, text: string, name: string): Setting | undefined {
  const unset = type.flagType !== "list" && (byDefault === undefined || type.flagType === "boolean");
  if (text === "" && unset) return undefined;
  const value = type.parse(text);
  if (value !== undefined) return { value, name };
  const expected = type.expectedText ?? type.expected;
  throw new OptionsError(`${name}: ${JSON.stringify(text)} is not ${expected}${hint(type.suggest?.(text))}`);
}

/**
 * Parses the text of a flag or an environment variable into the options that it sets.
 *
 * @param name precedes the message of an error.
 * @returns the settings by path.
 * @throws {OptionsError} the text is not allowed.
 */
export function parseSettings(
  { path, option }: SettableOption,
  text: string,
  name: string,
): (readonly [path: string, Setting])[] {
  const { rules, default: byDefault } = option;
  if (rules === undefined) {
    const setting = parseSetting(option, text, name);
    return setting === undefined ? [] : [[path, setting]];
  }
  const items = texts().parse(text) as readonly string[];
  const own = items.filter((item) => !item.includes("="));
  if (own.length > 1)
    throw new OptionsError(`${name}: ${own[0]!} and ${own[1]!} are both given; without RESOURCE= give one`);
  const value = own.length === 0 ? { value: byDefault, name } : parseSetting(option, own[0]!, name)!;
  const other = `${path.slice(0, path.lastIndexOf(".") + 1)}${rules}`;
  return [
    [path, value],
    [other, { value: items.filter((item) => item.includes("=")), name }],
  ];
}

/**
 * Completes the options that are set with defaults, and checks them against each other.
 *
 * @returns an object of the shape that the generated declarations in `settings-types.ts` describe.
 * @throws {OptionsError} a required option is missing, or options contradict each other.
 */
export function completeOptions(table: OptionTable, settings: Settings, user: OptionUser): unknown {
  return new Completion(table, settings, user).members(table, "");
}

class Completion {
  private readonly names: ReadonlyMap<string, string>;
  /** Paths of the groups in which an option is set, each with the name of the first such option. */
  private readonly groups = new Map<string, string>();

  constructor(
    table: OptionTable,
    private readonly settings: Settings,
    private readonly user: OptionUser,
  ) {
    this.names = user === "library" ? new Map() : flagNames(table);
    for (const [path, { name }] of settings)
      for (let at = path.lastIndexOf("."); at !== -1; at = path.lastIndexOf(".", at - 1))
        if (!this.groups.has(path.slice(0, at))) this.groups.set(path.slice(0, at), name);
  }

  members(table: OptionTable, within: string): Record<string, unknown> {
    const complete: Record<string, unknown> = {};
    for (const [key, row] of Object.entries(table)) {
      const path = within + key;
      if (isOption(row)) complete[key] = this.option(row, path);
      else complete[key] = isVariants(row) ? this.variant(row, path) : this.group(row, path);
    }
    return complete;
  }

  private option(row: Option, path: string): unknown {
    if (this.settings.has(path)) this.checkExcluded(row, path);
    return this.settings.get(path)?.value ?? (this.user === "library" ? row.libraryDefault : row.default);
  }

  private checkExcluded({ excludes }: Option, path: string): void {
    for (const other of excludes) {
      const name = this.settings.get(other)?.name ?? this.groups.get(other);
      if (name !== undefined)
        throw new OptionsError(`${this.name(path)} can't be used together with ${name}`);
    }
  }

  private group({ members, toggle, check, ignoredAlone }: OptionGroup, path: string): unknown {
    const own = this.settings.get(path);
    if (toggle !== undefined && (own?.value ?? toggle.default) === false) return undefined;
    const needed = Object.entries(members).filter(([, row]) => isOption(row) && row.required);
    const isSet = own !== undefined || this.groups.has(path);
    if (needed.length > 0 && !isSet && toggle === undefined) return undefined;
    const isIgnored = ignoredAlone && own === undefined;
    if (isIgnored && needed.some(([key]) => !this.settings.has(`${path}.${key}`))) return undefined;
    this.require(needed, path);
    const complete = this.members(members, `${path}.`);
    const message = check?.(complete, (key) => this.name(`${path}.${key}`));
    if (message !== undefined) throw new OptionsError(message);
    return complete;
  }

  private variant(row: OptionVariants, path: string): unknown {
    const choice = this.option(row.choice, `${path}.${row.by}`) as string | undefined;
    this.require([[row.by, row.choice]], path);
    const members = row.variants[choice!]!;
    this.require(
      Object.entries(members).filter(([, one]) => isOption(one) && one.required),
      path,
    );
    return { [row.by]: choice, ...this.members(members, `${path}.`) };
  }

  private require(rows: readonly (readonly [string, unknown])[], path: string): void {
    for (const [key, row] of rows) {
      const own = `${path}.${key}`;
      if (![undefined, ""].includes(this.option(row as Option, own) as string | undefined)) continue;
      const cause = this.groups.get(path);
      throw new OptionsError(
        cause === undefined || this.user === "library"
          ? `${this.name(own)}: is needed, and must be ${(row as Option).type.expected}`
          : `${cause} needs ${this.name(own)}`,
      );
    }
  }

  private name(path: string): string {
    return this.settings.get(path)?.name ?? this.names.get(path) ?? path;
  }
}

/** The flags of options by path, with their dashes. */
export function flagNames(table: OptionTable): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { path, option } of optionsOf(table))
    if (option.flag !== undefined) {
      names.set(path, `--${option.flag}`);
      if (option.rules !== undefined)
        names.set(`${path.slice(0, path.lastIndexOf(".") + 1)}${option.rules}`, `--${option.flag}`);
    }
  return names;
}

/** A value as a message shows it. */
export function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Cyclic values, and values with members that JSON can't express.
    return Array.isArray(value) ? "a list" : "an object";
  }
}
