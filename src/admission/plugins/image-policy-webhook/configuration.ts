import { isObject, type JsonValue } from "../../../base/json/value.ts";
import { ConfigurationError } from "../../../schema/configuration.ts";
import type { PluginConfiguration } from "../../configuration.ts";

/** What the plugin ImagePolicyWebhook is configured with. */
export interface ImagePolicySettings {
  /** Client configuration file of the backend. */
  readonly kubeConfigFile: string;
  /** How long approvals and denials are kept, in milliseconds; 0: not at all. */
  readonly allowMs: number;
  readonly denyMs: number;
  /** The time before the second attempt to ask the backend. */
  readonly retryBackoffMs: number;
  /** Whether pods are admitted when the backend can't be asked. */
  readonly defaultAllow: boolean;
}

const second = 1000;
const minute = 60 * second;
const ttlRange = { unitMs: second, leastMs: second, mostMs: 30 * minute };
const backoffRange = { unitMs: 1, leastMs: 1, mostMs: 5 * minute };
const defaults = { allowMs: 5 * minute, denyMs: 30 * second, retryBackoffMs: 500 };

/**
 * Reads the member `imagePolicy`. A time of 0 means the default (5 minutes for approvals, 30 seconds for denials, 500 ms
 * between attempts), -1 means none.
 *
 * @throws {ConfigurationError}
 */
export async function readImagePolicy(
  configuration: PluginConfiguration | undefined,
): Promise<ImagePolicySettings> {
  const value = (await configuration?.readPlain()) as JsonValue | undefined;
  const found = isObject(value) ? value["imagePolicy"] : undefined;
  if (!isObject(found)) throw new ConfigurationError("it needs a configuration with the member imagePolicy");
  const { kubeConfigFile, allowTTL, denyTTL, retryBackoff, defaultAllow = false } = found;
  if (typeof kubeConfigFile !== "string" || kubeConfigFile === "") {
    throw new ConfigurationError(
      "imagePolicy.kubeConfigFile: must name the client configuration file of the backend",
    );
  }
  if (typeof defaultAllow !== "boolean") {
    throw new ConfigurationError("imagePolicy.defaultAllow: is neither true nor false");
  }
  return {
    kubeConfigFile,
    allowMs: duration("allowTTL", allowTTL, defaults.allowMs, ttlRange),
    denyMs: duration("denyTTL", denyTTL, defaults.denyMs, ttlRange),
    retryBackoffMs: duration("retryBackoff", retryBackoff, defaults.retryBackoffMs, backoffRange),
    defaultAllow,
  };
}

function duration(
  name: string,
  given: JsonValue | undefined,
  byDefaultMs: number,
  range: typeof ttlRange,
): number {
  const value = given ?? 0;
  if (typeof value !== "number" || !Number.isInteger(value)) {
    throw new ConfigurationError(`imagePolicy.${name}: is not an integer`);
  }
  if (value === 0) return byDefaultMs;
  if (value === -1) return 0;
  const { unitMs, leastMs, mostMs } = range;
  const ms = value * unitMs;
  if (ms >= leastMs && ms <= mostMs) return ms;
  const [least, most] = [leastMs / unitMs, mostMs / unitMs];
  throw new ConfigurationError(
    `imagePolicy.${name}: valid value is between ${least} and ${most}, got ${value}`,
  );
}
