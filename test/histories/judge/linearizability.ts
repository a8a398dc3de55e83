import { describe, type History, type Operation, type Violation } from "../history.ts";
import { registerOperation, unansweredDeletions, type RegisterState } from "./register.ts";
import { RegisterSearch } from "./register-search.ts";
import type { Timeline } from "./timeline.ts";

/**
 * Every key is a linearizable register with compare-and-swap: there is an order of its operations that agrees with their times and
 * answers. In particular a write with an outdated precondition never succeeds, and a read returns the newest acknowledged value.
 */
export function judgeLinearizability(history: History, timeline: Timeline): Violation[] {
  return judgeRegisters(
    "linearizability",
    history,
    timeline,
    history.operations.filter(({ request }) => request.verb !== "review"),
  );
}

/**
 * Judges each key of the operations as a register.
 *
 * @param law the name for the violations; there is at most one for each key.
 */
export function judgeRegisters(
  law: string,
  history: History,
  timeline: Timeline,
  operations: readonly Operation[],
): Violation[] {
  const byKey = new Map<string, Operation[]>();
  for (const operation of operations) {
    if (!("key" in operation.request)) continue;
    const others = byKey.get(operation.request.key);
    if (others === undefined) byKey.set(operation.request.key, [operation]);
    else others.push(operation);
  }
  const { objects, revision } = history.initial;
  const initial = new Map(objects.map((object) => [object.key, object]));
  const violations: Violation[] = [];
  for (const [key, list] of byKey) {
    const object = initial.get(key);
    const state: RegisterState = { revision: object?.revision ?? revision, uid: object?.uid };
    const answered = list.flatMap((one) => registerOperation(one, timeline) ?? []);
    const search = new RegisterSearch([...answered, ...unansweredDeletions(key, list, timeline)], state);
    const contradiction = search.run();
    if (contradiction === undefined) continue;
    const { operation, states, running } = contradiction;
    const others = running.filter((one) => one !== operation && one.isEffect);
    violations.push({
      law,
      message:
        `no order of the operations of ${key} explains ${describe(operation.operation)}; before its answer the state was ` +
        `${states.map(describeState).join(" or ")}; running: ${others.map((one) => describe(one.operation)).join(", ") || "nothing"}`,
    });
  }
  return violations;
}

function describeState({ revision, uid }: RegisterState): string {
  return uid === undefined ? `absent after revision ${revision}` : `revision ${revision}`;
}
