import type { YieldIfDue } from "../../base/yielding.ts";
import { itemsOf, withItem, withoutItem, type OneOrMany } from "./one-or-many.ts";
import type { Rule } from "./policy.ts";
import type { RoleRecord } from "./role-record.ts";
import { ruleAllows, type RuleQuery } from "./rule-match.ts";

/** A rule and its role. */
export interface PlacedRule {
  readonly role: RoleRecord;
  readonly rule: Rule;
  /** Its place among the role's rules. */
  readonly at: number;
}

/** Rules that name more resources than this are compared with every question instead of being found by resource. */
const maxIndexedResources = 32;

/** Rules that are looked at between two looks at the clock. */
export const rulesAStep = 256;

/**
 * Finds the rules of all roles that answer a question with yes, by the resource that they name. It costs nothing until
 * the first question; from then on a changed role costs what it says, and a question the rules that name its resource.
 * Its memory is in proportion to the rules.
 */
export class RuleFinder {
  private awake = false;
  private readonly byResource = new Map<string, OneOrMany<PlacedRule>>();
  /** Rules about URLs, and rules that name very many resources. */
  private readonly compared = new Set<PlacedRule>();
  private readonly placed = new Map<RoleRecord, PlacedRule[]>();
  private readonly waiting = new Set<RoleRecord>();
  private filling: Promise<void> | undefined;

  /** @param roles every role that there is now. */
  constructor(private readonly roles: () => Iterable<RoleRecord>) {}

  /** Updates the finder after the rules of a role changed, or the role was deleted. */
  changed(role: RoleRecord): void {
    if (!this.awake) return;
    this.forget(role);
    if (role.rules !== undefined) this.waiting.add(role);
  }

  /**
   * The first rule of each role that answers the question with yes; long work is done in turns.
   *
   * @param goesOn asked for each role that is found; where it says no, the search ends without a result.
   */
  async find(
    query: RuleQuery,
    yieldIfDue: YieldIfDue,
    goesOn: (role: RoleRecord) => boolean,
  ): Promise<ReadonlyMap<RoleRecord, PlacedRule> | undefined> {
    await this.ready(yieldIfDue);
    const found = new Map<RoleRecord, PlacedRule>();
    let steps = 0;
    for (const candidates of this.candidates(query)) {
      for (const one of candidates) {
        if (ruleAllows(one.rule, query)) {
          const known = found.get(one.role);
          if (known === undefined && !goesOn(one.role)) return undefined;
          if (known === undefined || one.at < known.at) found.set(one.role, one);
        }
        if (++steps % rulesAStep === 0) await yieldIfDue();
      }
    }
    // Roles may have changed between turns.
    for (const [role, { rule, at }] of found) if (role.rules?.[at] !== rule) found.delete(role);
    return found;
  }

  private candidates({ aboutResource, resource, subresourceOfAll }: RuleQuery): Iterable<PlacedRule>[] {
    if (!aboutResource) return [this.compared];
    const entries = new Set([resource, subresourceOfAll, "*"]);
    return [this.compared, ...[...entries].map((entry) => itemsOf(this.byResource.get(entry)))];
  }

  /** Takes in what waits. Questions that come meanwhile wait for the same work. */
  private async ready(yieldIfDue: YieldIfDue): Promise<void> {
    if (!this.awake) {
      this.awake = true;
      for (const role of this.roles()) if (role.rules !== undefined) this.waiting.add(role);
    }
    while (this.waiting.size > 0 || this.filling !== undefined) {
      this.filling ??= this.fill(yieldIfDue).finally(() => (this.filling = undefined));
      await this.filling;
    }
  }

  private async fill(yieldIfDue: YieldIfDue): Promise<void> {
    let steps = 0;
    for (const role of this.waiting) {
      this.waiting.delete(role);
      const own: PlacedRule[] = [];
      this.placed.set(role, own);
      for (const [at, rule] of (role.rules ?? []).entries()) {
        this.place({ role, rule, at }, own);
        if (++steps % rulesAStep === 0) await yieldIfDue();
        // Changed meanwhile: then it waits again, or is gone.
        if (this.placed.get(role) !== own) break;
      }
    }
  }

  private place(rule: PlacedRule, own: PlacedRule[]): void {
    own.push(rule);
    const { resources, nonResourceURLs } = rule.rule;
    if (nonResourceURLs.length > 0 || resources.length > maxIndexedResources) this.compared.add(rule);
    else {
      for (const entry of resources) this.byResource.set(entry, withItem(this.byResource.get(entry), rule));
    }
  }

  private forget(role: RoleRecord): void {
    this.waiting.delete(role);
    for (const rule of this.placed.get(role) ?? []) {
      if (this.compared.delete(rule)) continue;
      for (const entry of rule.rule.resources) this.unplace(entry, rule);
    }
    this.placed.delete(role);
  }

  private unplace(entry: string, rule: PlacedRule): void {
    const before = this.byResource.get(entry);
    if (before === undefined) return;
    const left = withoutItem(before, rule);
    if (left === undefined) this.byResource.delete(entry);
    else this.byResource.set(entry, left);
  }
}
