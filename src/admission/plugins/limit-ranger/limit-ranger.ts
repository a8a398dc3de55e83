import { addQuantities, compareQuantities, type Quantity } from "../../../base/quantity.ts";
import { andThen, type MaybePromise } from "../../../base/maybe-promise.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import { LimitRange } from "../../../kinds/core/limit-range.ts";
import { PersistentVolumeClaim } from "../../../kinds/core/persistent-volume-claim.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { AdmissionRequest } from "../../../resources/engine.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { isOf } from "../../admitted-types.ts";
import type { AdmissionPlugin } from "../../admission-chain.ts";
import type { AdmissionFacts } from "../../followed-objects.ts";
import { forbidden } from "../../forbidden.ts";
import { podOf, type PodSpecValue } from "../../pod-spec.ts";
import { claimViolations, usageOf, violations, type Usage } from "./constraints.ts";
import { limitRangeFacts, type Amount, type LimitRangeFacts } from "./limits.ts";

/**
 * LimitRanger: containers of new pods that name no requests or limits get those of the namespace's LimitRanges; pods,
 * containers and claims that break one are rejected, with all that is wrong (spec: conventions 4.13).
 */
export function limitRanger(facts: AdmissionFacts, { domain }: Vocabulary): AdmissionPlugin {
  const ranges = facts.of(LimitRange, limitRangeFacts);
  const annotation = `${domain}/limit-ranger`;
  const inNamespaceOf = (
    { target, object }: AdmissionRequest,
    work: (ranges: readonly LimitRangeFacts[]) => void,
  ): MaybePromise<void> => {
    // What is on its way out is let go as it is.
    if (object?.metadata.deletionTimestamp !== undefined) return;
    return andThen(ranges.in(target.namespace), (found) => (found.length === 0 ? undefined : work(found)));
  };
  return {
    name: "LimitRanger",
    // The resources of containers never change.
    concerns: (operation, type) =>
      (operation === "CREATE" && (isOf(type, Pod) || isOf(type, PersistentVolumeClaim))) ||
      (operation === "UPDATE" && isOf(type, PersistentVolumeClaim)),
    mutate(request) {
      if (!isOf(request.target, Pod)) return;
      return inNamespaceOf(request, (found) => fillDefaults(request, found, annotation));
    },
    validate: (request) =>
      inNamespaceOf(request, (found) => {
        const wrong = found.flatMap((range) => violationsOf(request, range));
        if (wrong.length === 0) return;
        throw forbidden(request.target, wrong.length === 1 ? wrong[0]! : `[${wrong.join(", ")}]`);
      }),
  };
}

/** Gives containers the defaults of the limit ranges, and says so in an annotation. */
function fillDefaults(request: AdmissionRequest, ranges: readonly LimitRangeFacts[], key: string): void {
  const pod = podOf(request);
  const notes: string[] = [];
  for (const { limits } of ranges) {
    for (const { type, defaultLimits, defaultRequests } of limits) {
      if (type !== "Container") continue;
      const { containers = [], initContainers = [] } = pod.spec;
      for (const one of containers)
        notes.push(...fillContainer(one, "container", defaultRequests, defaultLimits));
      for (const one of initContainers)
        notes.push(...fillContainer(one, "init container", defaultRequests, defaultLimits));
    }
  }
  if (notes.length === 0) return;
  const text = `LimitRanger plugin set: ${notes.join("; ")}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, [key]: text };
}

function fillContainer(
  container: Container,
  what: string,
  requests: readonly Amount[],
  limits: readonly Amount[],
): string[] {
  const resources: NonNullable<Container["resources"]> = (container.resources ??= {});
  const fill = (member: "requests" | "limits", amounts: readonly Amount[]): string[] => {
    const missing = amounts.filter(({ resource }) => !Object.hasOwn(resources[member] ?? {}, resource));
    if (missing.length === 0) return [];
    const added = missing.map(({ resource, text }) => [resource, text] as const);
    resources[member] = { ...resources[member], ...Object.fromEntries(added) };
    const names = missing.map(({ resource }) => resource).join(", ");
    return [`${names} ${member === "requests" ? "request" : "limit"} for ${what} ${container.name}`];
  };
  return [...fill("requests", requests), ...fill("limits", limits)];
}

function violationsOf(request: AdmissionRequest, { limits }: LimitRangeFacts): string[] {
  const { target, object } = request;
  if (isOf(target, PersistentVolumeClaim)) {
    const claim = object as unknown as PersistentVolumeClaim;
    const usage = usageOf({ requests: claim.spec?.resources?.requests });
    return limits.flatMap((one) => (one.type === "PersistentVolumeClaim" ? claimViolations(one, usage) : []));
  }
  const { spec } = podOf(request);
  const { containers = [], initContainers = [] } = spec;
  return limits.flatMap((one) => {
    if (one.type === "Pod") return violations(one, podUsage(spec));
    if (one.type !== "Container") return [];
    return [...containers, ...initContainers].flatMap(({ resources }) =>
      violations(one, usageOf(resources ?? {})),
    );
  });
}

/**
 * What a pod uses: its containers together, or, where that is more, one of those that run before them, as these run one
 * after the other.
 */
function podUsage({ containers = [], initContainers = [] }: PodSpecValue): Usage {
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  for (const { resources } of containers) {
    const usage = usageOf(resources ?? {});
    combine(requests, usage.requests, addQuantities);
    combine(limits, usage.limits, addQuantities);
  }
  const larger = (a: Quantity, b: Quantity): Quantity => (compareQuantities(a, b) >= 0 ? a : b);
  for (const { resources } of initContainers) {
    const usage = usageOf(resources ?? {});
    combine(requests, usage.requests, larger);
    combine(limits, usage.limits, larger);
  }
  return { requests, limits };
}

function combine(
  into: Map<string, Quantity>,
  from: ReadonlyMap<string, Quantity>,
  how: (a: Quantity, b: Quantity) => Quantity,
): void {
  for (const [name, quantity] of from) {
    const before = into.get(name);
    into.set(name, before === undefined ? quantity : how(before, quantity));
  }
}
