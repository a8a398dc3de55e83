import type { Clock } from "../../../base/time/clock.ts";
import { createYielder } from "../../../base/turns/yielding.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { decodeLive } from "../../../resources/objects/stored.ts";
import type { Entry, Store } from "../../../storage/store.ts";
import type { Violation } from "./control.ts";
import { reasonsOf } from "./evaluator.ts";
import type { Template } from "./pod-templates.ts";

/** Maximum number of pods that are evaluated when the level of their namespace changes. */
const maxPods = 3000;
/** Maximum duration of the evaluation, in milliseconds. */
const maxMs = 1000;
const pageBytes = 256 * 1024;

/** An evaluation of the pods of a namespace. */
export interface PodsEvaluation {
  readonly store: Store;
  readonly clock: Clock;
  /** Store prefix of the pods. */
  readonly prefix: string;
  /** Returns the violations of a pod; undefined if it is exempt. */
  evaluate(pod: Template): readonly Violation[] | undefined;
}

/** The result of an evaluation. */
export interface PodsResult {
  readonly checked: number;
  /** Number of pods in the namespace, minus the exempt ones among the evaluated pods. */
  readonly total: number;
  /** The violating pods by combination of violations, sorted: `web-1 (and 2 other pods): hostPort, privileged`. */
  readonly violations: readonly string[];
}

/**
 * Evaluates the pods of a namespace, up to 3,000 and for up to a second. Pods of one controller are alike, so the first pod of
 * each controller has priority. Yields to other work between pods.
 *
 * @throws {StoreError} the pods can't be read.
 */
export async function evaluateExistingPods(evaluation: PodsEvaluation): Promise<PodsResult> {
  const { store, clock, prefix } = evaluation;
  const yieldIfDue = createYielder();
  const deadline = clock.monotonicNow() + maxMs;
  const sample = new Sample(evaluation);
  let after: string | undefined;
  for (;;) {
    const { entries, more } = await store.range({ prefix, after, maxBytes: pageBytes });
    for (const entry of entries) {
      sample.add(entry);
      if (sample.full || clock.monotonicNow() >= deadline) return sample.result(await store.count(prefix));
      const turn = yieldIfDue();
      if (turn !== undefined) await turn;
    }
    if (!more) return sample.result(undefined);
    after = entries.at(-1)?.key;
  }
}

/** An evaluated pod; `reasons` is empty if it is allowed. */
interface Finding {
  readonly name: string;
  readonly reasons: string;
}

/** Collects evaluated pods. */
class Sample {
  private readonly controllers = new Set<string>();
  /** Pods without a controller, and the first pod of each controller. */
  private readonly first: Finding[] = [];
  /** Further pods of the same controllers; they are included if fewer than {@link maxPods} are in `first`. */
  private readonly others: Finding[] = [];
  private added = 0;
  private exempt = 0;

  constructor(private readonly evaluation: PodsEvaluation) {}

  /** Whether further pods can't change the result. */
  get full(): boolean {
    return this.first.length >= maxPods;
  }

  add(entry: Entry): void {
    this.added++;
    const pod = decodeLive(entry).object;
    const controller = controllerOf(pod);
    const isFirst = controller === undefined || !this.controllers.has(controller);
    if (!isFirst && this.others.length >= maxPods) return;
    const violations = this.evaluation.evaluate(pod as Template);
    if (violations === undefined) {
      this.exempt++;
      return;
    }
    if (controller !== undefined) this.controllers.add(controller);
    const finding = { name: pod.metadata.name ?? "", reasons: reasonsOf(violations) };
    (isFirst ? this.first : this.others).push(finding);
  }

  /** @param total number of pods in the namespace; by default the number of added ones. */
  result(total = this.added): PodsResult {
    const counted = [...this.first, ...this.others].slice(0, maxPods);
    return { checked: counted.length, total: total - this.exempt, violations: groupByReasons(counted) };
  }
}

function controllerOf({ metadata }: ApiObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}

function groupByReasons(findings: readonly Finding[]): readonly string[] {
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
