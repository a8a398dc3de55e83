import type { FieldReport } from "../../schema/faults.ts";

/** Maximum length of a field manager's name, in characters. */
const maxManagerLength = 128;

/** All characters except letters, marks, numbers, punctuation, symbols and the space. */
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Validates the name of a field manager (spec: conventions 4.3). */
export function checkManagerName(name: string, report: FieldReport): void {
  if (name.length > maxManagerLength) report.tooLong(maxManagerLength, "characters");
  if (printable(name) !== name) report.invalid(name, "should only contain printable characters");
}

/** The default field manager: the printable characters of the program name in the `User-Agent`, or `unknown`. */
export function managerOfAgent(userAgent: string): string {
  const slash = userAgent.indexOf("/");
  const name = printable(slash < 0 ? userAgent : userAgent.slice(0, slash)).slice(0, maxManagerLength);
  return name === "" ? "unknown" : name;
}

const printableAscii = /^[ -~]*$/;

function printable(text: string): string {
  return printableAscii.test(text) ? text : text.replace(unprintable, "");
}
