/** The common form of a scenario: one kind of load on the product and on one limit server. */
import type { LimitServer } from "./limit-servers.ts";
import type { Address, LoadPlan } from "./load/plan.ts";
import { measureInTurns, type Side, type Unit } from "./measure.ts";
import { ratioRow, type Row } from "./rows.ts";
import type { Bench } from "./scenario.ts";
import type { Subject } from "./subject.ts";

export interface Comparison {
  readonly name: string;
  readonly unit: string;
  readonly counts?: Unit;
  /** The target: minimum share of the limit. */
  readonly aim?: number | undefined;
  readonly plan: (address: Address) => LoadPlan;
}

/** Measures the subject and its limit; only the subject if it is another server (`--target`). */
export async function besideLimit(
  { options }: Bench,
  subject: Subject,
  openLimit: () => Promise<LimitServer>,
  { name, unit, counts = "answers", aim, plan }: Comparison,
): Promise<Row> {
  const { rounds, seconds, target } = options;
  const product: Side = { name, plan: plan(subject.address), pid: subject.pid };
  if (target !== undefined) {
    const [alone] = await measureInTurns([product], counts, rounds, seconds);
    return ratioRow(name, unit, alone!, undefined);
  }
  const limit = await openLimit();
  try {
    const side: Side = { name: `the limit of ${name}`, plan: plan(limit.address), pid: limit.pid };
    const [bare, own] = await measureInTurns([side, product], counts, rounds, seconds);
    return ratioRow(name, unit, own!, bare!, aim);
  } finally {
    await limit.close();
  }
}
