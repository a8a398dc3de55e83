import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { SpanOptions, Tracer } from "../base/tracing/tracer.ts";
import type { AdmissionRequest, Admitter, Target } from "../resources/engine/engine.ts";
import type { Resource } from "../resources/registry/registry.ts";
import { Pod } from "../kinds/core/pod/pod.ts";
import { declarationOf, type Kind } from "../schema/kind.ts";

/** An admission plugin (spec: conventions 4.13). It rejects a request by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /**
   * Whether the plugin has side effects outside of the written object. A dry run that such a plugin would handle is rejected
   * (spec: conventions 4.9). All other plugins must not have side effects in a dry run.
   */
  readonly sideEffects?: boolean;
  /**
   * Whether the plugin handles an operation on a resource type or subresource. The result is cached for the operation and the
   * type, so it must depend on nothing else.
   */
  concerns(operation: AdmissionRequest["operation"], target: AdmittedType): boolean;
  /**
   * Whether the plugin has nothing to do for a request; it is then neither called nor measured. For plugins that handle every
   * resource type but rarely have anything to do. Must return without waiting; may be called again.
   */
  skips?(request: SkippedRequest): boolean;
  /** May change `request.object` in place. Called before validation, in the order of the chain. */
  mutate?(request: AdmissionRequest): MaybePromise<void>;
  /** Checks the object as it would be stored. */
  validate?(request: AdmissionRequest): MaybePromise<void>;
}

/** The attributes of a request by which a plugin decides whether it skips it. */
export type SkippedRequest = Pick<AdmissionRequest, "operation" | "target" | "requestResource">;

/** The resource type and the subresource of a write. */
export type AdmittedType = Pick<Target, "resource" | "subresource">;

/** The two phases, as the metrics of the reference name them. */
export type AdmissionPhase = "admit" | "validate";

/** Receives the durations of plugins and phases; `plugin` is undefined for a whole phase. */
export type AdmissionObserver = (
  plugin: AdmissionPlugin | undefined,
  phase: AdmissionPhase,
  operation: AdmissionRequest["operation"],
  rejected: boolean,
  seconds: number,
) => void;

/** The plugins that handle one operation on one resource type or subresource, by phase. */
interface Plan {
  readonly admit: readonly AdmissionPlugin[];
  readonly validate: readonly AdmissionPlugin[];
}

/** Calls the plugins in order; the first rejection ends the request. */
export class AdmissionChain implements Admitter {
  private readonly plans = new WeakMap<Resource, Map<string, Plan>>();
  private observe: AdmissionObserver = () => undefined;
  private tracer: Tracer | undefined;

