/** A syntax error in client input. The message has the position. HTTP answers 400. */
export class SyntaxFault extends Error {
  override name = "SyntaxFault";
  constructor(
    /** The message without the position. */
    readonly problem: string,
    /** From 1. */
    readonly line: number,
    /** From 1, in UTF-16 code units. */
    readonly column: number,
  ) {
    super(`line ${line}, column ${column}: ${problem}`);
  }
}

/** Creates the error for an offset (in UTF-16 code units) of a text. */
export function faultAt(text: string, offset: number, problem: string): SyntaxFault {
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf("\n"); end >= 0 && end < offset; end = text.indexOf("\n", lineStart)) {
    line++;
    lineStart = end + 1;
  }
  return new SyntaxFault(problem, line, offset - lineStart + 1);
}
