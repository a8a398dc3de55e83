/** One instruction of a Containerfile. */
export interface Instruction {
  readonly name: string;
  /** Options in front of the arguments: `--from=build`. */
  readonly options: Readonly<Record<string, string>>;
  /** The rest of the line, with variables of `ARG` replaced. */
  readonly text: string;
  /** The words of the text, or of its JSON array. */
  readonly words: readonly string[];
}

/** The instructions of one `FROM`, which is the first of them. */
export type Stage = readonly Instruction[];

/**
 * Parses a Containerfile: comments, continued lines, options, `ARG` before the first `FROM`, arguments in double quotes and JSON arrays.
 *
 * @throws {Error} for an instruction outside of a stage.
 */
export function parseContainerfile(content: string): Stage[] {
  const lines = content
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const parameters = new Map<string, string>();
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const instruction = parseLine(line, parameters);
    if (instruction.name === "ARG") {
      const [name, value = ""] = instruction.text.split("=");
      parameters.set(name!, value);
    } else if (instruction.name === "FROM") stages.push([instruction]);
    else if (stages.length === 0) throw new Error(`${instruction.name} before the first FROM`);
    else stages.at(-1)!.push(instruction);
  }
  return stages;
}

function parseLine(line: string, parameters: ReadonlyMap<string, string>): Instruction {
  const [, name, rest] = /^([A-Z]+) +(.*)$/.exec(line.trim()) ?? [];
  if (name === undefined || rest === undefined) throw new Error(`not an instruction: ${line}`);
  const words = rest.split(/ +/);
  const options: Record<string, string> = {};
  while (words[0]?.startsWith("--") === true) {
    const [option, value = ""] = words.shift()!.slice(2).split("=");
    options[option!] = value;
  }
  const text = words
    .join(" ")
    .replaceAll(/\$\{(\w+)\}/g, (reference, variable: string) => parameters.get(variable) ?? reference);
  return { name, options, text, words: wordsOf(text) };
}

/** Returns the strings of a JSON array, or the words of a text; double quotes enclose spaces. */
function wordsOf(text: string): string[] {
  if (text.startsWith("[")) return JSON.parse(text) as string[];
  return [...text.matchAll(/(?:"[^"]*"|[^\s"])+/g)].map(([word]) => word.replaceAll('"', ""));
}

/** Returns the last instruction of a name in a stage. */
export function lastOf(stage: Stage, name: string): Instruction {
  const instruction = stage.findLast((one) => one.name === name);
  if (instruction === undefined) throw new Error(`the stage has no ${name}`);
  return instruction;
}

/** Returns the command of `HEALTHCHECK`. */
export function healthCommandOf(stage: Stage): string[] {
  const { text } = lastOf(stage, "HEALTHCHECK");
  return wordsOf(text.replace(/^CMD +/, ""));
}

/** Returns the variables of `ENV`. */
export function variablesOf(stage: Stage): [string, string][] {
  return stage
    .filter(({ name }) => name === "ENV")
    .flatMap(({ words }) => words)
    .map((word) => {
      const equals = word.indexOf("=");
      return [word.slice(0, equals), word.slice(equals + 1)];
    });
}
