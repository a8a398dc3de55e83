import { labelKey } from "../../../vocabulary/names.ts";
import { andThen, type MaybePromise } from "../../../base/turns/maybe-promise.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import { LimitRange } from "../../../kinds/core/limit-range.ts";
import { PersistentVolumeClaim } from "../../../kinds/core/persistent-volume-claim.ts";
import { podUsage, type MeasuredSpec } from "../../../kinds/core/pod/pod-usage.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { isOf, isResize } from "../../admitted-types.ts";
import type { AdmissionPlugin } from "../../admission-chain.ts";
import type { AdmissionFacts } from "../../followed-objects.ts";
import { forbidden } from "../../forbidden.ts";
import { podOf } from "../../pod-spec.ts";
import { addClaimViolations, addViolations, usageOf, type Usage } from "./constraints.ts";
import { limitRangeFacts, type Amount, type LimitRangeFacts, type TypeLimits } from "./limits.ts";

/**
 * LimitRanger: containers of new pods get missing requests and limits from the LimitRanges of the namespace; pods, containers and
 * claims that violate a limit are rejected with all violations (spec: conventions 4.13).
 */
export function limitRanger(facts: AdmissionFacts, { domain }: Vocabulary): AdmissionPlugin {
  const ranges = facts.of(LimitRange, limitRangeFacts);
  const annotation = labelKey(domain, "limit-ranger");
  const inNamespaceOf = (
    { target, object }: AdmissionRequest,
    work: (ranges: readonly LimitRangeFacts[]) => void,
  ): MaybePromise<void> => {
    // Terminating objects are not checked.
    if (object?.metadata.deletionTimestamp !== undefined) return;
    return andThen(ranges.in(target.namespace), (existing) =>
      existing.length === 0 ? undefined : work(existing),
    );
  };
  return {
    name: "LimitRanger",
    // Updates of pods are not checked, as they can't change the resources of containers.
    concerns: (operation, type) =>
      (operation === "CREATE" && (isOf(type, Pod) || isOf(type, PersistentVolumeClaim))) ||
      (operation === "UPDATE" && isOf(type, PersistentVolumeClaim)) ||
      isResize(operation, type),
    mutate(request) {
      if (!isOf(request.target, Pod) && !isResize(request.operation, request.target)) return;
      return inNamespaceOf(request, (existing) => fillDefaults(request, existing, annotation));
    },
    validate: (request) =>
      inNamespaceOf(request, (existing) => {
        const violations = violationsOf(request, existing);
        if (violations.length === 0) return;
        throw forbidden(
          request.target,
          violations.length === 1 ? violations[0]! : `[${violations.join(", ")}]`,
        );
      }),
  };
}

/** Fills in the defaults of the limit ranges, and records them in an annotation. */
function fillDefaults(request: AdmissionRequest, ranges: readonly LimitRangeFacts[], key: string): void {
  const pod = podOf(request);
  const notes: string[] = [];
  for (const { limits } of ranges) {
    for (const typeLimits of limits) {
      if (typeLimits.type !== "Container") continue;
      const { containers = [], initContainers = [] } = pod.spec;
      for (const container of containers) fillContainer(container, "container", typeLimits, notes);
      for (const container of initContainers) fillContainer(container, "init container", typeLimits, notes);
    }
  }
  if (notes.length === 0) return;
  const text = `LimitRanger plugin set: ${notes.join("; ")}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, [key]: text };
}

function fillContainer(
  container: Container,
  label: string,
  { defaultRequests, defaultLimits }: TypeLimits,
  notes: string[],
): void {
  const resources: NonNullable<Container["resources"]> = (container.resources ??= {});
  const fill = (member: "requests" | "limits", amounts: readonly Amount[]): void => {
    const existing = resources[member];
    const missing = amounts.filter(
      ({ resource }) => existing === undefined || !Object.hasOwn(existing, resource),
    );
    if (missing.length === 0) return;
    const added = missing.map(({ resource, text }) => [resource, text] as const);
    resources[member] = { ...existing, ...Object.fromEntries(added) };
    const names = missing.map(({ resource }) => resource).join(", ");
    notes.push(`${names} ${member === "requests" ? "request" : "limit"} for ${label} ${container.name}`);
  };
  fill("requests", defaultRequests);
  fill("limits", defaultLimits);
}

/** Returns a message for each violation, in the order of the limit ranges. */
function violationsOf(request: AdmissionRequest, ranges: readonly LimitRangeFacts[]): string[] {
  const { target, object } = request;
  const violations: string[] = [];
  if (isOf(target, PersistentVolumeClaim)) {
    const claim = object as unknown as PersistentVolumeClaim;
    const usage = usageOf({ requests: claim.spec?.resources?.requests });
    for (const limits of limitsOf(ranges, "PersistentVolumeClaim"))
      addClaimViolations(limits, usage, violations);
    return violations;
  }
  const { spec } = podOf(request);
  const { containers = [], initContainers = [] } = spec;
  const running = containers.map(({ resources }) => usageOf(resources ?? {}));
  const before = initContainers.map(({ resources }) => usageOf(resources ?? {}));
  let pod: Usage | undefined;
  for (const { limits } of ranges) {
    for (const typeLimits of limits) {
      if (typeLimits.type === "Pod") addViolations(typeLimits, (pod ??= usageOfPod(spec)), violations);
      if (typeLimits.type !== "Container") continue;
      for (const usage of running) addViolations(typeLimits, usage, violations);
      for (const usage of before) addViolations(typeLimits, usage, violations);
    }
  }
  return violations;
}

function limitsOf(ranges: readonly LimitRangeFacts[], type: string): TypeLimits[] {
  return ranges.flatMap(({ limits }) => limits.filter((typeLimits) => typeLimits.type === type));
}

function usageOfPod(spec: MeasuredSpec): Usage {
  return { requests: podUsage(spec, "requests"), limits: podUsage(spec, "limits") };
}
