import { formatQuantity, parseQuantity, type Quantity } from "../../../base/quantity.ts";
import type { Amount, TypeLimits } from "./limits.ts";

/** What something requests, and at most uses, by resource. */
export interface Usage {
  readonly requests: ReadonlyMap<string, Quantity>;
  readonly limits: ReadonlyMap<string, Quantity>;
}

/** What the texts of a container's `resources`, or a claim's, say. */
export function usageOf(resources: {
  readonly requests?: Readonly<Record<string, string>> | undefined;
  readonly limits?: Readonly<Record<string, string>> | undefined;
}): Usage {
  return { requests: quantitiesOf(resources.requests), limits: quantitiesOf(resources.limits) };
}

function quantitiesOf(map: Readonly<Record<string, string>> | undefined): Map<string, Quantity> {
  return new Map(Object.entries(map ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

/** How a container or pod breaks the limits of its type, a sentence each. */
export function violations(limits: TypeLimits, usage: Usage): string[] {
  return [
    ...limits.min.flatMap((bound) => belowMinimum(limits.type, bound, usage)),
    ...limits.max.flatMap((bound) => aboveMaximum(limits.type, bound, usage)),
    ...limits.maxRatio.flatMap((bound) => aboveRatio(limits.type, bound, usage)),
  ];
}

/** How a claim breaks the limits of its type; a claim has requests only. */
export function claimViolations({ type, min, max }: TypeLimits, usage: Usage): string[] {
  const above = max.flatMap(({ resource, text, nanos }) => {
    const request = usage.requests.get(resource);
    const rule = `maximum ${resource} usage per ${type} is ${text}`;
    if (request === undefined) return [`${rule}.  No request is specified`];
    return request.nanos > nanos ? [`${rule}, but request is ${formatQuantity(request)}`] : [];
  });
  return [...min.flatMap((bound) => belowMinimum(type, bound, usage)), ...above];
}

function belowMinimum(type: string, { resource, text, nanos }: Amount, usage: Usage): string[] {
  const rule = `minimum ${resource} usage per ${type} is ${text}`;
  const request = usage.requests.get(resource);
  const limit = usage.limits.get(resource);
  if (request === undefined) return [`${rule}.  No request is specified`];
  if (request.nanos < nanos) return [`${rule}, but request is ${formatQuantity(request)}`];
  if (limit !== undefined && limit.nanos < nanos) return [`${rule}, but limit is ${formatQuantity(limit)}`];
  return [];
}

function aboveMaximum(type: string, { resource, text, nanos }: Amount, usage: Usage): string[] {
  const rule = `maximum ${resource} usage per ${type} is ${text}`;
  const request = usage.requests.get(resource);
  const limit = usage.limits.get(resource);
  if (limit === undefined) return [`${rule}.  No limit is specified`];
  if (limit.nanos > nanos) return [`${rule}, but limit is ${formatQuantity(limit)}`];
  if (request !== undefined && request.nanos > nanos)
    return [`${rule}, but request is ${formatQuantity(request)}`];
  return [];
}

const nano = 10n ** 9n;

function aboveRatio(type: string, { resource, text, nanos }: Amount, usage: Usage): string[] {
  const rule = `${resource} max limit to request ratio per ${type} is ${text}`;
  const request = usage.requests.get(resource);
  const limit = usage.limits.get(resource);
  if (request === undefined || request.nanos === 0n) {
    return [`${rule}, but no request is specified or request is 0`];
  }
  if (limit === undefined || limit.nanos === 0n) return [`${rule}, but no limit is specified or limit is 0`];
  // The ratio of the two, without rounding: limit / request > nanos / 10^9.
  if (limit.nanos * nano <= nanos * request.nanos) return [];
  const ratio = Number(limit.nanos) / Number(request.nanos);
  return [`${rule}, but provided ratio is ${ratio.toFixed(6)}`];
}
