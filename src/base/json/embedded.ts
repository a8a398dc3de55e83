import { defaultMaxDepth } from "./decode.ts";
import { decodeExactly } from "./exact.ts";
import { SyntaxFault } from "./syntax-fault.ts";
import type { JsonValue } from "./value.ts";

/**
 * Parses JSON that is embedded in client input: in an annotation, a token, a parameter or a member's name. Nesting is limited as in
 * a body, because callers process the value recursively. Unlike in a body, numbers may be rounded, and duplicates are not reported.
 *
 * @throws {SyntaxError} for invalid JSON and for deeper nesting.
 */
export function parseEmbeddedJson(text: string, maxDepth = defaultMaxDepth): JsonValue {
  // A text of this length can't be nested deeper.
  if (text.length > maxDepth && isDeeper(text, maxDepth)) {
    throw new SyntaxError(`the text is nested deeper than ${maxDepth}`);
  }
  return JSON.parse(text) as JsonValue;
}

/** An integer that a double may not represent exactly. */
const longNumber = /\d{16}/;

/**
 * Like {@link parseEmbeddedJson}, but integers that a double can't represent exactly are `bigint`.
 *
 * @throws {SyntaxError} for invalid JSON and for deeper nesting.
 */
export function parseExactJson(text: string, maxDepth = defaultMaxDepth): JsonValue {
  if (!longNumber.test(text)) return parseEmbeddedJson(text, maxDepth);
  try {
    return decodeExactly(text, maxDepth, Infinity).value;
  } catch (error) {
    if (error instanceof SyntaxFault) throw new SyntaxError(error.message);
    throw error;
  }
}

/** Whether arrays and objects are nested deeper than `maxDepth`. */
function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === backslash) at++;
      else if (char === quote) inString = false;
    } else if (char === quote) inString = true;
    else if (char === openBracket || char === openBrace) {
      if (++depth > maxDepth) return true;
    } else if (char === closeBracket || char === closeBrace) depth--;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
