import { compileLabelSelector } from "../../base/selectors/label-selector.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import type { Rule } from "../rbac/policy.ts";
import type { RoleRecord } from "../rbac/role-record.ts";
import { rulesPerStep } from "../rbac/rule-finder.ts";

/** Maximum number of source roles in the response for one rule. */
const maxSources = 5;

/** Finds the cluster roles from which aggregated roles take their rules. Use one instance per response: it caches. */
export class RuleOrigins {
  private readonly sources = new Map<RoleRecord, readonly RoleRecord[]>();

  constructor(
    private readonly clusterRoles: () => Iterable<RoleRecord>,
    private readonly yieldIfDue: YieldIfDue,
  ) {}

  /** Returns the sorted names of the roles that contain the rule; empty if the role isn't aggregated or no source has the rule any more. */
  async namesFor(role: RoleRecord, rule: Rule): Promise<readonly string[]> {
    const names = new Set<string>();
    const seen = new Set([role]);
    const queue = [...(await this.sourcesOf(role))];
    for (let source = queue.shift(); source !== undefined; source = queue.shift()) {
      if (seen.has(source)) continue;
      seen.add(source);
      if (!(source.rules ?? []).some((own) => sameRule(own, rule))) continue;
      if (source.aggregationSelectors === undefined) names.add(source.name);
      else queue.push(...(await this.sourcesOf(source)));
    }
    return [...names].toSorted().slice(0, maxSources);
  }

  private async sourcesOf(role: RoleRecord): Promise<readonly RoleRecord[]> {
    const cached = this.sources.get(role);
    if (cached !== undefined || role.aggregationSelectors === undefined) return cached ?? [];
    const selectors = role.aggregationSelectors.map(compileLabelSelector);
    const matching: RoleRecord[] = [];
    let steps = 0;
    for (const other of this.clusterRoles()) {
      if (other !== role && selectors.some((matches) => matches(other.labels))) matching.push(other);
      if (++steps % rulesPerStep === 0) await this.yieldIfDue();
    }
    this.sources.set(role, matching);
    return matching;
  }
}

function sameRule(one: Rule, other: Rule): boolean {
  return (
    sameList(one.verbs, other.verbs) &&
    sameList(one.apiGroups, other.apiGroups) &&
    sameList(one.resources, other.resources) &&
    sameList(one.resourceNames, other.resourceNames) &&
    sameList(one.nonResourceURLs, other.nonResourceURLs)
  );
}

function sameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((entry, index) => entry === other[index]);
}
