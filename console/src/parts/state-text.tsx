import { toneOf } from "../model/tones.ts";

/** A state as a word with its tone: a color and a mark. */
export function StateText({
  text,
  tone = toneOf(text),
}: {
  readonly text: string;
  readonly tone?: string | undefined;
}) {
  return <span class={tone === undefined ? "" : `state-text ${tone}`}>{text}</span>;
}
