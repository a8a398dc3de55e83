import { formatQuantity, parseQuantity, type Quantity } from "../../../base/quantity.ts";
import type { Amount, TypeLimits } from "./limits.ts";

/** Requests and limits by resource. */
export interface Usage {
  readonly requests: ReadonlyMap<string, Quantity>;
  readonly limits: ReadonlyMap<string, Quantity>;
}

/** Parses the `resources` of a container or a claim. */
export function usageOf(resources: {
  readonly requests?: Readonly<Record<string, string>> | undefined;
  readonly limits?: Readonly<Record<string, string>> | undefined;
}): Usage {
  return { requests: quantitiesOf(resources.requests), limits: quantitiesOf(resources.limits) };
}

function quantitiesOf(map: Readonly<Record<string, string>> | undefined): Map<string, Quantity> {
  return new Map(Object.entries(map ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

/** Adds a message for each violation of the limits by a container or pod. */
export function addViolations(
  { type, min, max, maxRatio }: TypeLimits,
  usage: Usage,
  messages: string[],
): void {
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
export function addClaimViolations({ type, min, max }: TypeLimits, usage: Usage, messages: string[]): void {
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
