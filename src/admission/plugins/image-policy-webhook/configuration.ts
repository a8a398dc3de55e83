import { isObject, type JsonValue } from "../../../base/json/value.ts";
import { assertMembers, ConfigurationError } from "../../../schema/configuration.ts";
import { plainMembers, type PluginConfiguration } from "../../configuration.ts";

/** The configuration of ImagePolicyWebhook. */
export interface ImagePolicySettings {
  /** Client configuration file of the backend. */
  readonly kubeConfigFile: string;
  /** How long approvals and denials are cached, in milliseconds; 0 disables the cache. */
  readonly allowMs: number;
  readonly denyMs: number;
  /** The pause before the second attempt to call the backend, in milliseconds; 0 disables retries. */
  readonly retryBackoffMs: number;
  /** Whether pods are admitted if the call of the backend fails. */
  readonly defaultAllow: boolean;
}

const policyMembers = ["kubeConfigFile", "allowTTL", "denyTTL", "retryBackoff", "defaultAllow"];
const second = 1000;
const minute = 60 * second;
const ttlRange = { unitMs: second, leastMs: second, mostMs: 30 * minute };
const backoffRange = { unitMs: 1, leastMs: 1, mostMs: 5 * minute };
const defaults = { allowMs: 5 * minute, denyMs: 30 * second, retryBackoffMs: 500 };

/**
 * Reads the member `imagePolicy`. A duration of 0 means the default (5 minutes for approvals, 30 seconds for denials, 500 ms
 * between attempts), -1 disables the cache or the retries.
 *
 * @throws {ConfigurationError} the configuration is invalid.
 */
export async function readImagePolicy(
  configuration: PluginConfiguration | undefined,
): Promise<ImagePolicySettings> {
  const value = (await configuration?.readPlain(checkMembers)) as JsonValue | undefined;
  const policy = isObject(value) ? value["imagePolicy"] : undefined;
  if (!isObject(policy)) throw new ConfigurationError("the configuration must have the member imagePolicy");
  const { kubeConfigFile, allowTTL, denyTTL, retryBackoff, defaultAllow = false } = policy;
  if (typeof kubeConfigFile !== "string" || kubeConfigFile === "") {
    throw new ConfigurationError(
      "imagePolicy.kubeConfigFile: must name the client configuration file of the backend",
    );
  }
  if (typeof defaultAllow !== "boolean") {
    throw new ConfigurationError("imagePolicy.defaultAllow: must be true or false");
  }
  return {
    kubeConfigFile,
    allowMs: duration("allowTTL", allowTTL, defaults.allowMs, ttlRange),
    denyMs: duration("denyTTL", denyTTL, defaults.denyMs, ttlRange),
    retryBackoffMs: duration("retryBackoff", retryBackoff, defaults.retryBackoffMs, backoffRange),
    defaultAllow,
  };
}

function checkMembers(plain: unknown): void {
  assertMembers(plain, plainMembers);
  assertMembers(
    (plain as { readonly imagePolicy?: unknown } | null)?.imagePolicy,
    policyMembers,
    "imagePolicy",
  );
}

function duration(
  name: string,
  input: JsonValue | undefined,
  byDefaultMs: number,
  range: typeof ttlRange,
): number {
  const value = input ?? 0;
  if (typeof value !== "number" || !Number.isInteger(value)) {
    throw new ConfigurationError(`imagePolicy.${name}: must be an integer`);
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
