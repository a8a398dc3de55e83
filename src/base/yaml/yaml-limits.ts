import { type SyntaxFault, faultAt } from "../json/syntax-fault.ts";

/**
 * Maximum number of lexical tokens, about seven per line of a manifest: a text of usual density reaches the limit of bodies first.
 * A million takes some 2.5 s of processor time, in turns, and 150 MB.
 */
const maxTokens = 1_000_000;
/** Maximum number of lines: the lines of a multi-line string are not tokens. */
const maxLines = 1_000_000;

/**
 * Passes the lexical tokens on, and throws before the parser would use too much stack or time. The depth is estimated from the
 * columns at which blocks begin; the decoder checks the exact depth.
 */
export function* checkedTokens(tokens: Iterable<string>, text: string, maxDepth: number): Iterable<string> {
  const columns: number[] = [];
  let offset = 0;
  let lineStart = 0;
  let flowDepth = 0;
  let count = 0;
  for (const token of tokens) {
    if (++count > maxTokens) throw tooLarge(text, offset);
    const first = token.charCodeAt(0);
    if (first === 0x5b || first === 0x7b) flowDepth++;
    else if (first === 0x5d || first === 0x7d) flowDepth--;
    else if (first === 0x0a || first === 0x0d) lineStart = offset + token.length;
    else if (flowDepth <= 0 && first !== 0x20 && first !== 0x09 && !isMark(first))
      enterColumn(columns, offset - lineStart);
    if (columns.length + Math.max(flowDepth, 0) > maxDepth + 1) {
      throw faultAt(text, offset, `arrays and objects are nested deeper than ${maxDepth}`);
    }
    if (!isMark(first)) offset += token.length;
    yield token;
  }
}

/** Whether a token is a control token of the lexer, without text. */
function isMark(first: number): boolean {
  return first === 0x02 || first === 0x18 || first === 0x1f;
}

/** @throws {SyntaxFault} for too many lines. */
export function checkLines(text: string): void {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    if (++lines > maxLines) throw tooLarge(text, at);
  }
}

/** Returns the error for a text above a limit. */
export function tooLarge(text: string, offset: number): SyntaxFault {
  return faultAt(text, offset, "the YAML is too large; send it as JSON");
}

function enterColumn(columns: number[], column: number): void {
  while (columns.length > 0 && columns.at(-1)! > column) columns.pop();
  if (columns.at(-1) !== column) columns.push(column);
}
