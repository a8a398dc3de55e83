import type { Told } from "./life.ts";
import type { Release } from "./subject.ts";

/** One answer of a life on this server, beside the recorded one; `missing` and `more` are what only one of them says. */
export interface Difference {
  readonly kind: string;
  readonly step: string;
  readonly theirs: Told;
  readonly ours: Told;
  readonly missing: readonly string[];
  readonly more: readonly string[];
}

/** A sort of differences that the project holds right, and why. */
export interface Held {
  readonly because: string;
  /** The releases with such differences; undefined: all. */
  readonly releases?: readonly Release[];
  readonly when: (difference: Difference) => boolean;
}

export function ofRelease(held: readonly Held[], release: Release): readonly Held[] {
  return held.filter(({ releases }) => releases?.includes(release) ?? true);
}

/** What is told otherwise than it is expected, step by step. */
export function differences(kind: string, told: readonly Told[], expected: readonly Told[]): Difference[] {
  return told.flatMap((ours, at) => {
    const theirs = expected[at]!;
    const missing = theirs.lines.filter((line) => !ours.lines.includes(line));
    const more = ours.lines.filter((line) => !theirs.lines.includes(line));
    if (theirs.status === ours.status && missing.length + more.length === 0) return [];
    return [{ kind, step: ours.step, theirs, ours, missing, more }];
  });
}

/** The differences that no reason fits, as texts. Reasons that fit are noted in `used`. */
export function unheld(found: readonly Difference[], held: readonly Held[], used: Set<Held>): string[] {
  return found.flatMap((difference) => {
    const reason = held.find(({ when }) => when(difference));
    if (reason === undefined) return [textOf(difference)];
    used.add(reason);
    return [];
  });
}

function textOf({ step, theirs, ours, missing, more }: Difference): string {
  const facts = [...missing.map((line) => `- ${line}`), ...more.map((line) => `+ ${line}`)];
  return [`${step}: ${theirs.status} there, ${ours.status} here`, ...facts].join("\n");
}
