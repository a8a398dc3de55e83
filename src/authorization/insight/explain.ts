import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Attributes } from "../authorizer.ts";
import { subjectFor, type Scope } from "../rbac/scope.ts";
import type { BindingRecord, RoleRecord } from "../rbac/role-record.ts";
import type { SubjectKey } from "../rbac/bound-subject.ts";
import { itemsOf } from "../rbac/one-or-many.ts";
import type { RbacIndex } from "../rbac/rbac-index.ts";
import { rulesPerStep } from "../rbac/rule-finder.ts";
import { ruleQuery, type RuleQuery } from "../rbac/rule-match.ts";
import { RuleOrigins } from "./aggregated.ts";
import type { BindingFault, Explanation, Grant, NearMiss } from "./insight.ts";
import { distanceOf, missingNamespace, missingParts, namespaceDistance } from "./near-miss.ts";
import { shownBinding, shownRole, shownRule, shownSubject } from "./shown.ts";

/** Limits of one response. */
const maxGrants = 16;
const maxNearMisses = 10;
const maxFaults = 16;
/** Maximum number of other namespaces in which the bindings of one user or group are searched for near misses. */
const maxNamespaces = 1000;

/** Explains the decision of RBAC for a request. */
export function explainRbac(
  index: RbacIndex,
  vocabulary: Vocabulary,
  attributes: Attributes,
  yieldIfDue: YieldIfDue,
): Promise<Explanation> {
  return new GrantSearch(index, vocabulary, attributes, yieldIfDue).explain();
}

/** The rule of a role that is closest to the request, and its distance (see {@link distanceOf}). */
interface ClosestRule {
  readonly distance: number;
  /** Index in the rules of the role. */
  readonly at: number;
}

/** A grant that allows the request or is a near miss. */
interface GrantMatch {
  readonly subject: SubjectKey;
  readonly role: RoleRecord;
  readonly binding: BindingRecord;
  readonly at: number;
}

/** Searches the grants of a user and their groups for one response. */
class GrantSearch {
  private readonly query: RuleQuery;
  private readonly namespace: string;
  private readonly grants: GrantMatch[] = [];
  private moreGrants = false;
  private readonly nearMisses = new Nearest<GrantMatch>(maxNearMisses);
  private readonly faults = new Map<BindingRecord, BindingFault>();
  private faultsLeftOut = 0;
  private namespacesLeftOut = 0;
  private readonly closestRules = new Map<RoleRecord, ClosestRule>();
  private readonly origins: RuleOrigins;
  private steps = 0;

  constructor(
    private readonly index: RbacIndex,
    private readonly vocabulary: Vocabulary,
    private readonly attributes: Attributes,
    private readonly yieldIfDue: YieldIfDue,
  ) {
    this.query = ruleQuery(attributes);
    this.namespace = attributes.kind === "resource" ? attributes.namespace : "";
    this.origins = new RuleOrigins(() => index.allClusterRoles(), yieldIfDue);
  }

  async explain(): Promise<Explanation> {
    const subjects = this.index.scopesOf(this.attributes.user);
    for (const scopes of subjects) {
      await this.visitScope(scopes, scopes.get(""), 0);
      if (this.namespace !== "") await this.visitScope(scopes, scopes.get(this.namespace), 0);
    }
    const allowed = this.grants.length > 0;
    if (!allowed) {
      for (const scopes of subjects) {
        let visited = 0;
        for (const [namespace, scope] of scopes.entries()) {
          if (namespace === "" || namespace === this.namespace) continue;
          if (visited++ < maxNamespaces) await this.visitScope(scopes, scope, namespaceDistance);
          else this.namespacesLeftOut++;
        }
      }
    }
    return {
      grants: await this.shownGrants(this.grants, 0),
      moreGrants: this.moreGrants,
      nearMisses: allowed ? [] : await this.shownNearMisses(),
      nearMissesLeftOut: allowed ? 0 : this.nearMisses.leftOut,
      faults: [...this.faults.values()],
      faultsLeftOut: this.faultsLeftOut,
      namespacesLeftOut: this.namespacesLeftOut,
    };
  }

