import type { Registry, Resource } from "../../resources/registry/registry.ts";
import type { SkippedRequest } from "../admission-chain.ts";
import type { MatchSubject } from "../matching/rules.ts";
import { matchConstraints, type Binding, type Policy } from "./policy.ts";

/** A policy that a request matches by its rules, and its bindings that it matches too. */
export interface Candidate {
  readonly policy: Policy;
  /** The version of the resource type in which the policy matches. */
  readonly resource: Resource;
  readonly bindings: readonly Binding[];
}

/** What rules say for one operation on one resource type or subresource. */
interface Plan {
  /** Those that match whatever the object's name is. */
  readonly candidates: readonly Candidate[];
  /** Whether rules that name objects are to be asked too. */
  readonly named: boolean;
}

/**
 * All policies with their bindings. What rules say is worked out once for each operation on a resource type, so that policies
 * which don't match cost a request nothing.
 */
export class PolicySet {
  private readonly all: readonly { readonly policy: Policy; readonly bindings: readonly Binding[] }[];
  private readonly plans = new Map<Resource, Map<string, Plan>>();

  constructor(
    policies: readonly Policy[],
    bindings: readonly Binding[],
    private readonly registry: Registry,
  ) {
    const byPolicy = new Map<string, Binding[]>();
    for (const binding of bindings.toSorted(byName)) {
      const others = byPolicy.get(binding.policyName);
      if (others === undefined) byPolicy.set(binding.policyName, [binding]);
      else others.push(binding);
    }
    this.all = policies
      .toSorted(byName)
      .map((policy) => ({ policy, bindings: byPolicy.get(policy.name) ?? [] }));
  }

  /** The policies that a request matches by rules, by their names; selectors are still to be asked. */
  matching({ operation, requestResource: resource, target }: SkippedRequest): readonly Candidate[] {
    const subject = { operation, resource, subresource: target.subresource, name: target.name };
    const { candidates, named } = this.planOf(subject);
    return named ? this.find(subject) : candidates;
  }

  private planOf(subject: MatchSubject): Plan {
    const { operation, resource, subresource } = subject;
    let plans = this.plans.get(resource);
    if (plans === undefined) this.plans.set(resource, (plans = new Map()));
    const key = subresource === "" ? operation : `${operation} ${subresource}`;
    let plan = plans.get(key);
    if (plan === undefined) {
      const named = this.all.some(
        ({ policy, bindings }) =>
          policy.constraints.named || bindings.some(({ constraints }) => constraints?.named === true),
      );
      plan = { candidates: named ? [] : this.find(subject), named };
      plans.set(key, plan);
    }
    return plan;
  }

  private find(subject: MatchSubject): Candidate[] {
    const found: Candidate[] = [];
    for (const { policy, bindings } of this.all) {
      const resource = matchConstraints(policy.constraints, subject, this.registry);
      if (resource === undefined) continue;
      const matching = bindings.filter(
        ({ constraints }) =>
          constraints === undefined || matchConstraints(constraints, subject, this.registry) !== undefined,
      );
      found.push({ policy, resource, bindings: matching });
    }
    return found;
  }
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
