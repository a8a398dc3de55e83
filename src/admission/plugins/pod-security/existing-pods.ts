import type { Clock } from "../../../base/clock.ts";
import { turnGiver } from "../../../base/turns.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { decodeLive } from "../../../resources/objects/stored.ts";
import type { Entry, Store } from "../../../storage/store.ts";
import type { Violation } from "./control.ts";
import { reasonsOf } from "./evaluator.ts";
import type { Template } from "./pod-templates.ts";

/** How many pods of a namespace are evaluated at most when its level changes. */
const maxPods = 3000;
/** For how long at most, in milliseconds. */
const maxMs = 1000;
const pageBytes = 256 * 1024;

/** What is asked of the pods of a namespace. */
export interface PodsQuestion {
  readonly store: Store;
  readonly clock: Clock;
  /** Where the store has the pods of the namespace. */
  readonly prefix: string;
  /** What a pod violates; undefined for one that is exempt. */
  evaluate(pod: Template): readonly Violation[] | undefined;
}

/** What is known of the pods of a namespace. */
export interface PodsAnswer {
  readonly checked: number;
  /** How many pods there are, without those found to be exempt. */
  readonly total: number;
  /** For each combination of violations, the pods that have it: `web-1 (and 2 other pods): hostPort, privileged`. In order. */
  readonly violations: readonly string[];
}

/**
 * Evaluates the pods of a namespace, up to 3,000 and for up to a second. Of pods of one controller, which are alike, the first
 * goes before pods of other controllers, the rest behind them. Lets other work have its turn.
 *
 * @throws {StoreError}
 */
export async function evaluateExistingPods(question: PodsQuestion): Promise<PodsAnswer> {
  const { store, clock, prefix } = question;
  const giveTurn = turnGiver();
  const deadline = clock.monotonicNow() + maxMs;
  const sample = new Sample(question);
  let after: string | undefined;
  for (;;) {
    const { entries, more } = await store.range({ prefix, after, maxBytes: pageBytes });
    for (const entry of entries) {
      sample.add(entry);
      if (sample.full || clock.monotonicNow() >= deadline) return sample.answer(await store.count(prefix));
      const turn = giveTurn();
      if (turn !== undefined) await turn;
    }
    if (!more) return sample.answer(undefined);
    after = entries.at(-1)?.key;
  }
}

/** A pod that was evaluated: its name, and the reasons for which it would be rejected, if any. */
interface Finding {
  readonly name: string;
  readonly reasons: string;
}

/** The pods that were evaluated so far. */
class Sample {
  private readonly controllers = new Set<string>();
  /** Of pods without a controller, and the first of each controller. */
  private readonly first: Finding[] = [];
  /** Of the other pods. They count only as long as there is room behind the first ones. */
  private readonly others: Finding[] = [];
  private seen = 0;
  private exempt = 0;

  constructor(private readonly question: PodsQuestion) {}

  /** Whether further pods would not count. */
  get full(): boolean {
    return this.first.length >= maxPods;
  }

  add(entry: Entry): void {
    this.seen++;
    const pod = decodeLive(entry).object;
    const controller = controllerOf(pod);
    const isFirst = controller === undefined || !this.controllers.has(controller);
    if (!isFirst && this.others.length >= maxPods) return;
    const violations = this.question.evaluate(pod as Template);
    if (violations === undefined) {
      this.exempt++;
      return;
    }
    if (controller !== undefined) this.controllers.add(controller);
    const finding = { name: pod.metadata.name ?? "", reasons: reasonsOf(violations) };
    (isFirst ? this.first : this.others).push(finding);
  }

  /** @param all how many pods the namespace has; undefined when all were seen. */
  answer(all = this.seen): PodsAnswer {
    const counted = [...this.first, ...this.others].slice(0, maxPods);
    return { checked: counted.length, total: all - this.exempt, violations: grouped(counted) };
  }
}

function controllerOf({ metadata }: ApiObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

function grouped(findings: readonly Finding[]): readonly string[] {
  const namesBy = new Map<string, string[]>();
  for (const { name, reasons } of findings) {
    if (reasons === "") continue;
    const names = namesBy.get(reasons);
    if (names === undefined) namesBy.set(reasons, [name]);
    else names.push(name);
  }
  return [...namesBy].map(([reasons, names]) => `${shortList(names)}: ${reasons}`).toSorted();
}

function shortList(names: readonly string[]): string {
  const first = names.reduce((one, other) => (other < one ? other : one));
  if (names.length === 1) return first;
  return `${first} (and ${names.length - 1} other ${names.length === 2 ? "pod" : "pods"})`;
}
