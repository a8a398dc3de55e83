import type { MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { AdmissionRequest, Admitter, Target } from "../resources/engine.ts";

/** One rule of admission (spec: conventions 4.13). A plugin refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /**
   * Whether being asked does something that lasts, beyond what is stored. A dry run that such a plugin would be asked of
   * fails (spec: conventions 4.9). All others must do nothing of that kind in a dry run.
   */
  readonly sideEffects?: boolean;
  /** Whether the plugin may have anything to say to such writes; of others it needs not be asked. */
  concerns(operation: AdmissionRequest["operation"], target: Target): boolean;
  /** May change `request.object`. Runs before validation, in the order of the chain. */
  mutate?(request: AdmissionRequest): MaybePromise<void>;
  /** Sees the object as it would be stored. */
  validate?(request: AdmissionRequest): MaybePromise<void>;
}

/** Asks the plugins in order; the first refusal ends the request. */
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

/** Asks the plugins one after the other; at once as long as they answer at once. */
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

/** @throws {StatusError} BadRequest when asking the plugin would do what a dry run must not. */
function refuseSideEffects(plugin: AdmissionPlugin, { operation, target }: AdmissionRequest): void {
  if (plugin.sideEffects !== true || !plugin.concerns(operation, target)) return;
  const name = JSON.stringify(plugin.name);
  throw new StatusError("BadRequest", `admission plugin ${name} does not support dry run`);
}
