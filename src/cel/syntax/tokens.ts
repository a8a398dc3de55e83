import type { Features } from "../language-features.ts";
import { decodeQuoted } from "./quoted.ts";
import { ExpressionError, type LiteralValue } from "./syntax.ts";

export type Token =
  | { readonly kind: "name"; readonly text: string; readonly at: number; readonly end: number }
  | { readonly kind: "literal"; readonly value: LiteralValue; readonly at: number; readonly end: number }
  | { readonly kind: "quoted name"; readonly text: string; readonly at: number; readonly end: number }
  | { readonly kind: "sign"; readonly text: string; readonly at: number; readonly end: number }
  | { readonly kind: "end"; readonly text: ""; readonly at: number; readonly end: number };

const space = /[ \t\r\n\f]+|\/\/[^\r\n]*/y;
const name = /[A-Za-z_]\w*/y;
const quotedName = /`[A-Za-z0-9_.\-/ ]+`/y;
const double = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y;
const integer = /(?:0x[\da-fA-F]+|\d+)/y;
const sign = /(?:==|!=|<=|>=|&&|\|\||[-+*/%!?:.,()[\]{}<>])/y;
const quoteStart = /(?:[bB][rR]|[rR][bB]|[bBrR])?(?:"""|'''|"|')/y;
/** Each alternative consumes a character and starts differently, so there is no backtracking. */
const quoteEnds: Readonly<Record<string, RegExp>> = {
  '"': /(?:[^"\\\r\n]|\\[^\r\n])*"/y,
  "'": /(?:[^'\\\r\n]|\\[^\r\n])*'/y,
  '"""': /(?:[^"\\]|\\[^]|"(?!""))*"""/y,
  "'''": /(?:[^'\\]|\\[^]|'(?!''))*'''/y,
};
const rawQuoteEnds: Readonly<Record<string, RegExp>> = {
  '"': /[^"\r\n]*"/y,
  "'": /[^'\r\n]*'/y,
  '"""': /(?:[^"]|"(?!""))*"""/y,
  "'''": /(?:[^']|'(?!''))*'''/y,
};

/** Splits an expression into tokens; the last one is `end`. */
export function tokenize(text: string, features: Features): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    const skipped = matchAt(space, text, at);
    if (skipped !== undefined) {
      at += skipped.length;
      continue;
    }
    if (at >= text.length) break;
    const token = readToken(text, at, features);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: "end", text: "", at: text.length, end: text.length });
  return tokens;
}

function readToken(text: string, at: number, features: Features): Token {
  const signText = matchAt(sign, text, at);
  if (signText !== undefined && !(signText === "." && isDigit(text.charCodeAt(at + 1)))) {
    return { kind: "sign", text: signText, at, end: at + signText.length };
  }
  if (signText !== undefined || isDigit(text.charCodeAt(at))) return number(text, at);
  const quote = matchAt(quoteStart, text, at);
  if (quote !== undefined) return quoted(text, at, quote, features);
  const escapedName = features.quotedFieldNames === true ? matchAt(quotedName, text, at) : undefined;
  if (escapedName !== undefined) {
    return { kind: "quoted name", text: escapedName.slice(1, -1), at, end: at + escapedName.length };
  }
  const named = matchAt(name, text, at);
  if (named !== undefined) {
    const end = at + named.length;
    if (named === "true" || named === "false") return { kind: "literal", value: named === "true", at, end };
    if (named === "null") return { kind: "literal", value: null, at, end };
    return { kind: "name", text: named, at, end };
  }
  const match = String.fromCodePoint(text.codePointAt(at)!);
  throw new ExpressionError(`Syntax error: token recognition error at: ${JSON.stringify(match)}`, at);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function number(text: string, at: number): Token {
  const real = matchAt(double, text, at);
  if (real !== undefined) return { kind: "literal", value: Number(real), at, end: at + real.length };
  return wholeNumber(text, at, matchAt(integer, text, at)!);
}

/** Reads an integer of any size; the parser checks the range, because a minus may precede it. */
function wholeNumber(text: string, at: number, digits: string): Token {
  const after = text[at + digits.length];
  const unsigned = after === "u" || after === "U";
  const end = at + digits.length + (unsigned ? 1 : 0);
  if (digits.length > 40 && !/^0+/.test(digits)) throw new ExpressionError("invalid int literal", at);
  if (digits.length > 1000) throw new ExpressionError("invalid int literal", at);
  const value = BigInt(digits);
  if (!unsigned) return { kind: "literal", value, at, end };
  if (value > 0xffff_ffff_ffff_ffffn) throw new ExpressionError("invalid uint literal", at);
  return { kind: "literal", value: { uint: value }, at, end };
}

function quoted(text: string, at: number, start: string, { noSurrogates = false }: Features): Token {
  const prefix = /^[bBrR]*/.exec(start)![0].toLowerCase();
  const quote = start.slice(prefix.length);
  const raw = prefix.includes("r");
  const rest = matchAt((raw ? rawQuoteEnds : quoteEnds)[quote]!, text, at + start.length);
  if (rest === undefined) throw new ExpressionError("Syntax error: unterminated string literal", at);
  const inner = rest.slice(0, rest.length - quote.length);
  const end = at + start.length + rest.length;
  const asBytes = prefix.includes("b");
  const value = decodeQuoted(inner, { raw, asBytes, noSurrogates }, at + start.length);
  return { kind: "literal", value, at, end };
}

/** Returns the match of a sticky regular expression at a position; undefined for no match or an empty one. */
function matchAt(expression: RegExp, text: string, at: number): string | undefined {
  expression.lastIndex = at;
  const match = expression.exec(text)?.[0];
  return match === undefined || match === "" ? undefined : match;
}
