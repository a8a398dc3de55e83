import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { RecentMap } from "../../base/recent-map.ts";
import { StatusError } from "../../base/status-error.ts";
import { Throttle } from "../../base/throttle.ts";
import { Event } from "../../kinds/core/event.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { refuseFaults, type Configuration } from "../../schema/configuration.ts";
import { FieldReport } from "../../schema/faults.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { struct } from "../../schema/meta.ts";
import { field, int32, list, string } from "../../schema/types.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import type { PluginConfiguration } from "../configuration.ts";

const Limit = struct("EventRateLimit", "How many events are let in.", {
  type: field(undefined, string, "Which events share the limit: all, or those of one key.").required(),
  qps: field(undefined, int32, "How many are let in a second, on average.").required(),
  burst: field(undefined, int32, "How many are let in at once, after a time of rest.").required(),
  cacheSize: field(undefined, int32, "How many keys are remembered; the one used longest ago is forgotten."),
});

const Limits = struct("EventRateLimitConfiguration", "Limits of events; one is let in where all allow it.", {
  kind: field(undefined, string, "Configuration."),
  apiVersion: field(undefined, string, "Version of the configuration's form."),
  limits: field(undefined, list(Limit), "The limits.").required(),
});

type StoredEvent = ObjectFor<typeof Event>;

/** Which events share a limit, by the name of its type. */
const keys: Readonly<Record<string, (request: AdmissionRequest) => string>> = {
  Server: () => "",
  Namespace: ({ target }) => target.namespace,
  User: ({ user }) => user.name,
  SourceAndObject: ({ object }) => {
    const { source, reportingComponent, involvedObject: about } = object as StoredEvent;
    const by = [source?.component || reportingComponent, source?.host];
    return [...by, about.kind, about.namespace, about.name, about.uid, about.apiVersion].join("/");
  },
};

/** Keys that are remembered unless it is said how many. */
const defaultCacheSize = 4096;
/** Longer keys, which clients can make as long as an event may be, are remembered by their digest. */
const longestKey = 256;

/** How many events are let in, of those that share a key. */
export interface EventLimit {
  readonly type: string;
  readonly perSecond: number;
  readonly burst: number;
  readonly cacheSize: number;
}

/**
 * Reads the limits that the plugin is configured with.
 *
 * @throws {ConfigurationError}
 */
export async function readEventLimits(
  configuration: PluginConfiguration,
  { groupSuffix }: Vocabulary,
): Promise<Configuration<readonly EventLimit[]>> {
  const { value, warnings } = await configuration.read({
    type: Limits,
    kind: "Configuration",
    apiVersions: [`eventratelimit.admission.${groupSuffix}/v1alpha1`],
  });
  const report = FieldReport.start();
  // Nothing is validated yet: what is required may still be missing.
  const limits = (value.limits as typeof value.limits | undefined) ?? [];
  if (limits.length === 0) report.at("limits").required("at least one limit");
  limits.forEach(({ type = "", qps = 0, burst = 0, cacheSize = 0 }, index) => {
    const place = report.at("limits", index);
    if (!Object.hasOwn(keys, type)) place.at("type").notSupported(type, Object.keys(keys));
    if (qps <= 0) place.at("qps").invalid(qps, "must be positive");
    if (burst <= 0) place.at("burst").invalid(burst, "must be positive");
    if (cacheSize < 0) place.at("cacheSize").invalid(cacheSize, "must not be negative");
  });
  refuseFaults(report);
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
 * EventRateLimit: rejects events over the limits (429), so that a burst of events doesn't slow down other requests. A dry run
 * stores nothing and isn't counted.
 */
export function eventRateLimit(limits: readonly EventLimit[], clock: Clock): AdmissionPlugin {
  const gates = limits.map((limit) => gateOf(limit, clock));
  const concerns: AdmissionPlugin["concerns"] = (operation, { resource }) =>
    operation !== "DELETE" && resource.stored.kind === Event;
  return {
    name: "EventRateLimit",
    concerns,
    validate(request) {
      if (!concerns(request.operation, request.target) || request.dryRun) return;
      const refusals = gates.flatMap((gate) => gate(request) ?? []);
      if (refusals.length === 0) return;
      const why = refusals.map(({ reason }) => reason).join("; ");
      const waitMs = Math.max(...refusals.map(({ afterMs }) => afterMs));
      throw new StatusError("TooManyRequests", `Too many requests: ${why}`, {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      });
    },
  };
}

interface Refusal {
  readonly reason: string;
  readonly afterMs: number;
}

/** Asked for each event; answers where it is one too many. */
function gateOf(limit: EventLimit, clock: Clock): (request: AdmissionRequest) => Refusal | undefined {
  const { type, cacheSize } = limit;
  const keyOf = keys[type]!;
  const throttles = new RecentMap<Throttle>({ entries: cacheSize, cost: Infinity });
  return (request) => {
    const key = remembered(keyOf(request));
    let throttle = throttles.get(key);
    if (throttle === undefined) {
      throttle = new Throttle(limit, clock);
      throttles.set(key, throttle);
    }
    const afterMs = throttle.take();
    if (afterMs === 0) return undefined;
    return { reason: `limit reached on type ${type}${key === "" ? "" : ` for key ${key}`}`, afterMs };
  };
}

function remembered(key: string): string {
  return key.length <= longestKey ? key : createHash("sha256").update(key).digest("hex");
}
