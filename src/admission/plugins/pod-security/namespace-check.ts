import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../base/time/clock.ts";
import type { MaybePromise } from "../../../base/turns/maybe-promise.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import { prefixOf, type Registry } from "../../../resources/registry/registry.ts";
import { invalidError } from "../../../schema/faults.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { StoreError, type Store, type Entry } from "../../../storage/store.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PodSecuritySettings } from "./configuration.ts";
import { checkedPod, type Violation } from "./control.ts";
import { type Evaluator, reasonsOf } from "./evaluator.ts";
import { isSame, isStricter, textOf, type LevelVersion } from "./levels.ts";
import {
  isPrivileged,
  modes,
  policyOf,
  type NamespacePolicy,
  type Policy,
  type PolicyLabels,
} from "./namespace-policy.ts";
import type { Template } from "./pod-templates.ts";
import { createYielder } from "../../../base/turns/yielding.ts";
import { decodeLive } from "../../../resources/objects/stored.ts";

/** How pods of a namespace are read. */
export interface PodSource {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  /** Called if the pods can't be read. */
  readonly failed: (error: unknown) => void;
}

interface NamespaceCheckParts {
  readonly settings: PodSecuritySettings;
  readonly vocabulary: Vocabulary;
  readonly pods: PodSource;
  readonly labels: PolicyLabels;
  readonly evaluator: Evaluator;
}

/**
 * Returns the check of namespaces: invalid labels are rejected; a stricter `enforce` level causes warnings about the existing
 * pods that violate it, which keep running.
 */
export function namespaceCheck(
  parts: NamespaceCheckParts,
): (request: AdmissionRequest) => MaybePromise<void> {
  const { settings, labels } = parts;
  const policyOfNamespace = ({ metadata }: ApiObject) => policyOf(metadata.labels, labels, settings.defaults);
  return (request) => {
    const { target, object, live, effects } = request;
    if (object === undefined) return;
    const policy = policyOfNamespace(object);
    const before = live === undefined ? undefined : policyOfNamespace(live);
    if (policy.faults.length > 0 && !isDeepStrictEqual(policy.faults, before?.faults)) {
      throw invalidError({ kind: "Namespace", group: "", name: target.name }, policy.faults);
    }
    if (before !== undefined && !mayAffectPods(policy.enforce, before.enforce)) return;
    const { name = target.name } = object.metadata;
    if (settings.exemptions.namespaces.has(name)) {
      const warning = ignoredPolicy(name, policy, object, parts);
      if (warning !== undefined) effects.warn(warning);
      return;
    }
    if (before !== undefined) return warnOfPods(parts, request, name, policy.enforce);
  };
}

/** Whether existing pods may violate the new level. */
function mayAffectPods(now: LevelVersion, before: LevelVersion): boolean {
  if (isSame(now, before) || now.level === "privileged") return false;
  return now.minor !== before.minor || isStricter(now.level, before.level);
}

/** Returns the warning about the policy of an exempt namespace, which has no effect. */
function ignoredPolicy(
  name: string,
  policy: NamespacePolicy,
  { metadata }: ApiObject,
  { settings, labels }: NamespaceCheckParts,
): string | undefined {
  if (isPrivileged(policy) || areEquivalent(policy, settings.defaults)) return undefined;
  const labelled = modes.filter(
    (mode) =>
      policy[mode].level !== "privileged" &&
      [labels.level[mode], labels.version[mode]].some((label) => metadata.labels?.[label] !== undefined),
  );
  const text = labelled.map((mode) => `${mode}=${textOf(policy[mode])}`).join(", ");
  const quoted = JSON.stringify(name);
  return `namespace ${quoted} is exempt from Pod Security, and the policy (${text}) will be ignored`;
}

/** Whether two policies are equivalent; versions of `privileged` are ignored. */
function areEquivalent(one: Policy, other: Policy): boolean {
  return modes.every((mode) => {
    const levels = [one[mode], other[mode]] as const;
    return isSame(...levels) || levels.every(({ level }) => level === "privileged");
  });
}

async function warnOfPods(
  { settings, vocabulary, pods, evaluator }: NamespaceCheckParts,
  { effects }: AdmissionRequest,
  namespace: string,
  level: LevelVersion,
): Promise<void> {
  const evaluate = ({ metadata, spec }: Template): readonly Violation[] | undefined => {
    if (spec === undefined) return [];
    if (settings.exemptions.runtimeClasses.has(spec.runtimeClassName ?? "")) return undefined;
    return evaluator.evaluate(level, checkedPod({ metadata, spec }, vocabulary.domain));
  };
  const prefix = prefixOf(pods.registry.require(Pod), namespace);
  try {
    const { checked, total, violations } = await evaluateExistingPods({ ...pods, prefix, evaluate });
    if (checked < total) {
      effects.warn(
        `new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`,
      );
    }
    if (violations.length === 0) return;
    const [name, text] = [namespace, textOf(level)].map((one) => JSON.stringify(one));
    effects.warn(`existing pods in namespace ${name} violate the new PodSecurity enforce level ${text}`);
    for (const violation of violations) effects.warn(violation);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    pods.failed(error);
    effects.warn("failed to list pods while checking new PodSecurity enforce level");
  }
}

/** Maximum number of pods that are evaluated when the level of their namespace changes. */
const maxPods = 3000;
/** Maximum duration of the evaluation, in milliseconds. */
const maxMs = 1000;
const pageBytes = 256 * 1024;

/** An evaluation of the pods of a namespace. */
interface PodsEvaluation {
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
