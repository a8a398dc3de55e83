import { groupVersion } from "../../vocabulary/names.ts";
import { createHash } from "node:crypto";
import type { Clock } from "../../base/time/clock.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import { StatusError } from "../../base/status-error.ts";
import { Throttle } from "../../base/turns/throttle.ts";
import { Event } from "../../kinds/core/event.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { assertNoFaults, type Configuration } from "../../schema/configuration.ts";
import { FieldReport } from "../../schema/faults.ts";
import { declarationOf, type ObjectFor } from "../../schema/kind.ts";
import { struct } from "../../schema/meta.ts";
import { field, int32, list, string } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { PluginConfiguration } from "../configuration.ts";

const Limit = struct("EventRateLimit", "A rate limit of events.", {
  type: field(undefined, string, "Type of the limit: Server, Namespace, User or SourceAndObject.").required(),
  qps: field(undefined, int32, "Average number of events per second.").required(),
  burst: field(undefined, int32, "Maximum number of events in a burst.").required(),
  cacheSize: field(undefined, int32, "Number of cached keys; the least recently used one is dropped."),
});

const Limits = struct(
  "EventRateLimitConfiguration",
  "Rate limits of events; an event must be within all of them.",
  {
    kind: field(undefined, string, "Configuration."),
    apiVersion: field(undefined, string, "Version of the configuration format."),
    limits: field(undefined, list(Limit), "The rate limits.").required(),
  },
);

type StoredEvent = ObjectFor<typeof Event>;

/** Returns the key of an event, by the type of a limit. */
const keys: Readonly<Record<string, (request: AdmissionRequest) => string>> = {
  Server: () => "",
  Namespace: ({ target }) => target.namespace,
  User: ({ user }) => user.name,
  SourceAndObject: ({ object }) => {
    const { source, reportingComponent, involvedObject: about } = object as StoredEvent;
    const origin = [source?.component || reportingComponent, source?.host];
    return [...origin, about.kind, about.namespace, about.name, about.uid, about.apiVersion].join("/");
  },
};

/** Number of cached keys without configuration. */
const defaultCacheSize = 4096;
/** In characters. Longer keys are replaced with their digest: clients choose their length, up to that of an event. */
const maxKeyLength = 256;

/** A limit of events with the same key. */
export interface EventLimit {
  readonly type: string;
  readonly perSecond: number;
  readonly burst: number;
  readonly cacheSize: number;
}

/**
 * Reads the configuration of the plugin.
 *
 * @throws {ConfigurationError} the configuration is invalid.
 */
export async function readEventLimits(
  configuration: PluginConfiguration,
  { groupSuffix }: Vocabulary,
): Promise<Configuration<readonly EventLimit[]>> {
  const { value, warnings } = await configuration.read({
    type: Limits,
    kind: "Configuration",
    apiVersions: [groupVersion(groupSuffix, "eventratelimit.admission", "v1alpha1")],
  });
  const report = FieldReport.start();
  // The decoded value is not validated yet: required fields may be missing.
  const limits = (value.limits as typeof value.limits | undefined) ?? [];
  if (limits.length === 0) report.at("limits").required("at least one limit");
  limits.forEach(({ type = "", qps = 0, burst = 0, cacheSize = 0 }, index) => {
    const limitReport = report.at("limits", index);
    if (!Object.hasOwn(keys, type)) limitReport.at("type").notSupported(type, Object.keys(keys));
    if (qps <= 0) limitReport.at("qps").invalid(qps, "must be positive");
    if (burst <= 0) limitReport.at("burst").invalid(burst, "must be positive");
    if (cacheSize < 0) limitReport.at("cacheSize").invalid(cacheSize, "must not be negative");
  });
  assertNoFaults(report);
  return {
    value: limits.map(({ type, qps, burst, cacheSize = 0 }) => ({
      type,
      perSecond: qps,
      burst,
      cacheSize: cacheSize === 0 ? defaultCacheSize : cacheSize,
    })),
    warnings,
  };
}

/**
 * EventRateLimit: rejects events above the limits (429), so that a burst of events doesn't slow down other requests. Dry runs
 * aren't counted.
 */
export function eventRateLimit(limits: readonly EventLimit[], clock: Clock): AdmissionPlugin {
  const limiters = limits.map((limit) => limiterFor(limit, clock));
  const concerns: AdmissionPlugin["concerns"] = (operation, { resource }) =>
    operation !== "DELETE" && declarationOf(resource.stored.kind) === Event;
  return {
    name: "EventRateLimit",
    concerns,
    validate(request) {
      if (!concerns(request.operation, request.target) || request.dryRun) return;
      const rejections = limiters.flatMap((limiter) => limiter(request) ?? []);
      if (rejections.length === 0) return;
      const why = rejections.map(({ reason }) => reason).join("; ");
      const waitMs = Math.max(...rejections.map(({ afterMs }) => afterMs));
      throw new StatusError("TooManyRequests", `Too many requests: ${why}`, {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      });
    },
  };
}

interface Rejection {
  readonly reason: string;
  readonly afterMs: number;
}

/** Returns a function that counts an event and returns a rejection if it is above the limit. */
function limiterFor(limit: EventLimit, clock: Clock): (request: AdmissionRequest) => Rejection | undefined {
  const { type, cacheSize } = limit;
  const keyOf = keys[type]!;
  const throttles = new RecentMap<Throttle>({ entries: cacheSize, cost: Infinity });
  return (request) => {
    const key = shortened(keyOf(request));
    let throttle = throttles.get(key);
    if (throttle === undefined) {
      throttle = new Throttle(limit, clock);
      throttles.set(key, throttle);
    }
    const afterMs = throttle.takeToken();
    if (afterMs === 0) return undefined;
    return { reason: `limit reached on type ${type}${key === "" ? "" : ` for key ${key}`}`, afterMs };
  };
}

function shortened(key: string): string {
  return key.length <= maxKeyLength ? key : createHash("sha256").update(key).digest("hex");
}