  /** @param nowMs milliseconds, with fractions. */
  constructor(
    private readonly plugins: readonly AdmissionPlugin[],
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Records spans of plugins for traced requests. */
  traceWith(tracer: Tracer): void {
    this.tracer = tracer;
  }

  /** Sets the observer of all later calls of plugins and phases. */
  measure(observe: AdmissionObserver): void {
    this.observe = observe;
  }

  concerns(
    operation: AdmissionRequest["operation"],
    target: Target,
    requestResource: Resource = target.resource,
  ): boolean {
    const { admit, validate } = this.planFor(operation, target);
    const isCalled = (plugin: AdmissionPlugin) =>
      plugin.skips?.({ operation, target, requestResource }) !== true;
    return admit.some(isCalled) || validate.some(isCalled);
  }

  /**
   * Runs the mutating phase. If a plugin requests reinvocation, all mutating plugins are called a second time, so that those
   * before it see the changed object too.
   */
  mutate(request: AdmissionRequest): MaybePromise<void> {
    const pending = this.runPhase("admit", request);
    if (!(pending instanceof Promise)) return this.reinvoke(request);
    this.startReads(request);
    return pending.then(() => this.reinvoke(request));
  }

  /** Lets plugins of both phases read what they follow while the first of them waits, so that reads of a store over a network are shared. */
  private startReads(request: AdmissionRequest): void {
    const { admit, validate } = this.planFor(request.operation, request.target);
    try {
      for (const plugin of admit) plugin.skips?.(request);
      for (const plugin of validate) plugin.skips?.(request);
    } catch {
      // The plugin throws it again when it is its turn; an earlier plugin may reject the request first.
      return;
    }
  }

  private reinvoke(request: AdmissionRequest): MaybePromise<void> {
    if (!request.effects.reinvocationRequested) return undefined;
    return this.runPhase("admit", { ...request, reinvocation: true });
  }

  validate(request: AdmissionRequest): MaybePromise<void> {
    return this.runPhase("validate", request);
  }

  private planFor(operation: AdmissionRequest["operation"], target: Target): Plan {
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

  /** Calls the plugins of a phase. If all of them skip the request, the phase isn't measured. */
  private runPhase(phase: AdmissionPhase, request: AdmissionRequest): MaybePromise<void> {
    const plugins = this.planFor(request.operation, request.target)[phase];
    let first = 0;
    while (plugins[first]?.skips?.(request) === true) first++;
    if (first === plugins.length) return undefined;
    return this.runMeasured(undefined, phase, request, () => this.runFrom(first, plugins, phase, request));
  }

  /** Calls the plugins one after the other; creates a promise only if a plugin returns one. */
  private runFrom(
    first: number,
    plugins: readonly AdmissionPlugin[],
    phase: AdmissionPhase,
    request: AdmissionRequest,
  ): MaybePromise<void> {
    for (let index = first; index < plugins.length; index++) {
      const plugin = plugins[index]!;
      if (plugin.skips?.(request) === true) continue;
      const pending = this.runPlugin(plugin, phase, request);
      if (pending instanceof Promise) {
        return pending.then(() => this.runFrom(index + 1, plugins, phase, request));
      }
    }
  }

  private runPlugin(
    plugin: AdmissionPlugin,
    phase: AdmissionPhase,
    request: AdmissionRequest,
  ): MaybePromise<void> {
    if (request.dryRun && plugin.sideEffects === true) {
      const name = JSON.stringify(plugin.name);
      throw new StatusError("BadRequest", `admission plugin ${name} does not support dry run`);
    }
    return this.runMeasured(plugin, phase, request, () =>
      phase === "admit" ? plugin.mutate!(request) : plugin.validate!(request),
    );
  }

  /** Runs a plugin or a phase and reports its duration, also if it rejects the request. */
  private runMeasured(
    plugin: AdmissionPlugin | undefined,
    phase: AdmissionPhase,
    { operation, effects }: AdmissionRequest,
    run: () => MaybePromise<void>,
  ): MaybePromise<void> {
    const startMs = this.nowMs();
    const report = (rejected: boolean): void => {
      const durationMs = this.nowMs() - startMs;
      if (plugin === undefined) effects.took?.("admission", durationMs);
      this.observe(plugin, phase, operation, rejected, durationMs / 1000);
    };
    const fail = (error: unknown): never => {
      report(true);
      throw error;
    };
    let pending: MaybePromise<void>;
    try {
      pending = this.tracer === undefined ? run() : this.tracer.span(...spanOf(plugin, phase), () => run());
    } catch (error) {
      return fail(error);
    }
    if (pending instanceof Promise) return pending.then(() => report(false), fail);
    report(false);
  }
}

/** Duration below which a plugin has no span, in milliseconds. */
const shortPluginMs = 1;

/** A phase always has a span; a plugin that is fast and calls no webhook has none. */
function spanOf(plugin: AdmissionPlugin | undefined, phase: AdmissionPhase): [string, SpanOptions] {
  if (plugin === undefined) return [`admission ${phase}`, {}];
  return [`admission plugin ${plugin.name}`, { attributes: { phase }, minimumMs: shortPluginMs }];
}

type Operation = AdmissionRequest["operation"];

/** Whether a write is of whole objects of a kind, in any version. */
export function isOf({ resource, subresource }: AdmittedType, kind: Kind): boolean {
  return subresource === "" && declarationOf(resource.stored.kind) === kind;
}

/** Whether a write changes the resources of a pod's containers. */
export function isResize(operation: Operation, { resource, subresource }: AdmittedType): boolean {
  return operation === "UPDATE" && subresource === "resize" && declarationOf(resource.stored.kind) === Pod;
}

/** Returns a `concerns` function for some operations on whole objects of some kinds. */
export function concernsOnly(
  kinds: readonly Kind[],
  ...operations: readonly Operation[]
): AdmissionPlugin["concerns"] {
  return (operation, type) => operations.includes(operation) && kinds.some((kind) => isOf(type, kind));
}

/** Returns a `concerns` function for some operations on whole pods. */
export function concernsPods(...operations: readonly Operation[]): AdmissionPlugin["concerns"] {
  return concernsOnly([Pod], ...operations);
}
