import { objectAs } from "../../../schema/api-object.ts";
import { labelKey } from "../../../vocabulary/names.ts";
import { andThen, type MaybePromise } from "../../../base/turns/maybe-promise.ts";
import type { Container } from "../../../kinds/core/pod/container.ts";
import { LimitRange } from "../../../kinds/core/limit-range.ts";
import { PersistentVolumeClaim } from "../../../kinds/core/persistent-volume-claim.ts";
import { podUsage, type MeasuredSpec } from "../../../kinds/core/pod/pod-usage.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { isOf, isResize, type AdmissionPlugin } from "../../admission-chain.ts";
import type { AdmissionFacts } from "../../followed-objects.ts";
import { forbidden } from "../../forbidden.ts";
import { podOf } from "../../pod-spec.ts";
import { limitRangeFacts, type Amount, type LimitRangeFacts, type TypeLimits } from "./limits.ts";
import { formatQuantity, parseQuantity, type Quantity } from "../../../base/quantity.ts";

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
    const claim = objectAs<PersistentVolumeClaim>(object!);
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

/** Requests and limits by resource. */
interface Usage {
  readonly requests: ReadonlyMap<string, Quantity>;
  readonly limits: ReadonlyMap<string, Quantity>;
}

/** Parses the `resources` of a container or a claim. */
function usageOf(resources: {
  readonly requests?: Readonly<Record<string, string>> | undefined;
  readonly limits?: Readonly<Record<string, string>> | undefined;
}): Usage {
  return { requests: quantitiesOf(resources.requests), limits: quantitiesOf(resources.limits) };
}

function quantitiesOf(map: Readonly<Record<string, string>> | undefined): Map<string, Quantity> {
  return new Map(Object.entries(map ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

/** Adds a message for each violation of the limits by a container or pod. */
function addViolations({ type, min, max, maxRatio }: TypeLimits, usage: Usage, messages: string[]): void {
  for (const bound of min) addViolation(messages, belowMinimum(bound, usage), "minimum", type, bound);
  for (const bound of max) addViolation(messages, aboveMaximum(bound, usage), "maximum", type, bound);
  for (const bound of maxRatio) {
    const fault = aboveRatio(bound, usage);
    if (fault !== undefined) {
      messages.push(
        `${bound.resource} max limit to request ratio per ${type} is ${bound.text}, but ${fault}`,
      );
    }
  }
}

/** Adds a message for each violation of the limits by a claim, which has requests only. */
function addClaimViolations({ type, min, max }: TypeLimits, usage: Usage, messages: string[]): void {
  for (const bound of min) addViolation(messages, belowMinimum(bound, usage), "minimum", type, bound);
  for (const bound of max) {
    const request = usage.requests.get(bound.resource);
    const fault =
      request === undefined
        ? noRequest
        : request.nanos > bound.nanos
          ? `, but request is ${formatQuantity(request)}`
          : undefined;
    addViolation(messages, fault, "maximum", type, bound);
  }
}

const noRequest = ".  No request is specified";
const noLimit = ".  No limit is specified";

function addViolation(
  messages: string[],
  fault: string | undefined,
  what: string,
  type: string,
  { resource, text }: Amount,
): void {
  if (fault !== undefined) messages.push(`${what} ${resource} usage per ${type} is ${text}${fault}`);
}

function belowMinimum({ resource, nanos }: Amount, usage: Usage): string | undefined {
  const request = usage.requests.get(resource);
  if (request === undefined) return noRequest;
  if (request.nanos < nanos) return `, but request is ${formatQuantity(request)}`;
  const limit = usage.limits.get(resource);
  if (limit !== undefined && limit.nanos < nanos) return `, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function aboveMaximum({ resource, nanos }: Amount, usage: Usage): string | undefined {
  const limit = usage.limits.get(resource);
  if (limit === undefined) return noLimit;
  if (limit.nanos > nanos) return `, but limit is ${formatQuantity(limit)}`;
  const request = usage.requests.get(resource);
  if (request !== undefined && request.nanos > nanos) return `, but request is ${formatQuantity(request)}`;
  return undefined;
}

const nano = 10n ** 9n;

function aboveRatio({ resource, nanos }: Amount, usage: Usage): string | undefined {
  const request = usage.requests.get(resource);
  const limit = usage.limits.get(resource);
  if (request === undefined || request.nanos === 0n) return "no request is specified or request is 0";
  if (limit === undefined || limit.nanos === 0n) return "no limit is specified or limit is 0";
  // Compares exactly: limit / request > nanos / 10^9.
  if (limit.nanos * nano <= nanos * request.nanos) return undefined;
  const ratio = Number(limit.nanos) / Number(request.nanos);
  return `provided ratio is ${ratio.toFixed(6)}`;
}
