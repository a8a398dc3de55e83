/** A scalar has no JSON value: it is infinite, NaN, or invalid for its tag. */
export class ScalarFault extends Error {
  override name = "ScalarFault";
}

const words: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...spellings(true, ["y", "yes", "true", "on"]),
  ...spellings(false, ["n", "no", "false", "off"]),
  ...spellings(null, ["null"]),
  ["~", null],
  ["", null],
]);

function spellings<T>(value: T, list: readonly string[]): [string, T][] {
  return list.flatMap((word): [string, T][] => {
    const capitalised = word[0]!.toUpperCase() + word.slice(1);
    return [word, capitalised, word.toUpperCase()].map((spelling) => [spelling, value]);
  });
}

const integer = /^([+-]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)$/;
const float = /^[+-]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][+-]?[0-9]+)?$/;
const notFinite = /^(?:[+-]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
/** As in JSON: number of digits of the largest double. */
const maxIntegerDigits = 309;

/**
 * Checks the escapes of a scalar in double quotes: YAML 1.1 doesn't have that of the slash, unlike JSON.
 *
 * @throws {ScalarFault}
 */
export function checkEscapes(quoted: string): void {
  if (quoted.includes("\\/") && /^(?:[^\\]|\\[^/])*\\\//s.test(quoted))
    throw new ScalarFault("invalid escape sequence \\/");
}

/**
 * Resolves an unquoted scalar under YAML 1.1 as the reference does: `yes`, `on`, `y` are true, `0777` is octal, `1_000` is a number,
 * a timestamp is a string. Integers beyond 2^53 are `bigint`.
 * @throws ScalarFault for infinities, NaN and numbers out of range.
 */
export function resolvePlain(source: string): string | number | bigint | boolean | null {
  const word = words.get(source);
  if (word !== undefined) return word;
  const first = source.charCodeAt(0);
  const isDigit = first >= 0x30 && first <= 0x39;
  if (!isDigit && first !== 0x2b && first !== 0x2d && first !== 0x2e) return source;
  if (notFinite.test(source)) throw new ScalarFault(`${source} has no JSON form`);
  const plain = source.replaceAll("_", "");
  const match = integer.exec(plain);
  if (match !== null) return resolveInteger(match[1]!, match[2]!);
  if (!float.test(plain)) return source;
  const value = Number(plain);
  if (!Number.isFinite(value)) throw new ScalarFault("the number is out of range");
  return value;
}

function resolveInteger(sign: string, digits: string): number | bigint {
  if (digits.length > maxIntegerDigits) throw new ScalarFault("the number is out of range");
  const magnitude = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits}` : digits);
  const value = sign === "-" ? -magnitude : magnitude;
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}

/**
 * Resolves a scalar with an explicit tag. With a custom tag it is a string.
 * @throws ScalarFault if the text is invalid for the tag.
 */
export function resolveTagged(tag: string, source: string): string | number | bigint | boolean | null {
  switch (tag.replace(/^(?:tag:yaml\.org,2002:|!!)/, "")) {
    case "int":
      return expectType(
        source,
        "an integer",
        (value) => typeof value === "bigint" || Number.isInteger(value),
      );
    case "float":
      return expectType(
        source,
        "a number",
        (value) => typeof value === "number" || typeof value === "bigint",
      );
    case "bool":
      return expectType(source, "a boolean", (value) => typeof value === "boolean");
    case "null":
      return expectType(source, "null", (value) => value === null);
    case "binary":
      return decodeBinary(source);
    default:
      return source;
  }
}

type Resolved = string | number | bigint | boolean | null;

function expectType(source: string, typeName: string, fits: (value: Resolved) => boolean): Resolved {
  const value = resolvePlain(source);
  if (!fits(value))
    throw new ScalarFault(`${JSON.stringify(source.slice(0, 64))} isn't ${typeName}, as its tag says`);
  return value;
}

function decodeBinary(source: string): string {
  const base64 = source.replace(/\s/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw new ScalarFault("!!binary isn't base64");
  return Buffer.from(base64, "base64").toString("utf8");
}
