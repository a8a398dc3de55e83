import type { MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { AdmissionRequest, Admitter, Target } from "../resources/engine/engine.ts";
import type { Resource } from "../resources/registry/registry.ts";

/** An admission plugin (spec: conventions 4.13). It rejects a request by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /**
   * Whether the plugin has side effects outside of the written object. A dry run that such a plugin would handle is rejected
   * (spec: conventions 4.9). All other plugins must not have side effects in a dry run.
   */
  readonly sideEffects?: boolean;
  /**
   * Whether the plugin may have anything to say to such writes; of others it isn't asked. Decided once for each operation
   * on a resource type or subresource, so it must depend on nothing else.
   */
  concerns(operation: AdmissionRequest["operation"], target: AdmittedType): boolean;
  /**
   * Whether it is known at once that the plugin has nothing to do with a request; it is then neither asked nor measured.
   * For plugins that concern every type but seldom have anything to do.
   */
  skips?(request: SkippedRequest): boolean;
  /** May change `request.object`. Runs before validation, in the order of the chain. */
  mutate?(request: AdmissionRequest): MaybePromise<void>;
  /** Sees the object as it would be stored. */
  validate?(request: AdmissionRequest): MaybePromise<void>;
}

/** What of a request decides whether a plugin skips it. */
export type SkippedRequest = Pick<AdmissionRequest, "operation" | "target" | "requestResource">;

/** The resource type, or part of it, that a write is about. */
export type AdmittedType = Pick<Target, "resource" | "subresource">;

/** The two phases, as the metrics of the reference name them. */
export type AdmissionPhase = "admit" | "validate";

/** Takes the time that plugins and phases take; `plugin` is undefined for a whole phase. */
export type AdmissionObserver = (
  plugin: AdmissionPlugin | undefined,
  phase: AdmissionPhase,
  operation: AdmissionRequest["operation"],
  rejected: boolean,
  seconds: number,
) => void;

/** The plugins that are asked of one operation on one resource type or subresource. */
interface Plan {
  readonly admit: readonly AdmissionPlugin[];
  readonly validate: readonly AdmissionPlugin[];
}

const noPlugins: Plan = { admit: [], validate: [] };

/**
 * Asks the plugins in order; the first refusal ends the request. Where no plugin is concerned, nothing is done and nothing
 * measured.
 */
export class AdmissionChain implements Admitter {
  private readonly plans = new WeakMap<Resource, Map<string, Plan>>();
  private observe: AdmissionObserver = () => undefined;

  /**
   * @param nowMs milliseconds, with fractions.
   * @param isServing false until the server has written its default objects, before it takes any request: no plugin is called for
   *   these writes, so that none can prevent the start.
   */
  constructor(
    private readonly plugins: readonly AdmissionPlugin[],
    private readonly nowMs: () => number = () => performance.now(),
    private readonly isServing: () => boolean = () => true,
  ) {}

  /** Calls an observer for each plugin that is asked, and for each phase, from now on. */
  measure(observe: AdmissionObserver): void {
    this.observe = observe;
  }

  concerns(
    operation: AdmissionRequest["operation"],
    target: Target,
    requestResource: Resource = target.resource,
  ): boolean {
    const { admit, validate } = this.planFor(operation, target);
    const asked = (plugin: AdmissionPlugin) =>
      plugin.skips?.({ operation, target, requestResource }) !== true;
    return admit.some(asked) || validate.some(asked);
  }

  /**
   * Asks once more from the beginning when others have changed the object: what they added is to be seen by the plugins that
   * were asked before them.
   */
  mutate(request: AdmissionRequest): MaybePromise<void> {
    const answer = this.ask("admit", request);
    if (answer instanceof Promise) return answer.then(() => this.mutateAgain(request));
    return this.mutateAgain(request);
  }

  private mutateAgain(request: AdmissionRequest): MaybePromise<void> {
    if (!request.rewritten) return undefined;
    request.round = 1;
    return this.ask("admit", request);
  }

  validate(request: AdmissionRequest): MaybePromise<void> {
    return this.ask("validate", request);
  }

  private planFor(operation: AdmissionRequest["operation"], target: Target): Plan {
    if (!this.isServing()) return noPlugins;
    const { resource, subresource } = target;
    let plans = this.plans.get(resource);
    if (plans === undefined) this.plans.set(resource, (plans = new Map()));
    const key = subresource === "" ? operation : `${operation} ${subresource}`;
    let plan = plans.get(key);
    if (plan === undefined) {
      const concerned = this.plugins.filter((plugin) => plugin.concerns(operation, target));
      plan = {
        admit: concerned.filter((plugin) => plugin.mutate !== undefined),
        validate: concerned.filter((plugin) => plugin.validate !== undefined),
      };
      plans.set(key, plan);
    }
    return plan;
  }

  private ask(phase: AdmissionPhase, request: AdmissionRequest): MaybePromise<void> {
    const plugins = this.planFor(request.operation, request.target)[phase];
    let first = 0;
    while (plugins[first]?.skips?.(request) === true) first++;
    if (first === plugins.length) return undefined;
    const startMs = this.nowMs();
    const over = (rejected: boolean): void =>
      this.observe(undefined, phase, request.operation, rejected, (this.nowMs() - startMs) / 1000);
    const failed = (error: unknown): never => {
      over(true);
      throw error;
    };
    try {
      const answer = this.askFrom(first, plugins, phase, request);
      if (answer instanceof Promise) return answer.then(() => over(false), failed);
      over(false);
    } catch (error) {
      failed(error);
    }
  }

  /** Asks the plugins one after the other; at once as long as they answer at once. */
  private askFrom(
    first: number,
    plugins: readonly AdmissionPlugin[],
    phase: AdmissionPhase,
    request: AdmissionRequest,
  ): MaybePromise<void> {
    for (let at = first; at < plugins.length; at++) {
      const plugin = plugins[at]!;
      if (plugin.skips?.(request) === true) continue;
      const answer = this.askOne(plugin, phase, request);
      if (answer instanceof Promise) return answer.then(() => this.askFrom(at + 1, plugins, phase, request));
    }
  }

  private askOne(
    plugin: AdmissionPlugin,
    phase: AdmissionPhase,
    request: AdmissionRequest,
  ): MaybePromise<void> {
    if (request.dryRun && plugin.sideEffects === true) {
      const name = JSON.stringify(plugin.name);
      throw new StatusError("BadRequest", `admission plugin ${name} does not support dry run`);
    }
    const startMs = this.nowMs();
    const over = (rejected: boolean): void =>
      this.observe(plugin, phase, request.operation, rejected, (this.nowMs() - startMs) / 1000);
    const failed = (error: unknown): never => {
      over(true);
      throw error;
    };
    try {
      const answer = phase === "admit" ? plugin.mutate!(request) : plugin.validate!(request);
      if (answer instanceof Promise) return answer.then(() => over(false), failed);
      over(false);
    } catch (error) {
      failed(error);
    }
  }
}
