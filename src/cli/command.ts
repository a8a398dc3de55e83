import type { Flag } from "./flags/flag.ts";
import { deprecationOfFlag } from "./flags/flag-life-cycles.ts";

/** One command of the program. */
export interface Command {
  readonly flags: readonly Flag[];
  help(): string;
  /** Runs the command. @returns the exit code. */
  run(words: readonly string[]): Promise<number>;
}

/** A command's entry in the overview; its code is loaded only when it runs. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Whether the command is a server, which keeps running when the reader of its output exits. */
  readonly serves?: boolean;
  load(): Promise<Command>;
}

/** The help text of a command with flags. */
export function helpText(usage: string, about: string, flags: readonly Flag[]): string {
  const rows = flags.map(({ name, short, type, default: byDefault, doc }) => {
    const value = type === "boolean" ? "" : `=${type.toUpperCase()}`;
    const deprecation = deprecationOfFlag(name);
    const notes = [byDefault === "" ? "" : `default ${byDefault}`, deprecation ?? ""].filter(
      (one) => one !== "",
    );
    const note = notes.length === 0 ? "" : ` (${notes.join("; ")})`;
    const letter = short === undefined ? "" : `-${short}, `;
    return `  ${letter}--${name}${value}\n        ${doc}${note}`;
  });
  return `${about}\n\nUsage: ${usage}\n\nFlags:\n${rows.join("\n")}\n`;
}
