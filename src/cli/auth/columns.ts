/** Formats rows as a table with a header. */
export function columns(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]! + 2))
      .join("")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}
