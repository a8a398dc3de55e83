import type { FieldReport } from "../../schema/faults.ts";

/** The most characters of a field manager's name. */
const maxManagerLength = 128;

/** Everything but letters, marks, numbers, punctuation, symbols and the plain space. */
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Reports what is wrong with the name of a field manager (spec: conventions 4.3). */
export function checkManagerName(name: string, place: FieldReport): void {
  if (name.length > maxManagerLength) place.tooLong(maxManagerLength, "characters");
  if (printable(name) !== name) place.invalid(name, "should only contain printable characters");
}

/** The manager of a client that names none: its program's name, as far as it can be one; `unknown` without. */
export function managerOfAgent(userAgent: string): string {
  const slash = userAgent.indexOf("/");
  const name = printable(slash < 0 ? userAgent : userAgent.slice(0, slash)).slice(0, maxManagerLength);
  return name === "" ? "unknown" : name;
}

const printableAscii = /^[ -~]*$/;

function printable(text: string): string {
  return printableAscii.test(text) ? text : text.replace(unprintable, "");
}
