import type { YieldIfDue } from "../../base/yielding.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { keyOfSubject } from "../rbac/bound-subject.ts";
import type { BindingRecord } from "../rbac/role-record.ts";
import { itemsOf, type OneOrMany } from "../rbac/one-or-many.ts";
import type { RbacIndex } from "../rbac/rbac-index.ts";
import type { RoleRecord } from "../rbac/role-record.ts";
import type { PlacedRule } from "../rbac/rule-finder.ts";
import { ruleAllows, ruleQuery, type RuleQuery } from "../rbac/rule-match.ts";
import { compareSubjects, nameOf, type SubjectName } from "../rbac/subject-directory.ts";
import type { Scope } from "../rbac/scope.ts";
import { RuleOrigins } from "./aggregated.ts";
import type { Action, AllowedSubject, AllowedSubjects, Page } from "./insight.ts";
import { shownBinding, shownRole, shownRule, shownSubject } from "./shown.ts";

/** So many bindings are named by which one subject may. */
const maxGrants = 2;

/** Up to this many subjects of bindings are collected and sorted; with more, all subjects are evaluated in order until a page is full. */
export const gatheredSubjects = 4096;

/** Subjects that are asked about in one step. */
const subjectsAStep = 128;

const noUser = { name: "", uid: "", groups: [], extra: {} };

/**
 * Whom role-based authorization allows an action: the subjects that bindings name, each as if it stood alone. A user who
 * is spelled as a service account counts as one.
 *
 * @param maxGathered {@link gatheredSubjects} but in tests: answers don't depend on it, only how long they take.
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
  const found = (await search.gather(maxGathered)) ?? (await search.ask());
  const ways = new ShownWays(index, query, yieldIfDue);
  const subjects: AllowedSubject[] = [];
  for (const one of found.slice(0, page.limit)) subjects.push(await ways.show(one));
  return { subjects, more: found.length > page.limit };
}

/** By which binding, and which rule of its role. */
interface Way {
  readonly placed: PlacedRule;
  readonly binding: BindingRecord;
}

/** A subject that may, and how. */
interface Allowed {
  readonly subject: SubjectName;
  readonly ways: Way[];
  more: boolean;
  /** The last binding that was processed. */
  last?: BindingRecord;
}

/** Looks for one page of subjects, and one more if there is one. */
class Search {
  private readonly after: SubjectName | undefined;
  /** For {@link Search.ask}: of roles that were met, the rule that allows the action. */
  private readonly rules = new Map<RoleRecord, PlacedRule | undefined>();

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

  /** The subjects of the bindings of all roles that allow the action; undefined where they are more than so many. */
  async gather(maxGathered: number): Promise<readonly Allowed[] | undefined> {
    const { systemPrefix } = this.vocabulary;
    let weight = 0;
    const roles = await this.index.finder.find(this.query, this.yieldIfDue, (role) => {
      for (const { subjects } of this.bindingsOf(role)) {
        weight += subjects.length;
        if (weight > maxGathered) return false;
      }
      return true;
    });
    if (roles === undefined) return undefined;
    const found = new Map<string, Allowed>();
    for (const placed of roles.values()) {
      for (const binding of this.bindingsOf(placed.role)) {
        for (const subject of subjectsOf(binding, systemPrefix)) {
          if (this.after !== undefined && compareSubjects(this.after, subject) >= 0) continue;
          const key = `${subject.kind}/${subject.namespace}/${subject.name}`;
          let one = found.get(key);
          if (one === undefined) found.set(key, (one = noWays(subject)));
          // A binding may name a subject twice.
          if (one.last !== binding) addWays(one, placed, binding);
          one.last = binding;
        }
      }
    }
    await this.yieldIfDue();
    return [...found.values()].toSorted((one, other) => compareSubjects(one.subject, other.subject));
  }

  /** The subjects who have such a role, found by asking everybody in order. */
  async ask(): Promise<readonly Allowed[]> {
    await this.index.directory.ready(this.yieldIfDue);
    const found: Allowed[] = [];
    let { after } = this;
    while (found.length <= this.page.limit) {
      const next = this.index.directory.after(after, subjectsAStep);
      for (const [subject, scopes] of next) {
        const own = noWays(subject);
        for (const namespace of this.namespaces) this.addScope(own, scopes.get(namespace));
        if (own.ways.length > 0) found.push(own);
        const turn = this.yieldIfDue();
        if (turn !== undefined) await turn;
      }
      if (next.length < subjectsAStep) break;
      after = next.at(-1)![0];
    }
    return found;
  }

  private addScope(one: Allowed, scope: Scope | undefined): void {
    if (scope === undefined) return;
    for (const { role, bindings } of scope.grants()) {
      if (one.more) return;
      const placed = this.ruleOf(role);
      if (placed !== undefined) addWays(one, placed, bindings);
    }
  }

  /** The first rule of a role that allows the action. */
  private ruleOf(role: RoleRecord): PlacedRule | undefined {
    if (this.rules.has(role)) return this.rules.get(role);
    const at = (role.rules ?? []).findIndex((rule) => ruleAllows(rule, this.query));
    const placed = at === -1 ? undefined : { role, rule: role.rules![at]!, at };
    this.rules.set(role, placed);
    return placed;
  }

  private *bindingsOf(role: RoleRecord): Iterable<BindingRecord> {
    for (const namespace of this.namespaces) yield* role.bindings.in(namespace);
  }
}

function subjectsOf({ subjects }: BindingRecord, systemPrefix: string): SubjectName[] {
  const keys = subjects.filter(({ counts }) => counts).map((one) => keyOfSubject(one, systemPrefix));
  return keys.map((key) => nameOf(key, systemPrefix));
}

function noWays(subject: SubjectName): Allowed {
  return { subject, ways: [], more: false };
}

function addWays(one: Allowed, placed: PlacedRule, bindings: OneOrMany<BindingRecord>): void {
  for (const binding of itemsOf(bindings)) {
    if (one.ways.length >= maxGrants) {
      one.more = true;
      return;
    }
    one.ways.push({ placed, binding });
  }
}

type ShownWay = AllowedSubject["grants"][number];

/** Writes ways as answers show them. */
class ShownWays {
  private readonly rules = new Map<PlacedRule, Omit<ShownWay, "binding">>();
  private readonly origins: RuleOrigins;

  constructor(
    index: RbacIndex,
    private readonly query: RuleQuery,
    private readonly yieldIfDue: YieldIfDue,
  ) {
    this.origins = new RuleOrigins(() => index.everyClusterRole(), yieldIfDue);
  }

  async show({ subject, ways, more }: Allowed): Promise<AllowedSubject> {
    const grants: ShownWay[] = [];
    for (const { placed, binding } of ways) {
      const rule = this.rules.get(placed) ?? (await this.make(placed));
      grants.push({ binding: shownBinding(binding), ...rule });
    }
    return { ...shownSubject(subject), grants, ...(more ? { moreGrants: true } : {}) };
  }

  private async make(placed: PlacedRule): Promise<Omit<ShownWay, "binding">> {
    await this.yieldIfDue();
    const { role, rule, at } = placed;
    const aggregatedFrom = await this.origins.of(role, rule);
    const origin = aggregatedFrom.length > 0 ? { aggregatedFrom } : {};
    const shown = { role: shownRole(role), rule: shownRule(rule, this.query), ruleIndex: at, ...origin };
    this.rules.set(placed, shown);
    return shown;
  }
}
