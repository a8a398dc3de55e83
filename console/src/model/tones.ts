const good = new Set([
  "active",
  "available",
  "bound",
  "complete",
  "ready",
  "running",
  "succeeded",
  "true",
  "completed",
  "healthy",
  "established",
  "deployed",
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
  "suspended",
  "schedulingdisabled",
]);
const bad = /error|fail|crashloop|backoff|evicted|notready|lost|denied|invalid|oomkilled/i;

/** Ready and wanted parts, as `1/2`. */
const ratio = /^(\d+)\/(\d+)$/;

/** Returns the tone of a status text in a table: `good`, `waiting` or `bad`; undefined for any other text. */
export function toneOf(text: string): string | undefined {
  const [, ready, wanted] = ratio.exec(text) ?? [];
  if (ready !== undefined) return ready === wanted ? (wanted === "0" ? undefined : "good") : "waiting";
  const lower = text.toLowerCase();
  if (good.has(lower)) return "good";
  if (waiting.has(lower)) return "waiting";
  return bad.test(text) ? "bad" : undefined;
}

/** Conditions whose status `True` is a problem. */
const problems = /pressure|unavailable|failure|failed|degraded|stalled|nonstructural|violated|conflict/i;
/** Conditions that describe, and neither is good nor bad. */
const neutral = new Set(["progressing", "suspended", "terminating", "disruptiontarget"]);

/** Returns the tone of the status of a condition. */
export function conditionTone(type: string, status: string): string | undefined {
  if (status !== "True" && status !== "False") return "waiting";
  if (neutral.has(type.toLowerCase())) return undefined;
  const isGood = (status === "True") !== problems.test(type);
  return isGood ? "good" : status === "True" ? "bad" : "waiting";
}
