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

/**
 * The declared types of an options table: `…Options` is what a caller gives, `…Settings` is complete. The text isn't formatted.
 *
 * @param root name of the table's own types, without `Options`.
 */
export function declarations(table: OptionTable, root: string): string {
  const writer = new Writer(
    new Map([...flagNames(table)].map(([path, flag]) => [flag, path] as const).toReversed()),
  );
  writer.add(`${root}Options`, table, "The options of a server that are values; see `serverOptionTable`.");
  const head =
    "// Generated from option-table.ts by `npm run options`; not to be edited.\n// `…Options` is what a caller gives, `…Settings` is complete with defaults.\n";
  return [head, ...writer.texts.values()].join("\n");
}

class Writer {
  /** The declared types by name. */
  readonly texts = new Map<string, string>();

  constructor(private readonly paths: ReadonlyMap<string, string>) {}

  add(name: string, table: OptionTable, description: string): void {
    const given = Object.entries(table).map(([key, row]) => this.member(key, row, "Options"));
    const complete = Object.entries(table).map(([key, row]) => this.member(key, row, "Settings"));
    const text = [
      `${this.comment(description)}export interface ${name} {\n${given.join("\n")}\n}\n`,
      `${this.comment(`{@link ${name}} with all defaults.`)}export interface ${settingsName(name)} {\n${complete.join("\n")}\n}\n`,
    ].join("\n");
    const before = this.texts.get(name);
    if (before !== undefined && withoutDefaults(before) !== withoutDefaults(text))
      throw new Error(`two groups of options have the type ${name}, but other members`);
    if (before === undefined) this.texts.set(name, text);
  }

  private member(key: string, row: OptionRow, form: "Options" | "Settings"): string {
    const canBeAbsent = form === "Options" ? !isRequired(row) : isAbsentWithoutSetting(row);
    const type = isOption(row) ? row.type.typescript : this.typeOf(row, form);
    const off = form === "Options" && !isOption(row) && !isVariants(row) && row.toggle ? " | false" : "";
    const mark = form === "Options" && canBeAbsent ? "?" : "";
    return `${this.comment(describe(row, form))}readonly ${key}${mark}: ${type}${off}${canBeAbsent ? " | undefined" : ""};`;
  }

  private typeOf(row: OptionGroup | OptionVariants, form: "Options" | "Settings"): string {
    if (isVariants(row)) {
      this.addVariants(row);
      return form === "Options" ? row.typeName : settingsName(row.typeName);
    }
    if (row.typeName === undefined) {
      const members = Object.entries(row.members).map(([key, one]) => this.member(key, one, form));
      return `{ ${members.join(" ")} }`;
    }
    this.add(row.typeName, row.members, row.description);
    return form === "Options" ? row.typeName : settingsName(row.typeName);
  }

  private addVariants(row: OptionVariants): void {
    const union = (form: "Options" | "Settings") =>
      Object.entries(row.variants).map(([choice, members]) => {
        const lines = Object.entries(members).map(([key, one]) => this.member(key, one, form));
        return `| { ${this.comment(describe(row.choice, form))}readonly ${row.by}: ${JSON.stringify(choice)};\n${lines.join("\n")} }`;
      });
    const { typeName } = row;
    const text = [
      `${this.comment(row.description)}export type ${typeName} = ${union("Options").join("\n")};\n`,
      `${this.comment(`{@link ${typeName}} with all defaults.`)}export type ${settingsName(typeName)} = ${union("Settings").join("\n")};\n`,
    ].join("\n");
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

function describe(row: OptionRow, form: "Options" | "Settings"): string {
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
