import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder, type YieldIfDue } from "../../base/turns/yielding.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Attributes } from "../authorizer.ts";
import { explainRbac } from "./explain.ts";
import type {
  AccessInsight,
  Action,
  AllowedSubjects,
  Explanation,
  NamesOf,
  Page,
  AllowedNames,
  AllowedSubject,
} from "./insight.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { StoredRbac } from "../rbac/stored-rbac.ts";
import type { Rule } from "../rbac/policy.ts";
import type { RbacIndex } from "../rbac/rbac-index.ts";
import { ruleQuery, verbAndResourceMatch, ruleAllows, type RuleQuery } from "../rbac/rule-match.ts";
import { rulesPerStep, type RoleRule } from "../rbac/rule-finder.ts";
import { keyOfSubject } from "../rbac/bound-subject.ts";
import type { BindingRecord, RoleRecord } from "../rbac/role-record.ts";
import { itemsOf, type OneOrMany } from "../rbac/one-or-many.ts";
import { compareSubjects, subjectName, type SubjectName } from "../rbac/subject-directory.ts";
import type { Scope } from "../rbac/scope.ts";
import { RuleOrigins } from "./aggregated.ts";
import { shownBinding, shownRole, shownRule, shownSubject } from "./shown.ts";

/** Explains decisions of RBAC from the stored roles and bindings. */
export class StoredInsight implements AccessInsight {
  constructor(
    private readonly policy: StoredRbac,
    private readonly vocabulary: Vocabulary,
  ) {}

  explain(attributes: Attributes): MaybePromise<Explanation> {
    const { policy, vocabulary } = this;
    return andThen(policy.sync(), () => explainRbac(policy.index, vocabulary, attributes, createYielder()));
  }

  whoCan(action: Action, page: Page): MaybePromise<AllowedSubjects> {
    const { policy, vocabulary } = this;
    return andThen(policy.sync(), () => whoCan(policy.index, vocabulary, action, page, createYielder()));
  }

  namesFor(user: UserInfo, namespace: string): MaybePromise<NamesOf> {
    const { policy } = this;
    return andThen(policy.sync(), () => allowedNames(policy.index, user, namespace, createYielder()));
  }
}

/** Maximum number of names in a response. */
const maxNames = 20;

/**
 * Collects the rules with resource names that apply to a user in a namespace (empty: in the whole cluster).
 *
 * @returns a function that lists the names for which these rules allow an action.
 */
export async function allowedNames(
  index: RbacIndex,
  user: UserInfo,
  namespace: string,
  yieldIfDue: YieldIfDue,
): Promise<NamesOf> {
  const rules = new Set<Rule>();
  let steps = 0;
  for (const scopes of index.scopesOf(user)) {
    for (const scope of namespace === "" ? [""] : ["", namespace]) {
      for (const role of scopes.get(scope)?.roles() ?? []) {
        for (const rule of role.rules ?? []) {
          if (rule.resourceNames.length > 0) rules.add(rule);
          if (++steps % rulesPerStep === 0) await yieldIfDue();
        }
      }
    }
  }
  return async (attributes) => {
    const query = ruleQuery(attributes);
    const names = new Set<string>();
    for (const rule of rules) {
      if (++steps % rulesPerStep === 0) await yieldIfDue();
      if (!verbAndResourceMatch(rule, query)) continue;
      for (const name of rule.resourceNames) {
        names.add(name);
        if (names.size > maxNames) return firstNames(names);
      }
    }
    return firstNames(names);
  };
}

function firstNames(names: ReadonlySet<string>): AllowedNames {
  const first = [...names].slice(0, maxNames).toSorted();
  return { names: first, more: names.size > maxNames };
}

/** Maximum number of grants in the response for one subject. */
const maxGrants = 2;

/** Maximum number of subjects that are collected and sorted; if there are more, all subjects are evaluated in order until a page is full. */
export const gatheredSubjects = 4096;

/** Number of subjects that are evaluated in one batch. */
const batchSize = 128;

const noUser = { name: "", uid: "", groups: [], extra: {} };

/**
 * Lists the subjects of bindings that RBAC allows an action. Each subject is evaluated alone, without groups. A User whose
 * name is that of a service account is listed as ServiceAccount.
 *
 * @param maxGathered see {@link gatheredSubjects}; tests set it. It affects the duration, not the result.
 */
export async function whoCan(
  index: RbacIndex,
  vocabulary: Vocabulary,
  action: Action,
  page: Page,
  yieldIfDue: YieldIfDue,
  maxGathered = gatheredSubjects,
): Promise<AllowedSubjects> {
  const query = ruleQuery({ ...action, user: noUser });
  const namespaces = action.kind === "resource" && action.namespace !== "" ? ["", action.namespace] : [""];
  const search = new Search(index, vocabulary, query, namespaces, page, yieldIfDue);
  const allowed = (await search.gather(maxGathered)) ?? (await search.scanAll());
  const formatter = new GrantFormatter(index, query, yieldIfDue);
  const subjects: AllowedSubject[] = [];
  for (const one of allowed.slice(0, page.limit)) subjects.push(await formatter.format(one));
  return { subjects, more: allowed.length > page.limit };
}

/** A binding, and the rule of its role that allows the action. */
interface RuleGrant {
  readonly placed: RoleRule;
  readonly binding: BindingRecord;
}

/** An allowed subject with its grants. */
interface SubjectMatch {
  readonly subject: SubjectName;
  readonly grants: RuleGrant[];
  more: boolean;
  /** The last binding that was processed. */
  lastBinding?: BindingRecord;
}

