import { boolean as booleanType, type ValueType } from "./value-type.ts";

/** One option of the server. */
export interface Option {
  readonly type: ValueType;
  /** A sentence without the name of the option. */
  readonly description: string;
  /** The flag of `plinth serve`, spelled as the reference does; without it the option has none. */
  readonly flag: string | undefined;
  /** The value if the option is not set; undefined: none. */
  readonly default: unknown;
  /** The default in `createServer`, if it differs from that of the program. */
  readonly libraryDefault: unknown;
  /**
   * Key of another option beside this one, a list of texts: the flag is a comma separated list, whose items with an equals sign are the
   * value of the other option. Undefined: the flag is of this option alone.
   */
  readonly rules: string | undefined;
  /** Whether the option must be set if any option of its group is set. */
  readonly required: boolean;
  /** Paths of options and groups that can't be set together with the option. */
  readonly excludes: readonly string[];
  /** The first version of Plinth with the option. */
  readonly since: string;
  /** The release of the reference that deprecated the option, and its replacement. */
  readonly deprecated: { readonly release: string; readonly instead: string } | undefined;
}

/**
 * Options that belong together. A group with required options is absent if none of its options is set; others are always present,
 * with the defaults of their options.
 */
export interface OptionGroup {
  readonly members: OptionTable;
  readonly description: string;
  /** Name of the declared type; if undefined, the declaration of the option contains the type. */
  readonly typeName: string | undefined;
  /** For a group that can be turned off (`false`): its flag, and whether it is on by default. */
  readonly toggle: GroupToggle | undefined;
  /**
   * Whether flags of the group have no effect without its required options, as in the reference; otherwise they are refused.
   * An object with the group always needs them.
   */
  readonly ignoredAlone: boolean;
  /** Checks options against each other. */
  readonly check: GroupCheck | undefined;
}

export interface GroupToggle {
  readonly flag: string;
  readonly default: boolean;
  /** The description of the flag. */
  readonly description: string;
}

/** @param name gives the name of an option of the group as the user knows it. @returns an error message; undefined if the options are valid. */
export type GroupCheck = (
  settings: Readonly<Record<string, unknown>>,
  name: (key: string) => string,
) => string | undefined;

/** Alternative sets of options: the value of one option, such as `storage.engine`, selects the others. */
export interface OptionVariants {
  /** The key of the selecting option, and its declaration. */
  readonly by: string;
  readonly choice: Option;
  readonly variants: Readonly<Record<string, OptionTable>>;
  readonly description: string;
  readonly typeName: string;
}

export type OptionRow = Option | OptionGroup | OptionVariants;

/** Options by their keys in `createServer` and in the configuration file, in the order of the help text. */
export type OptionTable = { readonly [key: string]: OptionRow };

/** Declares an option. */
export function option(
  type: ValueType,
  flag: string | undefined,
  description: string,
  rest: Partial<
    Pick<Option, "default" | "libraryDefault" | "rules" | "required" | "excludes" | "since" | "deprecated">
  > = {},
): Option {
  return {
    type,
    flag,
    description,
    default: undefined,
    libraryDefault: rest.default,
    rules: undefined,
    required: false,
    excludes: [],
    since: "0.1.0",
    deprecated: undefined,
    ...rest,
  };
}

/** Declares a group of options. */
export function group(
  description: string,
  members: OptionTable,
  rest: Partial<Pick<OptionGroup, "typeName" | "toggle" | "check" | "ignoredAlone">> = {},
): OptionGroup {
  return {
    description,
    members,
    typeName: undefined,
    toggle: undefined,
    check: undefined,
    ignoredAlone: false,
    ...rest,
  };
}

export const isOption = (row: OptionRow): row is Option => "type" in row;
export const isVariants = (row: OptionRow): row is OptionVariants => "variants" in row;

/** Returns the options of all variants, and the selecting option. */
export function allVariantOptions({ by, choice, variants }: OptionVariants): OptionTable {
  return Object.assign({ [by]: choice }, ...Object.values(variants)) as OptionTable;
}

/** An option, or the toggle of a group, that a flag, a variable or a key of the configuration file can set. */
export interface SettableOption {
  /** Keys from the outermost group inwards, joined by dots: `authentication.oidc.issuerUrl`. */
  readonly path: string;
  readonly option: Option;
}

/** All options of a table with their paths; the toggle of a group has the path of the group. */
export function* optionsOf(table: OptionTable, within = ""): Generator<SettableOption> {
  for (const [key, row] of Object.entries(table)) {
    const path = within + key;
    if (isOption(row)) yield { path, option: row };
    else if (isVariants(row)) yield* optionsOf(allVariantOptions(row), `${path}.`);
    else {
      if (row.toggle !== undefined) yield { path, option: toggleOption(row.toggle) };
      yield* optionsOf(row.members, `${path}.`);
    }
  }
}

function toggleOption({ flag, default: byDefault, description }: GroupToggle): Option {
  return option(booleanType, flag, description, { default: byDefault });
}
