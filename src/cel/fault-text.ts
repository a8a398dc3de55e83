import type { ExpressionFault } from "./syntax.ts";

/** What is wrong with an expression, and where, as compilers write it. */
export function faultText(faults: readonly ExpressionFault[]): string {
  const texts = faults.map(({ message, line, column }) => `ERROR: <input>:${line}:${column}: ${message}`);
  return `compilation failed: ${texts.join("; ")}`;
}