/** Finds the subjects of one page, and one more to detect whether another page follows. */
class Search {
  private readonly after: SubjectName | undefined;
  /** For {@link Search.scanAll}: of roles that were met, the rule that allows the action. */
  private readonly rules = new Map<RoleRecord, RoleRule | undefined>();

  constructor(
    private readonly index: RbacIndex,
    private readonly vocabulary: Vocabulary,
    private readonly query: RuleQuery,
    private readonly namespaces: readonly string[],
    private readonly page: Page,
    private readonly yieldIfDue: YieldIfDue,
  ) {
    const { after } = page;
    this.after = after === undefined ? undefined : { ...after, namespace: after.namespace ?? "" };
  }

  /** Returns the subjects of the bindings of all roles that allow the action; undefined if there are more than `maxGathered`. */
  async gather(maxGathered: number): Promise<readonly SubjectMatch[] | undefined> {
    const { systemPrefix } = this.vocabulary;
    let count = 0;
    const roles = await this.index.finder.find(this.query, this.yieldIfDue, (role) => {
      for (const { subjects } of this.bindingsOf(role)) {
        count += subjects.length;
        if (count > maxGathered) return false;
      }
      return true;
    });
    if (roles === undefined) return undefined;
    const matches = new Map<string, SubjectMatch>();
    for (const placed of roles.values()) {
      for (const binding of this.bindingsOf(placed.role)) {
        for (const subject of subjectsOf(binding, systemPrefix)) {
          if (this.after !== undefined && compareSubjects(this.after, subject) >= 0) continue;
          const key = `${subject.kind}/${subject.namespace}/${subject.name}`;
          let match = matches.get(key);
          if (match === undefined) matches.set(key, (match = withoutGrants(subject)));
          // A binding may name a subject twice.
          if (match.lastBinding !== binding) addGrants(match, placed, binding);
          match.lastBinding = binding;
        }
      }
    }
    await this.yieldIfDue();
    return [...matches.values()].toSorted((match, other) => compareSubjects(match.subject, other.subject));
  }

  /** Evaluates all subjects in order until the page is full. */
  async scanAll(): Promise<readonly SubjectMatch[]> {
    await this.index.directory.ready(this.yieldIfDue);
    const matches: SubjectMatch[] = [];
    let { after } = this;
    while (matches.length <= this.page.limit) {
      const next = this.index.directory.after(after, batchSize);
      for (const [subject, scopes] of next) {
        const match = withoutGrants(subject);
        for (const namespace of this.namespaces) this.addScope(match, scopes.get(namespace));
        if (match.grants.length > 0) matches.push(match);
        const turn = this.yieldIfDue();
        if (turn !== undefined) await turn;
      }
      if (next.length < batchSize) break;
      after = next.at(-1)![0];
    }
    return matches;
  }

  private addScope(match: SubjectMatch, scope: Scope | undefined): void {
    if (scope === undefined) return;
    for (const { role, bindings } of scope.grants()) {
      if (match.more) return;
      const placed = this.ruleOf(role);
      if (placed !== undefined) addGrants(match, placed, bindings);
    }
  }

  /** Returns the first rule of a role that allows the action. */
  private ruleOf(role: RoleRecord): RoleRule | undefined {
    if (this.rules.has(role)) return this.rules.get(role);
    const index = (role.rules ?? []).findIndex((rule) => ruleAllows(rule, this.query));
    const placed = index === -1 ? undefined : { role, rule: role.rules![index]!, index };
    this.rules.set(role, placed);
    return placed;
  }

  private *bindingsOf(role: RoleRecord): Iterable<BindingRecord> {
    for (const namespace of this.namespaces) yield* role.bindings.in(namespace);
  }
}

function subjectsOf({ subjects }: BindingRecord, systemPrefix: string): SubjectName[] {
  const keys = subjects.filter(({ valid: counts }) => counts).map((one) => keyOfSubject(one, systemPrefix));
  return keys.map((key) => subjectName(key, systemPrefix));
}

function withoutGrants(subject: SubjectName): SubjectMatch {
  return { subject, grants: [], more: false };
}

function addGrants(match: SubjectMatch, placed: RoleRule, bindings: OneOrMany<BindingRecord>): void {
  for (const binding of itemsOf(bindings)) {
    if (match.grants.length >= maxGrants) {
      match.more = true;
      return;
    }
    match.grants.push({ placed, binding });
  }
}

type ShownGrant = AllowedSubject["grants"][number];

/** Formats grants for the response. */
class GrantFormatter {
  private readonly rules = new Map<RoleRule, Omit<ShownGrant, "binding">>();
  private readonly origins: RuleOrigins;

  constructor(
    index: RbacIndex,
    private readonly query: RuleQuery,
    private readonly yieldIfDue: YieldIfDue,
  ) {
    this.origins = new RuleOrigins(() => index.allClusterRoles(), yieldIfDue);
  }

  async format({ subject, grants: ways, more }: SubjectMatch): Promise<AllowedSubject> {
    const grants: ShownGrant[] = [];
    for (const { placed, binding } of ways) {
      const rule = this.rules.get(placed) ?? (await this.formatRule(placed));
      grants.push({ binding: shownBinding(binding), ...rule });
    }
    return { ...shownSubject(subject), grants, ...(more ? { moreGrants: true } : {}) };
  }

  private async formatRule(placed: RoleRule): Promise<Omit<ShownGrant, "binding">> {
    await this.yieldIfDue();
    const { role, rule, index: at } = placed;
    const aggregatedFrom = await this.origins.namesFor(role, rule);
    const origin = aggregatedFrom.length > 0 ? { aggregatedFrom } : {};
    const shown = { role: shownRole(role), rule: shownRule(rule, this.query), ruleIndex: at, ...origin };
    this.rules.set(placed, shown);
    return shown;
  }
}
