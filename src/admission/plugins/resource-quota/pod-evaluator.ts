import { addAmounts, parseAmounts } from "../../../base/amounts.ts";
import type { Quantity } from "../../../base/quantity.ts";
import { applies, since } from "../../../base/release-rows.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import { hasPodResources, podUsage } from "../../../kinds/core/pod/pod-usage.ts";
import type { Pod } from "../../../kinds/core/pod/pod.ts";
import { isExtended, isHugePages } from "../../../kinds/core/pod/resource-names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { Evaluator, Measured } from "./evaluator.ts";
import { isTerminating, podTraits } from "./scopes.ts";
import { one, type Usage } from "./usage.ts";

const compute = ["cpu", "memory", "ephemeral-storage"];
const measured = new Set([
  "pods",
  ...compute,
  ...compute.map((name) => `requests.${name}`),
  ...compute.map((name) => `limits.${name}`),
]);
/**
 * The fields that every container must set if a quota limits them, in the order of messages: name in quotas, member of
 * `resources`, resource.
 */
const mustBeSet = [
  ["cpu", "requests", "cpu"],
  ["limits.cpu", "limits", "cpu"],
  ["limits.memory", "limits", "memory"],
  ["memory", "requests", "memory"],
  ["requests.cpu", "requests", "cpu"],
  ["requests.memory", "requests", "memory"],
] as const;

const countName = "count/pods";
const existing: Usage = new Map([[countName, one]]);

/** Whether a pod that becomes terminating changes its scope. */
const countsScopeChanges = applies(since("1.33"));

/**
 * Measures pods: `count/pods` while they exist; `pods`, requests and limits until they have terminated. The usage is the sum of
 * the containers or, if larger, the largest init container, plus the overhead.
 */
export function podEvaluator(context: KindContext): Evaluator {
  return {
    chargesUpdates: false,
    measures: (name) =>
      name === countName ||
      measured.has(name) ||
      isHugePages(name) ||
      name.startsWith("requests.hugepages-") ||
      (name.startsWith("requests.") && isExtended(name.slice("requests.".length), context)),
    measure: (object, now) => measurePod(object as unknown as Pod, now, context),
    missing: (object) => missingOf(object as unknown as Pod),
    ...(countsScopeChanges(context) && {
      changesScope: (object, live) =>
        isTerminating(object as unknown as Pod) !== isTerminating(live as unknown as Pod),
    }),
  };
}

function measurePod(pod: Pod, now: number, context: KindContext): Measured {
  const { metadata, status } = pod;
  const traits = podTraits(pod);
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return { usage: existing, traits };
  const usage = runningUsage(pod, context);
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return { usage, traits };
  // A pod on a lost node may be terminating forever.
  const at = Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000;
  return now > at ? { usage: existing, traits } : { usage, traits, later: { at, usage: existing } };
}

function runningUsage({ spec }: Pod, context: KindContext): Usage {
  const requests = podUsage(spec, "requests");
  const limits = podUsage(spec, "limits");
  const overhead = parseAmounts(spec?.overhead);
  addAmounts(requests, overhead);
  addAmounts(limits, overhead);
  const usage = new Map<string, Quantity>(existing);
  usage.set("pods", one);
  for (const [name, amount] of requests) {
    if (compute.includes(name) || isHugePages(name)) {
      usage.set(name, amount);
      usage.set(`requests.${name}`, amount);
    } else if (isExtended(name, context)) usage.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of limits) if (compute.includes(name)) usage.set(`limits.${name}`, amount);
  return usage;
}

/** Returns the containers that don't set required fields, by the name in quotas. */
function missingOf({ spec }: Pod): Map<string, string[]> {
  const missing = new Map<string, string[]>();
  // Resources of the whole pod suffice.
  if (spec !== undefined && hasPodResources(spec)) return missing;
  const addMissing = ({ name, resources }: Container): void => {
    for (const [limited, member, resource] of mustBeSet) {
      const amounts = resources?.[member];
      if (amounts !== undefined && Object.hasOwn(amounts, resource)) continue;
      const names = missing.get(limited);
      if (names === undefined) missing.set(limited, [name]);
      else names.push(name);
    }
  };
  for (const container of spec?.containers ?? []) addMissing(container);
  for (const container of spec?.initContainers ?? []) addMissing(container);
  return missing;
}
