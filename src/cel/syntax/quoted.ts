import { ExpressionError } from "./syntax.ts";

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
export function decodeQuoted(
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
