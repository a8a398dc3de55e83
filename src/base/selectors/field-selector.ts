import { StatusError } from "../status-error.ts";

/** One condition on one field. */
export interface FieldRequirement {
  /** Path of the field, for example `metadata.name`. */
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/**
 * Parses a `fieldSelector` parameter: requirements `field=value`, `field==value` and `field!=value`, separated by commas and
 * combined with AND. The result is in the order of the sorted terms, as in the reference. In a value, `\,`, `\=` and `\\` are escapes. The caller must check that the kind supports the fields.
 * @throws StatusError BadRequest that names the invalid term.
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).toSorted()) {
    if (term !== "") requirements.push(parseTerm(term, text));
  }
  return requirements;
}

/** Formats a selector that requires a field to have this value. */
export function fieldEquals(field: string, value: string): string {
  return `${field}=${value.replaceAll(/[\\,=]/g, String.raw`\$&`)}`;
}

/** Splits at unescaped commas. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function parseTerm(term: string, text: string): FieldRequirement {
  const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
  if (match === null) throw refuse(text, term, "has no =, == or !=");
  const [, field, operator, escaped] = match;
  if (field === "") throw refuse(text, term, "names no field");
  return { field: field!, operator: operator === "!=" ? "!=" : "=", value: unescape(escaped!, term, text) };
}

function unescape(escaped: string, term: string, text: string): string {
  let value = "";
  for (let at = 0; at < escaped.length; at++) {
    const character = escaped[at]!;
    if (character === "=") throw refuse(text, term, "has an = in its value, to be written \\=");
    if (character !== "\\") {
      value += character;
      continue;
    }
    const next = escaped[++at];
    if (next !== "\\" && next !== "," && next !== "=") {
      throw refuse(text, term, "has a \\ in its value that is followed by none of \\ , =");
    }
    value += next;
  }
  return value;
}

function refuse(text: string, term: string, problem: string): StatusError {
  const shown = text.length > 256 ? `${text.slice(0, 256)}…` : text;
  return new StatusError("BadRequest", `invalid field selector ${quote(shown)}: ${quote(term)} ${problem}`);
}

function quote(text: string): string {
  return `'${text}'`;
}

/** Returns the value of an `=` requirement on the field, such as `metadata.name=x`; undefined if there is none. */
export function pinnedValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find((one) => one.field === field && one.operator === "=")?.value;
}
