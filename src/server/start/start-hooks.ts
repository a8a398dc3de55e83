import type { HealthCheck } from "../../http/documents/health.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/**
 * The steps of a start. `bootstrapped`: the default objects are stored; `synced`: indexes and informers have loaded
 * the store.
 */
export type StartStep = "bootstrapped" | "synced";

/** The step of the start, or the controller, whose start decides about a start hook of the reference. */
type Awaited = StartStep | { readonly controller: string };

/** The start hooks of the reference in its order, with their names there. */
function hooks({
  components: { apiServer, aggregator },
}: Vocabulary): readonly (readonly [string, Awaited])[] {
  return [
    [`start-${apiServer}-admission-initializer`, "synced"],
    ["generic-apiserver-start-informers", "synced"],
    ["priority-and-fairness-config-consumer", "synced"],
    ["priority-and-fairness-filter", "synced"],
    ["storage-object-count-tracker-hook", "synced"],
    ["start-apiextensions-informers", "synced"],
    ["start-apiextensions-controllers", { controller: "customresourcedefinition" }],
    ["crd-informer-synced", "synced"],
    ["bootstrap-controller", "synced"],
    ["rbac/bootstrap-roles", "bootstrapped"],
    ["scheduling/bootstrap-system-priority-classes", "bootstrapped"],
    ["priority-and-fairness-config-producer", "bootstrapped"],
    ["start-cluster-authentication-info-controller", "bootstrapped"],
    [`start-${apiServer}-identity-lease-controller`, "synced"],
    [`start-${apiServer}-identity-lease-garbage-collector`, "synced"],
    ["start-legacy-token-tracking-controller", "synced"],
    [`start-${aggregator}-informers`, "synced"],
    ["apiservice-registration-controller", { controller: "apiservice-registration" }],
    ["apiservice-status-available-controller", { controller: "apiservice-availability" }],
    [`${apiServer}-autoregistration`, { controller: "apiservice-registration" }],
    ["apiservice-openapi-controller", "synced"],
    ["apiservice-openapiv3-controller", "synced"],
  ];
}

/** The check of a start hook. */
export interface StartHookCheck extends HealthCheck {
  readonly awaits: Awaited;
}

const problems: Readonly<Record<StartStep, string>> = {
  bootstrapped: "the default objects are still being written",
  synced: "the indexes are still being loaded",
};

/**
 * Returns a check for each start hook of the reference, and `autoregister-completion`. A check fails until its step
 * or controller has started, and never again afterwards, because a restart wouldn't help.
 *
 * @param done returns whether a step of the start is finished.
 * @param controllers the checks of the controllers, which decide about hooks that start one.
 */
export function startHookChecks(
  vocabulary: Vocabulary,
  done: (step: StartStep) => boolean,
  controllers: readonly HealthCheck[],
): readonly StartHookCheck[] {
  const ofStep = (step: StartStep) => () => (done(step) ? undefined : problems[step]);
  const checkOf = (awaited: Awaited): HealthCheck["check"] => {
    if (typeof awaited === "string") return ofStep(awaited);
    const controllerCheck = controllers.find(({ name }) => name === controllerCheckName(awaited.controller));
    return controllerCheck?.check ?? ofStep("synced");
  };
  const named = hooks(vocabulary).map(([hook, awaited]) => [`poststarthook/${hook}`, awaited] as const);
  const all = [...named, ["autoregister-completion", { controller: "apiservice-registration" }] as const];
  return all.map(([name, awaits]) => ({ name, awaits, check: untilPassed(checkOf(awaits)) }));
}

/** Returns a check that keeps passing after it has passed once. */
function untilPassed(check: HealthCheck["check"]): HealthCheck["check"] {
  let passed = false;
  return async () => {
    if (passed) return undefined;
    const problem = await check();
    passed = problem === undefined;
    return problem;
  };
}

/** Returns the name of a controller's check. */
export function controllerCheckName(controller: string): string {
  return `poststarthook/controllers/${controller}`;
}
