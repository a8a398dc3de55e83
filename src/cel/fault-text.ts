import type { ExpressionFault } from "./syntax.ts";

/** Formats compilation errors with their positions, as cel-go does. */
export function formatFaults(faults: readonly ExpressionFault[]): string {
  const texts = faults.map(({ message, line, column }) => `ERROR: <input>:${line}:${column}: ${message}`);
  return `compilation failed: ${texts.join("; ")}`;
}