  /** @param scopeDistance 0 if the scope applies to the request, else {@link namespaceDistance}. */
  private async visitScope(
    subject: SubjectKey,
    scope: Scope | undefined,
    scopeDistance: number,
  ): Promise<void> {
    if (scope === undefined) return;
    if (scopeDistance === 0)
      for (const binding of scope.faultyBindings) this.addFault(binding, "Invalid", binding.fault);
    for (const { role, bindings } of scope.grants()) {
      const { distance, at } = await this.closestRule(role);
      for (const binding of itemsOf(bindings)) {
        if (role.rules === undefined) {
          if (scopeDistance === 0) this.addFault(binding, "RoleNotFound", this.index.notFoundMessage(role));
        } else if (distance + scopeDistance === 0) this.addGrant({ subject, role, binding, at });
        else if (distance !== Infinity)
          this.nearMisses.add(distance + scopeDistance, { subject, role, binding, at });
        const turn = this.step();
        if (turn !== undefined) await turn;
      }
    }
  }

  private async closestRule(role: RoleRecord): Promise<ClosestRule> {
    const cached = this.closestRules.get(role);
    if (cached !== undefined) return cached;
    let closest: ClosestRule = { distance: Infinity, at: 0 };
    for (const [at, rule] of (role.rules ?? []).entries()) {
      const distance = distanceOf(rule, this.query);
      if (distance < closest.distance) closest = { distance, at };
      if (distance === 0) break;
      const turn = this.step();
      if (turn !== undefined) await turn;
    }
    this.closestRules.set(role, closest);
    return closest;
  }

  private addGrant(match: GrantMatch): void {
    if (this.grants.length < maxGrants) this.grants.push(match);
    else this.moreGrants = true;
  }

  private addFault(binding: BindingRecord, fault: BindingFault["fault"], message: string): void {
    if (this.faults.has(binding)) return;
    if (this.faults.size >= maxFaults) {
      this.faultsLeftOut++;
      return;
    }
    const role = binding.role === undefined ? {} : { role: shownRole(binding.role) };
    this.faults.set(binding, { binding: shownBinding(binding), ...role, fault, message });
  }

  /** @param maxDistance matches with a larger distance are omitted: their role changed during the search. */
  private async shownGrants(matches: readonly GrantMatch[], maxDistance: number): Promise<Grant[]> {
    const shown: Grant[] = [];
    for (const { subject, role, binding, at } of matches) {
      const rule = role.rules?.[at];
      if (rule === undefined || distanceOf(rule, this.query) > maxDistance) continue;
      const aggregatedFrom = await this.origins.namesFor(role, rule);
      shown.push({
        binding: shownBinding(binding),
        role: shownRole(role),
        subject: shownSubject(subjectFor(binding, subject, this.vocabulary.systemPrefix)),
        rule: shownRule(rule, this.query),
        ruleIndex: at,
        ...(aggregatedFrom.length > 0 ? { aggregatedFrom } : {}),
      });
    }
    return shown;
  }

  private async shownNearMisses(): Promise<NearMiss[]> {
    const shown: NearMiss[] = [];
    for (const match of this.nearMisses.items) {
      const [grant] = await this.shownGrants([match], Number.MAX_VALUE);
      const rule = match.role.rules?.[match.at];
      if (rule === undefined || grant === undefined) continue;
      const missing = missingParts(rule, this.query);
      const { namespace } = match.binding;
      if (namespace !== "" && namespace !== this.namespace) {
        missing.push(missingNamespace(this.namespace, namespace, this.query));
      }
      if (missing.length > 0) shown.push({ ...grant, missing });
    }
    return shown;
  }

  private step(): MaybePromise<void> {
    return ++this.steps % rulesPerStep === 0 ? this.yieldIfDue() : undefined;
  }
}

/** Keeps the items with the smallest distances and counts the others. */
class Nearest<T> {
  private readonly entries: { readonly distance: number; readonly item: T }[] = [];
  private added = 0;

  /** @param max maximum number of items to keep. */
  constructor(private readonly max: number) {}

  /** Adds an item. Of items with equal distance the earlier one is kept. */
  add(distance: number, item: T): void {
    this.added++;
    const last = this.entries.at(-1);
    if (this.entries.length === this.max && last!.distance <= distance) return;
    const index = this.entries.findIndex((one) => one.distance > distance);
    this.entries.splice(index === -1 ? this.entries.length : index, 0, { distance, item });
    if (this.entries.length > this.max) this.entries.pop();
  }

  /** In order of distance. */
  get items(): readonly T[] {
    return this.entries.map(({ item }) => item);
  }

  /** Number of added items that were not kept. */
  get leftOut(): number {
    return this.added - this.entries.length;
  }
}
