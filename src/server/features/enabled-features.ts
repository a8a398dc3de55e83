import { FeatureGateError, type FeatureGates } from "./feature-gates.ts";
import { idleReason } from "./idle-features.ts";
import { gatesOfRelease } from "./features.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

const gatesOf = new WeakMap<ServerOptions, FeatureGates>();

/**
 * Returns the feature gates of the options. The first call for an options object logs the warnings.
 *
 * @throws {OptionsError} if `--feature-gates` can't be used.
 */
export function featureGates(options: ServerOptions): FeatureGates {
  const cached = gatesOf.get(options);
  if (cached !== undefined) return cached;
  const { featureGates: text, log, release } = options;
  try {
    const gates = gatesOfRelease(release, text);
    for (const warning of gates.warnings) log.warn({}, warning);
    for (const name of gates.settings.keys()) {
      const reason = idleReason(name);
      if (reason !== undefined)
        log.warn({ gate: name }, `feature gate ${name} has no effect here: ${reason}`);
    }
    gatesOf.set(options, gates);
    return gates;
  } catch (error) {
    if (error instanceof FeatureGateError) throw new OptionsError(`--feature-gates: ${error.message}`);
    throw error;
  }
}
