import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { alwaysAllow, alwaysDeny, PrivilegedGroup } from "./always.ts";
import type { Attributes, Authorizer, Decision, RuleList, RuleResolver } from "./authorizer.ts";
import type { AccessInsight } from "./insight/insight.ts";

/** The authorization modes, in the spelling of `--authorization-mode`. */
export const authorizationModes = ["Node", "RBAC", "ABAC", "Webhook", "AlwaysAllow", "AlwaysDeny"] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

/** One authorizer of a chain, under the name that messages call it by. */
export interface ChainLink {
  readonly name: string;
  readonly authorizer: Authorizer;
  /** Undefined when the authorizer can't enumerate rules: then a list of rules is incomplete. */
  readonly resolver: RuleResolver | undefined;
  /** Undefined when the authorizer can't say more of its decisions than it says with them. */
  readonly insight?: AccessInsight | undefined;
  /** Whom the authorizer allows everything, and that it allows nothing else; undefined where it isn't so simple. */
  readonly always?: string | undefined;
}

/** Whom the modes allow everything that look at nothing else. */
const allowedByMode: Partial<Record<AuthorizationMode, string>> = {
  AlwaysAllow: "every request is allowed",
  AlwaysDeny: "every request is denied",
};

/** What one authorizer of a chain said to a question. */
export interface Opinion {
  readonly link: ChainLink;
  readonly decision: Decision;
}

/** The authorizers of modes that need something of their own, where these modes are on. */
export interface FurtherAuthorizers {
  readonly Node?: (Authorizer & RuleResolver) | undefined;
  readonly ABAC?: (Authorizer & RuleResolver) | undefined;
  readonly Webhook?: Authorizer | undefined;
  /** Those of the embedding program, by their names. */
  readonly [name: string]: (Authorizer & Partial<RuleResolver>) | undefined;
}

/**
 * The authorizers for the modes (or names of {@link FurtherAuthorizers}), in their order, behind the one that allows everything to `system:masters`.
 * @param rbac answers for mode RBAC.
 * @param insight says more of what `rbac` answers.
 */
export function authorizationChain(
  modes: readonly string[],
  rbac: Authorizer & RuleResolver,
  vocabulary: Vocabulary,
  further: FurtherAuthorizers = {},
  insight?: AccessInsight,
): AuthorizerChain {
  const masters = `${vocabulary.systemPrefix}masters`;
  const privileged = new PrivilegedGroup(masters);
  const byMode: Readonly<Record<string, (Authorizer & Partial<RuleResolver>) | undefined>> = {
    RBAC: rbac,
    AlwaysAllow: alwaysAllow,
    AlwaysDeny: alwaysDeny,
    ...further,
  };
  const links = modes.map((name): ChainLink => {
    const authorizer = Object.hasOwn(byMode, name) ? byMode[name] : undefined;
    if (authorizer === undefined) throw new Error(`mode ${name} without its authorizer`);
    // A service of others can't list its rules.
    const resolver = canList(authorizer) ? authorizer : undefined;
    const own = name === "RBAC" ? insight : undefined;
    return { name, authorizer, resolver, insight: own, always: allowedByMode[name as AuthorizationMode] };
  });
  const always = `members of the group ${JSON.stringify(masters)} are allowed everything`;
  return new AuthorizerChain([
    { name: "privileged group", authorizer: privileged, resolver: privileged, always },
    ...links,
  ]);
}

function canList(authorizer: Authorizer & Partial<RuleResolver>): authorizer is Authorizer & RuleResolver {
  return authorizer.rulesFor !== undefined;
}

/**
 * Asks authorizers in turn. The first that allows or denies decides; when none does, the verdict is `noOpinion` with
 * all their reasons. What went wrong on the way is reported with any verdict.
 */
export class AuthorizerChain implements Authorizer, RuleResolver {
  /** @param links the authorizers, in the order in which they are asked. */
  constructor(readonly links: readonly ChainLink[]) {}

  authorize(attributes: Attributes): MaybePromise<Decision> {
    return this.ask(attributes, 0, silent);
  }

  /** The decision, and what each authorizer that was asked said, in order; the last of them decided, if any did. */
  async trace(attributes: Attributes): Promise<{ decision: Decision; opinions: readonly Opinion[] }> {
    const opinions: Opinion[] = [];
    let before = silent;
    for (const link of this.links) {
      const decision = await link.authorizer.authorize(attributes);
      opinions.push({ link, decision });
      if (decision.verdict !== "noOpinion") return { decision: after(before, decision), opinions };
      before = joinOpinions(before, decision);
    }
    return { decision: before, opinions };
  }

  /** The rules of all authorizers together; incomplete when one of them has to leave some out. */
  rulesFor(user: UserInfo, namespace: string): MaybePromise<RuleList> {
    const lists = this.links.map(
      ({ name, resolver }) => resolver?.rulesFor(user, namespace) ?? unresolved(name),
    );
    if (lists.some((list) => list instanceof Promise)) return Promise.all(lists).then(joinLists);
    return joinLists(lists as RuleList[]);
  }

  private ask(attributes: Attributes, index: number, before: Decision): MaybePromise<Decision> {
    const link = this.links[index];
    if (link === undefined) return before;
    return andThen(link.authorizer.authorize(attributes), (decision) => {
      if (decision.verdict !== "noOpinion") return after(before, decision);
      return this.ask(attributes, index + 1, joinOpinions(before, decision));
    });
  }
}

const silent: Decision = { verdict: "noOpinion", reason: "", evaluationError: "" };

/** A decision, with the errors of those that were asked before it. */
function after(before: Decision, decision: Decision): Decision {
  if (before.evaluationError === "") return decision;
  return { ...decision, evaluationError: join([before.evaluationError, decision.evaluationError]) };
}

function joinOpinions(one: Decision, other: Decision): Decision {
  if (one === silent) return other;
  const reason = join([one.reason, other.reason]);
  return {
    verdict: "noOpinion",
    reason,
    evaluationError: join([one.evaluationError, other.evaluationError]),
  };
}

function unresolved(name: string): RuleList {
  const evaluationError = `the ${name} authorizer doesn't support listing rules`;
  return { resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError };
}

function joinLists(lists: readonly RuleList[]): RuleList {
  return {
    resourceRules: withoutRepeats(lists.map((list) => list.resourceRules)),
    nonResourceRules: withoutRepeats(lists.map((list) => list.nonResourceRules)),
    incomplete: lists.some((list) => list.incomplete),
    evaluationError: join(lists.map((list) => list.evaluationError)),
  };
}

/** The rules of all lists; what one authorizer lists already isn't listed again for a later one. */
function withoutRepeats<R>(lists: readonly (readonly R[])[]): R[] {
  const listed = new Set<string>();
  return lists.flatMap((list) => {
    const fresh = list.filter((rule) => !listed.has(JSON.stringify(rule)));
    for (const rule of fresh) listed.add(JSON.stringify(rule));
    return fresh;
  });
}

function join(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n");
}
