const codes = { bold: 1, red: 31, green: 32, yellow: 33, cyan: 36, gray: 90 } as const;

/** A color or style of text on a terminal. */
export type Color = keyof typeof codes;

/** Whether output to a terminal is colored: not if `NO_COLOR` is set or the terminal can't. */
export function usesColor({ NO_COLOR: noColor = "", TERM: terminal }: NodeJS.ProcessEnv): boolean {
  return noColor === "" && terminal !== "dumb";
}

/** Returns a text in a color if `isOn`. */
export function paint(text: string, color: Color, isOn: boolean): string {
  return isOn ? `\u001b[${codes[color]}m${text}\u001b[0m` : text;
}

/**
 * Returns rows of two columns, indented, one per line.
 *
 * @param look changes the padded text of the first column, for example its color
 */
export function columns(
  rows: readonly (readonly [string, string])[],
  look: (text: string) => string = (text) => text,
): string {
  const width = Math.max(...rows.map(([first]) => first.length)) + 2;
  return rows.map(([first, second]) => `  ${look(first.padEnd(width))}${second}\n`).join("");
}
