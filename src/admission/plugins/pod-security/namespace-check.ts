import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../base/time/clock.ts";
import type { MaybePromise } from "../../../base/turns/maybe-promise.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import { prefixOf, type Registry } from "../../../resources/registry/registry.ts";
import { invalidError } from "../../../schema/faults.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import { StoreError, type Store } from "../../../storage/store.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { PodSecuritySettings } from "./configuration.ts";
import { checkedPod, type Violation } from "./control.ts";
import type { Evaluator } from "./evaluator.ts";
import { evaluateExistingPods } from "./existing-pods.ts";
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
