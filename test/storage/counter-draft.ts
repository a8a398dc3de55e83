import type { Draft, Entry } from "../../src/storage/store.ts";

/** A value that says which it is, in many places, so that half of one would be noticed. */
export function counterDraft(counter: number): Draft {
  const body = Buffer.from(`@${`<${counter}>`.repeat(20 + (counter % 400))}`);
  return { header: Buffer.from(`${counter}`), body, revisionAt: 0 };
}

/** The counter in a value, or an error when the value isn't whole. */
export function counterOf(entry: Entry): number {
  const counter = Number(Buffer.from(entry.header).toString());
  const whole = Buffer.concat([Buffer.from(`${entry.revision}`), counterDraft(counter).body]);
  if (!whole.equals(entry.body)) throw new Error(`${entry.key} at ${entry.revision} is not whole`);
  return counter;
}
