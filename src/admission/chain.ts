import type { MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { AdmissionRequest, Admitter, Target } from "../resources/engine.ts";

/** An admission plugin (spec: conventions 4.13). It rejects a request by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /**
   * Whether the plugin has side effects outside of the written object. A dry run that such a plugin would handle is rejected
   * (spec: conventions 4.9). All other plugins must not have side effects in a dry run.
   */
  readonly sideEffects?: boolean;
  /** Whether the plugin handles such writes; for others it may be skipped. */
  concerns(operation: AdmissionRequest["operation"], target: Target): boolean;
  /** May change `request.object`. Runs before validation, in the order of the chain. */
  mutate?(request: AdmissionRequest): MaybePromise<void>;
  /** Sees the object as it would be stored. */
  validate?(request: AdmissionRequest): MaybePromise<void>;
}

/** Calls the plugins in order; the first rejection ends the request. */
export class AdmissionChain implements Admitter {
  private readonly mutating: readonly AdmissionPlugin[];
  private readonly validating: readonly AdmissionPlugin[];

  constructor(private readonly plugins: readonly AdmissionPlugin[]) {
    this.mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
    this.validating = plugins.filter((plugin) => plugin.validate !== undefined);
  }

  concerns(operation: AdmissionRequest["operation"], target: Target): boolean {
    return this.plugins.some((plugin) => plugin.concerns(operation, target));
  }

  mutate(request: AdmissionRequest): MaybePromise<void> {
    return askFrom(0, this.mutating, "mutate", request);
  }

  validate(request: AdmissionRequest): MaybePromise<void> {
    return askFrom(0, this.validating, "validate", request);
  }
}

/** Calls the plugins one after the other; synchronously as long as they return no promise. */
function askFrom(
  start: number,
  plugins: readonly AdmissionPlugin[],
  phase: "mutate" | "validate",
  request: AdmissionRequest,
): MaybePromise<void> {
  for (let at = start; at < plugins.length; at++) {
    const plugin = plugins[at]!;
    if (request.dryRun) refuseSideEffects(plugin, request);
    const answer = plugin[phase]!(request);
    if (answer instanceof Promise) return answer.then(() => askFrom(at + 1, plugins, phase, request));
  }
}

/** @throws {StatusError} BadRequest when the plugin has side effects, which a dry run must not have. */
function refuseSideEffects(plugin: AdmissionPlugin, { operation, target }: AdmissionRequest): void {
  if (plugin.sideEffects !== true || !plugin.concerns(operation, target)) return;
  const name = JSON.stringify(plugin.name);
  throw new StatusError("BadRequest", `admission plugin ${name} does not support dry run`);
}
