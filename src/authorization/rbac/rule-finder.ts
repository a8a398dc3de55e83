import type { YieldIfDue } from "../../base/turns/yielding.ts";
import { itemsOf, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";
import type { Rule } from "./policy.ts";
import type { RoleRecord } from "./role-record.ts";
import { ruleAllows, type RuleQuery } from "./rule-match.ts";

/** A rule with its role. */
export interface RoleRule {
  readonly role: RoleRecord;
  readonly rule: Rule;
  /** Index in the rules of the role. */
  readonly index: number;
}

/** Rules with more resources than this aren't indexed; every search compares them. */
const maxIndexedResources = 32;

/** Number of rules that are processed between two calls of `yieldIfDue`. */
export const rulesPerStep = 256;

/**
 * Finds the rules of all roles that allow a request, by resource. The index is built at the first search and then updated. A search
 * takes time proportional to the rules for the resource; memory is proportional to all rules.
 */
export class RuleFinder {
  private enabled = false;
  private readonly byResource = new Map<string, OneOrMany<RoleRule>>();
  /** Rules with URLs or with many resources; every search compares them. */
  private readonly unindexed = new Set<RoleRule>();
  private readonly rulesByRole = new Map<RoleRecord, RoleRule[]>();
  private readonly pendingRoles = new Set<RoleRecord>();
  private filling: Promise<void> | undefined;

  /** @param roles returns all current roles. */
  constructor(private readonly roles: () => Iterable<RoleRecord>) {}

  /** Updates the index after the rules of a role changed or the role was deleted. */
  changed(role: RoleRecord): void {
    if (!this.enabled) return;
    this.removeRole(role);
    if (role.rules !== undefined) this.pendingRoles.add(role);
  }

  /**
   * Returns for each role the first rule that allows the request. Yields to the event loop.
   *
   * @param shouldContinue called for each matching role; if it returns false, the search ends and returns undefined.
   */
  async find(
    query: RuleQuery,
    yieldIfDue: YieldIfDue,
    shouldContinue: (role: RoleRecord) => boolean,
  ): Promise<ReadonlyMap<RoleRecord, RoleRule> | undefined> {
    await this.ready(yieldIfDue);
    const matches = new Map<RoleRecord, RoleRule>();
    let steps = 0;
    for (const candidates of this.candidates(query)) {
      for (const candidate of candidates) {
        if (ruleAllows(candidate.rule, query)) {
          const existing = matches.get(candidate.role);
          if (existing === undefined && !shouldContinue(candidate.role)) return undefined;
          if (existing === undefined || candidate.index < existing.index)
            matches.set(candidate.role, candidate);
        }
        if (++steps % rulesPerStep === 0) await yieldIfDue();
      }
    }
    // Roles may have changed while the search yielded.
    for (const [role, { rule, index: at }] of matches) if (role.rules?.[at] !== rule) matches.delete(role);
    return matches;
  }

  private candidates({
    isResourceRequest: aboutResource,
    resource,
    subresourceOfAll,
  }: RuleQuery): Iterable<RoleRule>[] {
    if (!aboutResource) return [this.unindexed];
    const entries = new Set([resource, subresourceOfAll, "*"]);
    return [this.unindexed, ...[...entries].map((entry) => itemsOf(this.byResource.get(entry)))];
  }

  /** Indexes pending roles. Concurrent searches wait for the same operation. */
  private async ready(yieldIfDue: YieldIfDue): Promise<void> {
    if (!this.enabled) {
      this.enabled = true;
      for (const role of this.roles()) if (role.rules !== undefined) this.pendingRoles.add(role);
    }
    while (this.pendingRoles.size > 0 || this.filling !== undefined) {
      this.filling ??= this.fill(yieldIfDue).finally(() => (this.filling = undefined));
      await this.filling;
    }
  }

  private async fill(yieldIfDue: YieldIfDue): Promise<void> {
    let steps = 0;
    for (const role of this.pendingRoles) {
      this.pendingRoles.delete(role);
      const roleRules: RoleRule[] = [];
      this.rulesByRole.set(role, roleRules);
      for (const [at, rule] of (role.rules ?? []).entries()) {
        this.addRule({ role, rule, index: at }, roleRules);
        if (++steps % rulesPerStep === 0) await yieldIfDue();
        // The role changed while this yielded: it is pending again or was deleted.
        if (this.rulesByRole.get(role) !== roleRules) break;
      }
    }
  }

  private addRule(rule: RoleRule, roleRules: RoleRule[]): void {
    roleRules.push(rule);
    const { resources, nonResourceURLs } = rule.rule;
    if (nonResourceURLs.length > 0 || resources.length > maxIndexedResources) this.unindexed.add(rule);
    else {
      for (const entry of resources) this.byResource.set(entry, withItem(this.byResource.get(entry), rule));
    }
  }

  private removeRole(role: RoleRecord): void {
    this.pendingRoles.delete(role);
    for (const rule of this.rulesByRole.get(role) ?? []) {
      if (this.unindexed.delete(rule)) continue;
      for (const entry of rule.rule.resources) this.removeFromResource(entry, rule);
    }
    this.rulesByRole.delete(role);
  }

  private removeFromResource(entry: string, rule: RoleRule): void {
    const previous = this.byResource.get(entry);
    if (previous === undefined) return;
    const remaining = withoutItem(previous, rule);
    if (remaining === undefined) this.byResource.delete(entry);
    else this.byResource.set(entry, remaining);
  }
}
