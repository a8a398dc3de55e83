const good = new Set([
  "active",
  "available",
  "bound",
  "complete",
  "ready",
  "running",
  "succeeded",
  "true",
  "approved,issued",
]);
const waiting = new Set([
  "pending",
  "progressing",
  "containercreating",
  "podinitializing",
  "released",
  "terminating",
  "unknown",
]);
const bad = /error|fail|crashloop|backoff|evicted|notready|lost|denied|invalid|oomkilled/i;

/** Returns the tone of a status text in a table: `good`, `waiting` or `bad`; undefined for any other text. */
export function toneOf(text: string): string | undefined {
  const lower = text.toLowerCase();
  if (good.has(lower)) return "good";
  if (waiting.has(lower)) return "waiting";
  return bad.test(text) ? "bad" : undefined;
}
