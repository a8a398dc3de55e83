import type { ExpressionFault } from "./syntax.ts";

/** Maximum length of a quoted text, in characters. */
const maxQuoted = 128;

/** Quotes the beginning of a text for a message. */
export function quotedText(text: string): string {
  return JSON.stringify(text.slice(0, maxQuoted));
}

/** Formats compilation errors with their positions, as cel-go does. */
export function formatFaults(faults: readonly ExpressionFault[]): string {
  const texts = faults.map(({ message, line, column }) => `ERROR: <input>:${line}:${column}: ${message}`);
  return `compilation failed: ${texts.join("; ")}`;
}
