import type { Features } from "../language-features.ts";
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

const plainEscapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  "\\": 92,
  "'": 39,
  '"': 34,
  "`": 96,
  "?": 63,
};

const escape =
  /\\(?:([abfnrtv\\'"`?])|[xX]([\da-fA-F]{2})|([0-3][0-7]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|)/g;

/** The form of a literal. */
interface QuotedForm {
  readonly raw: boolean;
  readonly asBytes: boolean;
  /** Whether the escape sequence of a surrogate is an error; otherwise it is replaced. */
  readonly noSurrogates: boolean;
}

/**
 * Decodes the content of a string or bytes literal, without its quotes.
 *
 * @param at position of the content in the expression.
 */
function decodeQuoted(
  inner: string,
  { raw, asBytes, noSurrogates }: QuotedForm,
  at: number,
): string | Uint8Array {
  const text = inner.includes("\r") ? inner.replaceAll(/\r\n?/g, "\n") : inner;
  if (raw || !text.includes("\\")) return asBytes ? Buffer.from(text, "utf8") : text;
  if (asBytes) return decodeBytes(text, at);
  return text.replaceAll(escape, (_, ...groups: unknown[]) => {
    const [plain, hex, octal, short, long] = groups as (string | undefined)[];
    const offset = groups.find((one) => typeof one === "number")!;
    return character(codeOf(plain, hex, octal, short ?? long, at + offset), noSurrogates, at + offset);
  });
}

function decodeBytes(text: string, at: number): Uint8Array {
  const pieces: Buffer[] = [];
  let last = 0;
  for (const match of text.matchAll(escape)) {
    const offset = match.index;
    if (offset > last) pieces.push(Buffer.from(text.slice(last, offset), "utf8"));
    const [whole, plain, hex, octal, short, long] = match;
    if (short !== undefined || long !== undefined) {
      throw new ExpressionError("\\u and \\U are no escape sequences of bytes", at + offset);
    }
    pieces.push(Buffer.of(codeOf(plain, hex, octal, undefined, at + offset)));
    last = offset + whole.length;
  }
  pieces.push(Buffer.from(text.slice(last), "utf8"));
  return Buffer.concat(pieces);
}

function codeOf(
  plain: string | undefined,
  hex: string | undefined,
  octal: string | undefined,
  unicode: string | undefined,
  at: number,
): number {
  if (plain !== undefined) return plainEscapes[plain]!;
  if (hex !== undefined) return parseInt(hex, 16);
  if (octal !== undefined) return parseInt(octal, 8);
  if (unicode !== undefined) return parseInt(unicode, 16);
  throw new ExpressionError("Syntax error: unknown escape sequence", at);
}

function character(code: number, noSurrogates: boolean, at: number): string {
  if (code >= 0xd800 && code <= 0xdfff) {
    if (noSurrogates) throw new ExpressionError("invalid unicode code point", at);
    // As in Go, a lone surrogate is replaced.
    return "\ufffd";
  }
  if (code > 0x10ffff) {
    throw new ExpressionError("Syntax error: this escape sequence is no Unicode character", at);
  }
  return String.fromCodePoint(code);
}
