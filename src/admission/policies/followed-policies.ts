import { andThen, detach, type MaybePromise } from "../../base/maybe-promise.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { SkippedRequest } from "../admission-chain.ts";
import type { FollowedObjects } from "../followed-objects.ts";
import { PolicySet, type Candidate } from "./policy-set.ts";
import type { Binding, PolicyBase } from "./policy.ts";

const noBindings: readonly Binding[] = [];

/** Finds the policies that match a request by rules. A change of a policy or binding is effective for the next request. */
export class FollowedPolicies<P extends PolicyBase> {
  private cached:
    | { readonly policies: readonly P[]; readonly bindings: readonly Binding[]; readonly set: PolicySet<P> }
    | undefined;

  constructor(
    private readonly policies: FollowedObjects<P>,
    private readonly bindings: FollowedObjects<Binding>,
    private readonly registry: Registry,
  ) {}

  /** Whether no policy matches; false if policies must be read first. */
  matchesNone(request: SkippedRequest): boolean {
    const candidates = this.matching(request);
    // The next call of `matching` waits for the same read and reports its failure.
    detach(candidates, () => undefined);
    return !(candidates instanceof Promise) && candidates.length === 0;
  }

  /** @throws {StoreUnavailableError} the policies can't be read. */
  matching(request: SkippedRequest): MaybePromise<readonly Candidate<P>[]> {
    return andThen(this.policies.in(""), (policies) => {
      if (policies.length === 0) return [];
      return andThen(this.bindings.in(""), (bindings) => this.setOf(policies, bindings).matching(request));
    });
  }

  private setOf(policies: readonly P[], currentBindings: readonly Binding[]): PolicySet<P> {
    const bindings = currentBindings.length === 0 ? noBindings : currentBindings;
    if (this.cached?.policies !== policies || this.cached.bindings !== bindings) {
      this.cached = { policies, bindings, set: new PolicySet(policies, bindings, this.registry) };
    }
    return this.cached.set;
  }
}
