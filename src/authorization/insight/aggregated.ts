import { compileLabelSelector } from "../../base/label-selector.ts";
import type { YieldIfDue } from "../../base/yielding.ts";
import type { Rule } from "../rbac/policy.ts";
import type { RoleRecord } from "../rbac/role-record.ts";
import { rulesAStep } from "../rbac/rule-finder.ts";

/** So many roles are named in which one rule is written. */
const maxNamed = 5;

/** Finds in which cluster roles the rules of aggregated ones are written; for one answer. */
export class RuleOrigins {
  private readonly sources = new Map<RoleRecord, readonly RoleRecord[]>();

  constructor(
    private readonly clusterRoles: () => Iterable<RoleRecord>,
    private readonly yieldIfDue: YieldIfDue,
  ) {}

  /** Names of the roles in which the rule is written, sorted; empty where it is the role's own, or nobody's any more. */
  async of(role: RoleRecord, rule: Rule): Promise<readonly string[]> {
    const names = new Set<string>();
    const seen = new Set([role]);
    const waiting = [...(await this.sourcesOf(role))];
    for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
      if (seen.has(source)) continue;
      seen.add(source);
      if (!(source.rules ?? []).some((own) => sameRule(own, rule))) continue;
      if (source.aggregationSelectors === undefined) names.add(source.name);
      else waiting.push(...(await this.sourcesOf(source)));
    }
    return [...names].toSorted().slice(0, maxNamed);
  }

  private async sourcesOf(role: RoleRecord): Promise<readonly RoleRecord[]> {
    const known = this.sources.get(role);
    if (known !== undefined || role.aggregationSelectors === undefined) return known ?? [];
    const selectors = role.aggregationSelectors.map(compileLabelSelector);
    const found: RoleRecord[] = [];
    let steps = 0;
    for (const other of this.clusterRoles()) {
      if (other !== role && selectors.some((matches) => matches(other.labels))) found.push(other);
      if (++steps % rulesAStep === 0) await this.yieldIfDue();
    }
    this.sources.set(role, found);
    return found;
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
