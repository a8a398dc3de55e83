import type { FieldReport } from "../schema/faults.ts";

/** The most characters of a field manager's name. */
export const maxManagerLength = 128;

/** Everything but letters, marks, numbers, punctuation, symbols and the plain space. */
const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Reports what is wrong with the name of a field manager (spec: conventions 4.3). */
export function checkManagerName(name: string, place: FieldReport): void {
  if (name.length > maxManagerLength) place.tooLong(maxManagerLength, "characters");
  if (printable(name) !== name) place.invalid(name, "should only contain printable characters");
}

/** The managers of user agents; a server has a handful of clients, each with many requests. */
const ofAgents = new Map<string, string>();
const maxAgents = 256;
const maxAgentLength = 512;

/** The manager of a client that names none: its program's name, as far as it can be one. */
export function managerOfAgent(userAgent: string): string {
  let name = ofAgents.get(userAgent);
  if (name === undefined) {
    name = printable(userAgent.split("/", 1)[0]!).slice(0, maxManagerLength);
    if (ofAgents.size >= maxAgents) ofAgents.clear();
    if (userAgent.length <= maxAgentLength) ofAgents.set(userAgent, name);
  }
  return name;
}

function printable(text: string): string {
  return text.replace(unprintable, "");
}
