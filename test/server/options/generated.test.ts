import path from "node:path";
import { format, resolveConfig } from "prettier";
import { expect, test } from "vitest";
import { optionsOf, type SettableOption } from "../../../src/server/options/option.ts";
import { serverOptionTable } from "../../../src/server/options/option-table.ts";
import { configurationFileOption, programOptionTable } from "../../../src/server/options/program-options.ts";
import { read } from "../../tidy/source-files.ts";
import { declarations, type Form } from "./declarations.ts";

// `npm run options` writes these files.

const fileBelowRoot = (name: string) => path.resolve(import.meta.dirname, "../../..", name);

async function formatted(file: string, text: string): Promise<string> {
  return format(text, { ...(await resolveConfig(file)), filepath: file });
}

test.each<readonly [string, Form]>([
  ["option-types.ts", "Options"],
  ["settings-types.ts", "Settings"],
])("%s has the types of the options table", async (name, form) => {
  const file = fileBelowRoot(`src/server/options/${name}`);
  const text = declarations(serverOptionTable, "Value", form);
  await expect(await formatted(file, text)).toMatchFileSnapshot(file);
});

test("docs/flags.md has a row for each option, with its flag, default, type and key", async () => {
  const page = read("docs/flags.md");
  const start = page.indexOf("\n| flag ");
  const end = page.indexOf("\n\n", start + 1);
  const rows = [
    "| flag | default | type | key | meaning |",
    "| --- | --- | --- | --- | --- |",
    rowOf({ path: "—", option: configurationFileOption }),
    ...[...optionsOf(programOptionTable)].map(rowOf),
  ];
  const text = `${page.slice(0, start + 1)}${rows.join("\n")}${page.slice(end)}`;
  const file = fileBelowRoot("docs/flags.md");
  await expect(await formatted(file, text)).toMatchFileSnapshot(file);
});

function rowOf({ path: key, option }: SettableOption): string {
  const { flag, type, default: byDefault, description, deprecated } = option;
  const text = byDefault === undefined ? "" : type.format(byDefault);
  const note = deprecated === undefined ? "" : " Deprecated.";
  const cells = [
    flag === undefined ? "—" : `\`--${flag}\``,
    text === "" ? "—" : `\`${text}\``,
    type.flagType,
    key === "—" ? key : `\`${key}\``,
    `${description}${note}`.replaceAll("|", "\\|").replaceAll("*", "\\*"),
  ];
  return `| ${cells.join(" | ")} |`;
}
