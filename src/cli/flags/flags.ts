import { optionsOf, type Option } from "../../server/options/option.ts";
import { configurationFileOption, programOptionTable } from "../../server/options/program-options.ts";
import type { Flag } from "./flag.ts";

function flagOf({ flag, type, rules, default: byDefault, description }: Option): Flag[] {
  if (flag === undefined) return [];
  const text = byDefault === undefined ? "" : type.format(byDefault);
  return [
    { name: flag, type: rules === undefined ? type.flagType : "list", default: text, doc: description },
  ];
}

/** Every flag of `plinth serve`. */
export const serveFlags: readonly Flag[] = [
  ...flagOf(configurationFileOption),
  ...[...optionsOf(programOptionTable)].flatMap(({ option }) => flagOf(option)),
];
