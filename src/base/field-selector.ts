import { StatusError } from "./status-error.ts";

/** One condition on one field. */
export interface FieldRequirement {
  /** Path of the field, for example `metadata.name`. */
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/**
 * Reads a `fieldSelector` parameter: `field=value`, `field==value` and `field!=value`, separated by commas, all of which
 * must hold. In a value `\,`, `\=` and `\\` stand for the second character. Whether a kind can be selected by a field
 * is for the caller to check.
 * @throws StatusError BadRequest that names the part.
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text)) {
    if (term !== "") requirements.push(parseTerm(term, text));
  }
  return requirements;
}

/** The text of a selector by which a field has just this value. */
export function fieldEquals(field: string, value: string): string {
  return `${field}=${value.replaceAll(/[\\,=]/g, String.raw`\$&`)}`;
}

/** Splits at commas that no backslash stands before. */
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

/** The one value that the requirements allow for a field, if some requirement says so: `metadata.name=x`. */
export function pinnedValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find((one) => one.field === field && one.operator === "=")?.value;
}
