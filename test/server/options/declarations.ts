import {
  isOption,
  isVariants,
  type Option,
  type OptionGroup,
  type OptionRow,
  type OptionTable,
  type OptionVariants,
} from "../../../src/server/options/option.ts";
import { flagNames } from "../../../src/server/options/settings.ts";

/** `Options` are what a caller gives, `Settings` are complete with defaults. */
export type Form = "Options" | "Settings";

const heads: Readonly<Record<Form, string>> = {
  Options: "What a caller gives; `settings-types.ts` has the complete forms.",
  Settings: "Options with all defaults; `option-types.ts` has what a caller gives.",
};

/**
 * Returns the declared types of an options table in one form. The text isn't formatted.
 *
 * @param root name of the table's own type, without the form.
 */
export function declarations(table: OptionTable, root: string, form: Form): string {
  const paths = new Map([...flagNames(table)].map(([path, flag]) => [flag, path] as const).toReversed());
  const writer = new Writer(paths, form);
  writer.add(`${root}Options`, table, "The options of a server that are values; see `serverOptionTable`.");
  const head = `// Generated from option-table.ts by \`npm run options\`; not to be edited.\n// ${heads[form]}\n`;
  return [head, ...writer.texts.values()].join("\n");
}

class Writer {
  /** The declared types by name. */
  readonly texts = new Map<string, string>();

  constructor(
    private readonly paths: ReadonlyMap<string, string>,
    private readonly form: Form,
  ) {}

  add(name: string, table: OptionTable, description: string): void {
    const members = Object.entries(table).map(([key, row]) => this.member(key, row));
    const text = `${this.heading(name, description)}export interface ${this.nameOf(name)} {\n${members.join("\n")}\n}\n`;
    const before = this.texts.get(name);
    if (before !== undefined && withoutDefaults(before) !== withoutDefaults(text))
      throw new Error(`two groups of options have the type ${name}, but other members`);
    if (before === undefined) this.texts.set(name, text);
  }

  private nameOf(name: string): string {
    return this.form === "Options" ? name : settingsName(name);
  }

  private heading(name: string, description: string): string {
    return this.comment(this.form === "Options" ? description : `\`${name}\` with all defaults.`);
  }

  private member(key: string, row: OptionRow): string {
    const { form } = this;
    const canBeAbsent = form === "Options" ? !isRequired(row) : isAbsentWithoutSetting(row);
    const type = isOption(row) ? row.type.typescript : this.typeOf(row);
    const off = form === "Options" && !isOption(row) && !isVariants(row) && row.toggle ? " | false" : "";
    const mark = form === "Options" && canBeAbsent ? "?" : "";
    return `${this.comment(describe(row, form))}readonly ${key}${mark}: ${type}${off}${canBeAbsent ? " | undefined" : ""};`;
  }

  private typeOf(row: OptionGroup | OptionVariants): string {
    if (isVariants(row)) {
      this.addVariants(row);
      return this.nameOf(row.typeName);
    }
    if (row.typeName === undefined) {
      const members = Object.entries(row.members).map(([key, one]) => this.member(key, one));
      return `{ ${members.join(" ")} }`;
    }
    this.add(row.typeName, row.members, row.description);
    return this.nameOf(row.typeName);
  }

  private addVariants(row: OptionVariants): void {
    const { typeName, description } = row;
    const union = Object.entries(row.variants).map(([choice, members]) => {
      const lines = Object.entries(members).map(([key, one]) => this.member(key, one));
      return `| { ${this.comment(describe(row.choice, this.form))}readonly ${row.by}: ${JSON.stringify(choice)};\n${lines.join("\n")} }`;
    });
    const text = `${this.heading(typeName, description)}export type ${this.nameOf(typeName)} = ${union.join("\n")};\n`;
    this.texts.set(typeName, text);
  }

  /** A doc comment in lines of at most 120 characters, with options in place of flags. */
  private comment(description: string): string {
    const words = description
      .replaceAll(/--[a-z][a-z-]+/g, (flag) => `\`${this.paths.get(flag) ?? flag}\``)
      .split(" ");
    const lines = [""];
    for (const word of words) {
      const line = lines.at(-1)!;
      if (line.length + word.length > 112) lines.push(word);
      else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
    }
    if (lines.length === 1) return `/** ${lines[0]} */\n`;
    return `/**\n${lines.map((line) => ` * ${line}`).join("\n")}\n */\n`;
  }
}

const settingsName = (name: string) => name.replace(/Options$/, "").replace(/$/, "Settings");
const withoutDefaults = (text: string) => text.replaceAll(/\s*\(default [^)]*\)|[\n *]+/g, "");

function describe(row: OptionRow, form: Form): string {
  if (!isOption(row)) return row.description;
  if (form === "Settings" || row.required || row.libraryDefault === undefined) return row.description;
  return `${row.description} (default ${JSON.stringify(row.libraryDefault)})`;
}

function isRequired(row: OptionRow): boolean {
  return isOption(row) && row.required;
}

/** Whether the complete options may lack it. */
function isAbsentWithoutSetting(row: OptionRow): boolean {
  if (isOption(row)) return !row.required && row.libraryDefault === undefined;
  if (isVariants(row)) return false;
  return (
    row.toggle !== undefined || Object.values(row.members).some((one) => (one as Option).required === true)
  );
}
