import { parseAllDocuments } from "yaml";
import { runConvert } from "../../src/cli/convert/command.ts";

/** What a conversion wrote. */
export interface Run {
  readonly code: number;
  readonly output: string;
  /** Lines of standard error. */
  readonly lines: readonly string[];
}

/** Runs the command in this process, with a text as standard input. */
export async function convert(words: readonly string[], input: string | Buffer = ""): Promise<Run> {
  let output = "";
  let errors = "";
  const code = await runConvert(words, {
    readInput: () => Promise.resolve(Buffer.from(input)),
    writeOutput: (text) => (output += text),
    writeError: (text) => (errors += text),
  });
  return { code, output, lines: errors.split("\n").filter((line) => line !== "") };
}

/** Converts one manifest from standard input. */
export function convertText(input: string | object, ...words: readonly string[]): Promise<Run> {
  return convert(["-f", "-", ...words], typeof input === "string" ? input : JSON.stringify(input));
}

/** The documents of an output. Tests look into objects of any shape; a wrong shape fails the test. */
// oxlint-disable-next-line typescript/no-explicit-any
export const documents = (text: string): any[] =>
  parseAllDocuments(text).map((document) => document.toJS() as unknown);
