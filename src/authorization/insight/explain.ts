import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { YieldIfDue } from "../../base/yielding.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { Attributes } from "../authorizer.ts";
import { subjectFor } from "../rbac/grant-text.ts";
import type { BindingRecord } from "../rbac/role-record.ts";
import type { SubjectKey } from "../rbac/bound-subject.ts";
import { itemsOf } from "../rbac/one-or-many.ts";
import type { RbacIndex } from "../rbac/rbac-index.ts";
import type { RoleRecord } from "../rbac/role-record.ts";
import { rulesAStep } from "../rbac/rule-finder.ts";
import { ruleQuery, type RuleQuery } from "../rbac/rule-match.ts";
import type { Scope } from "../rbac/scope.ts";
import { RuleOrigins } from "./aggregated.ts";
import type { BindingFault, Explanation, Grant, NearMiss } from "./insight.ts";
import { distanceOf, missingNamespace, missingParts, namespaceDistance } from "./near-miss.ts";
import { Nearest } from "./nearest.ts";
import { shownBinding, shownRole, shownRule, shownSubject } from "./shown.ts";

/** How much one answer shows. */
const maxGrants = 16;
const maxNearMisses = 10;
const maxFaults = 16;
/** Namespaces beside the one asked about in which bindings of one user or group are looked at. */
const maxNamespaces = 1000;

/** Why role-based authorization decides a question as it does. */
export function explainRbac(
  index: RbacIndex,
  vocabulary: Vocabulary,
  attributes: Attributes,
  yieldIfDue: YieldIfDue,
): Promise<Explanation> {
  return new Walk(index, vocabulary, attributes, yieldIfDue).explain();
}

/** The rule of a role that comes nearest, and how near. */
interface Nearness {
  readonly distance: number;
  /** Place among the role's rules. */
  readonly at: number;
}

/** A grant that allows what is asked, or nearly. */
interface Found {
  readonly subject: SubjectKey;
  readonly role: RoleRecord;
  readonly binding: BindingRecord;
  readonly at: number;
}

/** One walk over what a user and their groups are granted. */
class Walk {
  private readonly query: RuleQuery;
  private readonly namespace: string;
  private readonly grants: Found[] = [];
  private moreGrants = false;
  private readonly near = new Nearest<Found>(maxNearMisses);
  private readonly faults = new Map<BindingRecord, BindingFault>();
  private faultsLeftOut = 0;
  private namespacesLeftOut = 0;
  private readonly nearnesses = new Map<RoleRecord, Nearness>();
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
    this.origins = new RuleOrigins(() => index.everyClusterRole(), yieldIfDue);
  }

  async explain(): Promise<Explanation> {
    const subjects = this.index.scopesOf(this.attributes.user);
    for (const scopes of subjects) {
      await this.look(scopes, scopes.get(""), 0);
      if (this.namespace !== "") await this.look(scopes, scopes.get(this.namespace), 0);
    }
    const allowed = this.grants.length > 0;
    if (!allowed) {
      for (const scopes of subjects) {
        let looked = 0;
        for (const [namespace, scope] of scopes.everywhere()) {
          if (namespace === "" || namespace === this.namespace) continue;
          if (looked++ < maxNamespaces) await this.look(scopes, scope, namespaceDistance);
          else this.namespacesLeftOut++;
        }
      }
    }
    return {
      grants: await this.shownGrants(this.grants, 0),
      moreGrants: this.moreGrants,
      nearMisses: allowed ? [] : await this.shownNearMisses(),
      nearMissesLeftOut: allowed ? 0 : this.near.leftOut,
      faults: [...this.faults.values()],
      faultsLeftOut: this.faultsLeftOut,
      namespacesLeftOut: this.namespacesLeftOut,
    };
  }

  /** @param away what keeps the scope's place from the one asked about. */
  private async look(subject: SubjectKey, scope: Scope | undefined, away: number): Promise<void> {
    if (scope === undefined) return;
    if (away === 0)
      for (const binding of scope.faultyBindings) this.addFault(binding, "Invalid", binding.fault);
    for (const { role, bindings } of scope.grants()) {
      const { distance, at } = await this.nearnessOf(role);
      for (const binding of itemsOf(bindings)) {
        if (role.rules === undefined) {
          if (away === 0) this.addFault(binding, "RoleNotFound", this.index.missingText(role));
        } else if (distance + away === 0) this.addGrant({ subject, role, binding, at });
        else if (distance !== Infinity) this.near.add(distance + away, { subject, role, binding, at });
        const turn = this.step();
        if (turn !== undefined) await turn;
      }
    }
  }

  private async nearnessOf(role: RoleRecord): Promise<Nearness> {
    const known = this.nearnesses.get(role);
    if (known !== undefined) return known;
    let nearest: Nearness = { distance: Infinity, at: 0 };
    for (const [at, rule] of (role.rules ?? []).entries()) {
      const distance = distanceOf(rule, this.query);
      if (distance < nearest.distance) nearest = { distance, at };
      if (distance === 0) break;
      const turn = this.step();
      if (turn !== undefined) await turn;
    }
    this.nearnesses.set(role, nearest);
    return nearest;
  }

  private addGrant(found: Found): void {
    if (this.grants.length < maxGrants) this.grants.push(found);
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

  /** @param farthest what comes no nearer was changed between two turns, and isn't shown. */
  private async shownGrants(all: readonly Found[], farthest: number): Promise<Grant[]> {
    const shown: Grant[] = [];
    for (const { subject, role, binding, at } of all) {
      const rule = role.rules?.[at];
      if (rule === undefined || distanceOf(rule, this.query) > farthest) continue;
      const aggregatedFrom = await this.origins.of(role, rule);
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
    for (const found of this.near.items) {
      const [grant] = await this.shownGrants([found], Number.MAX_VALUE);
      const rule = found.role.rules?.[found.at];
      if (rule === undefined || grant === undefined) continue;
      const missing = missingParts(rule, this.query);
      const { namespace } = found.binding;
      if (namespace !== "" && namespace !== this.namespace) {
        missing.push(missingNamespace(this.namespace, namespace, this.query));
      }
      if (missing.length > 0) shown.push({ ...grant, missing });
    }
    return shown;
  }

  private step(): MaybePromise<void> {
    return ++this.steps % rulesAStep === 0 ? this.yieldIfDue() : undefined;
  }
}
