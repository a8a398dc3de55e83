import { defaultMaxDepth } from "./decode.ts";
import { decodeExactly } from "./exact.ts";
import { SyntaxFault } from "./syntax-fault.ts";
import type { JsonValue } from "./value.ts";

/**
 * Parses JSON inside another text of a client: an annotation, a token, a parameter, the name of a member. The depth is limited as
 * in a body, because callers walk the value by recursion. Unlike in a body, numbers may be rounded, and the last of
 * duplicate members wins.
 *
 * @throws {SyntaxError} for text that isn't JSON, or is nested deeper.
 */
export function parseEmbeddedJson(text: string, maxDepth = defaultMaxDepth): JsonValue {
  // Short texts can't be nested too deep.
  if (text.length > maxDepth && isDeeper(text, maxDepth)) {
    throw new SyntaxError(`the text is nested deeper than ${maxDepth}`);
  }
  return JSON.parse(text) as JsonValue;
}

/** A number with more digits than a double represents exactly. */
const longNumber = /\d{16}/;

/**
 * As {@link parseEmbeddedJson}; integers that a double can't represent exactly become `bigint`.
 *
 * @throws {SyntaxError} for text that isn't JSON, or is nested deeper.
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

/** Whether brackets outside of strings open more than `maxDepth` arrays and objects inside each other. */
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
