import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { selects } from "../matching/selectors.ts";
import { PolicyFailure } from "./failure.ts";
import type { PolicyInputs } from "./policy-inputs.ts";
import type { Candidate } from "./policy-set.ts";
import type { Binding, Constraints, PolicyBase } from "./policy.ts";

/** A policy with one of its bindings and one object with parameters, to be evaluated for a request. */
export interface Invocation<P extends PolicyBase> {
  readonly policy: P;
  readonly binding: Binding;
  /** The version of the resource type in which the policy matches. */
  readonly resource: Resource;
  readonly params: ApiObject | undefined;
}

/** Receives why a policy can't be evaluated for a request; the binding is undefined if the policy itself is the reason. */
export type ReportFailure<P extends PolicyBase> = (
  source: { readonly policy: P; readonly binding: Binding | undefined },
  message: string,
) => void;

/** Calls `evaluate` for each binding of a policy that selects the request, with each object with parameters, in turns with other requests. */
export async function forEachInvocation<P extends PolicyBase>(
  inputs: PolicyInputs,
  { policy, bindings, resource }: Candidate<P>,
  reportFailure: ReportFailure<P>,
  evaluate: (invocation: Invocation<P>) => MaybePromise<void>,
): Promise<void> {
  const { request, params, namespaces } = inputs;
  const attempt = async <T>(
    binding: Binding | undefined,
    step: () => MaybePromise<T>,
  ): Promise<T | undefined> => {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof PolicyFailure || error instanceof StatusError)) throw error;
      reportFailure({ policy, binding }, error.message);
      return undefined;
    }
  };
  const isSelected = ({ selectors }: Constraints, binding?: Binding) =>
    attempt(binding, () => selects(selectors, request, namespaces));

  if ((await isSelected(policy.constraints)) !== true) return;
  if ((await attempt(undefined, () => (params.assertKind(policy), true))) !== true) return;
  for (const binding of bindings) {
    await inputs.yieldIfDue();
    const { constraints } = binding;
    if (constraints !== undefined && (await isSelected(constraints, binding)) !== true) continue;
    const objects = await attempt(binding, () => params.get(policy, binding, request.target.namespace));
    for (const object of objects ?? []) {
      await inputs.yieldIfDue();
      await evaluate({ policy, binding, resource, params: object });
    }
  }
}
