import type { Registry, Resource } from "../../resources/registry/registry.ts";
import type { SkippedRequest } from "../admission-chain.ts";
import type { MatchSubject } from "../matching/rules.ts";
import { matchConstraints, type Binding, type PolicyBase } from "./policy.ts";

/** A policy and the bindings that match a request by their rules. */
export interface Candidate<P extends PolicyBase> {
  readonly policy: P;
  /** The version of the resource type in which the policy matches. */
  readonly resource: Resource;
  readonly bindings: readonly Binding[];
}

/** The matches for one operation on one resource type or subresource. */
interface Plan<P extends PolicyBase> {
  /** The matches; empty if they depend on the name of the object. */
  readonly candidates: readonly Candidate<P>[];
  /** Whether the matches depend on the name of the object. */
  readonly named: boolean;
}

/** The policies with their bindings. Matches by rules are cached for each operation on a resource type. */
export class PolicySet<P extends PolicyBase> {
  private readonly all: readonly { readonly policy: P; readonly bindings: readonly Binding[] }[];
  private readonly plans = new Map<Resource, Map<string, Plan<P>>>();

  constructor(
    policies: readonly P[],
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

  /** Returns the policies that match a request by rules, sorted by name. The caller evaluates selectors. */
  matching({ operation, requestResource: resource, target }: SkippedRequest): readonly Candidate<P>[] {
    const subject = { operation, resource, subresource: target.subresource, name: target.name };
    const { candidates, named } = this.planOf(subject);
    return named ? this.find(subject) : candidates;
  }

  private planOf(subject: MatchSubject): Plan<P> {
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

  private find(subject: MatchSubject): Candidate<P>[] {
    const candidates: Candidate<P>[] = [];
    for (const { policy, bindings } of this.all) {
      const resource = matchConstraints(policy.constraints, subject, this.registry);
      if (resource === undefined) continue;
      const matching = bindings.filter(
        ({ constraints }) =>
          constraints === undefined || matchConstraints(constraints, subject, this.registry) !== undefined,
      );
      candidates.push({ policy, resource, bindings: matching });
    }
    return candidates;
  }
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}
