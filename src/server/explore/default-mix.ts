import type { SeededRandom } from "../../base/seeded-random.ts";
import type { FaultMatch, FaultRule } from "../faults/fault-rule.ts";

const writes = ["create", "update", "patch", "delete"];
const noWatch: FaultMatch = { verbs: ["get", "list", ...writes] };

/** The faults of the default mix. All are things that a real API server does. */
const faults: readonly ((random: SeededRandom) => FaultRule)[] = [
  () => ({ on: { verbs: ["update", "patch"] }, effect: { error: 409 } }),
  () => ({ on: noWatch, effect: { error: 429 } }),
  (random) => ({ on: noWatch, effect: { error: random.pick([500, 503]) } }),
  () => ({ on: { verbs: writes }, effect: { error: 504, applied: true } }),
  (random) => ({ on: { verbs: writes }, effect: { disconnect: true, applied: random.chance(0.5) } }),
  (random) => ({ effect: { endWatch: random.pick(["closed", "expired", "disconnected"]) } }),
  () => ({ on: { verbs: ["watch"] }, effect: { error: 410 } }),
  (random) => ({ on: { verbs: ["list"] }, effect: { staleBy: 1 + random.below(8) } }),
  (random) => ({ effect: { delayEventTurns: 1 + random.below(20) } }),
  () => ({ effect: { repeatEvent: true } }),
  (random) => ({ effect: { delayTurns: 1 + random.below(10) } }),
];

/** Returns a few random faults, each of which ends by itself, and often a crash. */
export function defaultMix(random: SeededRandom): FaultRule[] {
  const rules = Array.from({ length: 1 + random.below(3) }, () =>
    limited(random, random.pick(faults)(random)),
  );
  if (random.chance(0.6)) {
    const effect = { crash: random.pick(["before", "after"] as const) };
    rules.push({ after: random.below(6), times: 1 + random.below(2), effect });
  }
  return rules;
}

/** The rule with random limits. */
function limited(random: SeededRandom, rule: FaultRule): FaultRule {
  return {
    ...rule,
    after: random.below(5),
    times: 1 + random.below(3),
    probability: random.pick([0.25, 0.5, 1]),
  };
}
