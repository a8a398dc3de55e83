import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import type { UserInfo } from "../base/user-info.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type {
  Attributes,
  Authorizer,
  Decision,
  RuleList,
  RuleResolver,
  ChangingScopeResolver,
  FixedScopeResolver,
  ScopeResolver,
  ResourceAttributes,
} from "./authorizer.ts";
import type { AccessInsight } from "./insight/insight.ts";
import { AccessScopes, allScopes } from "./access-scopes.ts";

/** The authorization modes, in the spelling of `--authorization-mode`. */
export const authorizationModes = ["Node", "RBAC", "ABAC", "Webhook", "AlwaysAllow", "AlwaysDeny"] as const;
/** An authorization mode; `authorizationModes` of `createServer` also accepts names of the program's authorizers. */
export type AuthorizationMode = (typeof authorizationModes)[number];

/** One authorizer of a chain, with its name in messages. */
export interface ChainLink {
  readonly name: string;
  readonly authorizer: Authorizer;
  /** Undefined if the authorizer can't enumerate rules; lists of rules are then incomplete. */
  readonly resolver: RuleResolver | undefined;
  /** Undefined if the authorizer can't enumerate objects, or may deny requests; see {@link ScopeResolver}. */
  readonly scopes?: ScopeResolver | undefined;
  /** Undefined if the authorizer can't explain its decisions. */
  readonly insight?: AccessInsight | undefined;
  /** Describes everything the authorizer allows in one sentence; undefined if its decisions depend on rules. */
  readonly summary?: string | undefined;
}

/** Descriptions of the fixed decisions of AlwaysAllow and AlwaysDeny. */
const fixedDecisions: Partial<Record<AuthorizationMode, string>> = {
  AlwaysAllow: "every request is allowed",
  AlwaysDeny: "every request is denied",
};

/** The decision of one authorizer of a chain. */
export interface Opinion {
  readonly link: ChainLink;
  readonly decision: Decision;
}

type AnyAuthorizer = Authorizer & Partial<RuleResolver & FixedScopeResolver & ChangingScopeResolver>;

/** The authorizers of the enabled modes that have dependencies or configuration. */
export interface FurtherAuthorizers {
  readonly Node?: (Authorizer & RuleResolver & Partial<FixedScopeResolver>) | undefined;
  readonly ABAC?: (Authorizer & RuleResolver & Partial<FixedScopeResolver>) | undefined;
  readonly Webhook?: Authorizer | undefined;
  /** Authorizers of the embedding program, by name. */
  readonly [name: string]: AnyAuthorizer | undefined;
}

/** As {@link authorizationLinks}, as a chain. */
export function authorizationChain(...parts: Parameters<typeof authorizationLinks>): AuthorizerChain {
  return new AuthorizerChain(authorizationLinks(...parts));
}

/**
 * Returns the authorizers for the modes (or names of {@link FurtherAuthorizers}) in the same order, after one that allows
 * everything to the group `system:masters`.
 *
 * @param rbac the authorizer of mode RBAC.
 * @param insight explains the decisions of `rbac`.
 */
export function authorizationLinks(
  modes: readonly string[],
  rbac: Authorizer & RuleResolver & Partial<ChangingScopeResolver>,
  vocabulary: Vocabulary,
  further: FurtherAuthorizers = {},
  insight?: AccessInsight,
): readonly ChainLink[] {
  const masters = `${vocabulary.systemPrefix}masters`;
  const privileged = new PrivilegedGroup(masters);
  const byMode: Readonly<Record<string, AnyAuthorizer | undefined>> = {
    RBAC: rbac,
    AlwaysAllow: alwaysAllow,
    AlwaysDeny: alwaysDeny,
    ...further,
  };
  const links = modes.map((name): ChainLink => {
    const authorizer = Object.hasOwn(byMode, name) ? byMode[name] : undefined;
    if (authorizer === undefined) throw new Error(`authorization mode ${name} has no authorizer`);
    // A webhook can't list rules.
    const resolver = canList(authorizer) ? authorizer : undefined;
    const ownInsight = name === "RBAC" ? insight : undefined;
    return {
      name,
      authorizer,
      resolver,
      scopes: canEnumerate(authorizer) ? authorizer : undefined,
      insight: ownInsight,
      summary: fixedDecisions[name as AuthorizationMode],
    };
  });
  const privilegedSummary = `members of the group ${JSON.stringify(masters)} are allowed everything`;
  return [
    {
      name: "privileged group",
      authorizer: privileged,
      resolver: privileged,
      scopes: privileged,
      summary: privilegedSummary,
    },
    ...links,
  ];
}

function canEnumerate(authorizer: AnyAuthorizer): authorizer is AnyAuthorizer & ScopeResolver {
  return authorizer.scopesFor !== undefined || authorizer.currentScopes !== undefined;
}

function canList(authorizer: Authorizer & Partial<RuleResolver>): authorizer is Authorizer & RuleResolver {
  return authorizer.rulesFor !== undefined;
}

/**
 * Calls authorizers in order. The first that allows or denies decides. If none does, the verdict is `noOpinion` with all
 * their reasons. Evaluation errors of earlier authorizers are returned with any verdict.
 */
export class AuthorizerChain implements Authorizer, RuleResolver {
  private current: readonly ChainLink[];
  private readonly onReplace = new Set<() => void>();

  /** @param links the authorizers, in the order in which they are called. */
  constructor(links: readonly ChainLink[]) {
    this.current = links;
  }

  /** The authorizers. A caller that uses them over several turns of the event loop keeps the list, because it may be replaced. */
  get links(): readonly ChainLink[] {
    return this.current;
  }

  /** Replaces the authorizers. Decisions that have begun continue with the previous ones. */
  replace(links: readonly ChainLink[]): void {
    this.current = links;
    for (const changed of this.onReplace) changed();
  }

  /** Calls a function after each {@link replace}. @returns removes the function. */
  whenReplaced(changed: () => void): () => void {
    this.onReplace.add(changed);
    return () => void this.onReplace.delete(changed);
  }

  authorize(attributes: Attributes): MaybePromise<Decision> {
    return authorizeFrom(this.current, attributes, 0, initialDecision);
  }

  /** Returns the decision and the opinions of the called authorizers in order. If one of them decided, it is the last. */
  async trace(attributes: Attributes): Promise<{ decision: Decision; opinions: readonly Opinion[] }> {
    const opinions: Opinion[] = [];
    let previous = initialDecision;
    for (const link of this.links) {
      const decision = await link.authorizer.authorize(attributes);
      opinions.push({ link, decision });
      if (decision.verdict !== "noOpinion")
        return { decision: withPreviousErrors(previous, decision), opinions };
      previous = joinOpinions(previous, decision);
    }
    return { decision: previous, opinions };
  }

  /** Returns the rules of all authorizers; incomplete if the list of one of them is. */
  rulesFor(user: UserInfo, namespace: string): MaybePromise<RuleList> {
    const lists = this.links.map(
      ({ name, resolver }) => resolver?.rulesFor(user, namespace) ?? unresolved(name),
    );
    if (lists.some((list) => list instanceof Promise)) return Promise.all(lists).then(joinLists);
    return joinLists(lists as RuleList[]);
  }
}

function authorizeFrom(
  links: readonly ChainLink[],
  attributes: Attributes,
  index: number,
  previous: Decision,
): MaybePromise<Decision> {
  const link = links[index];
  if (link === undefined) return previous;
  return andThen(link.authorizer.authorize(attributes), (decision) => {
    if (decision.verdict !== "noOpinion") return withPreviousErrors(previous, decision);
    return authorizeFrom(links, attributes, index + 1, joinOpinions(previous, decision));
  });
}

const initialDecision: Decision = { verdict: "noOpinion", reason: "", evaluationError: "" };

/** Adds the evaluation errors of earlier authorizers to a decision. */
function withPreviousErrors(previous: Decision, decision: Decision): Decision {
  if (previous.evaluationError === "") return decision;
  return { ...decision, evaluationError: join([previous.evaluationError, decision.evaluationError]) };
}

function joinOpinions(one: Decision, other: Decision): Decision {
  if (one === initialDecision) return other;
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
    resourceRules: concatDistinct(lists.map((list) => list.resourceRules)),
    nonResourceRules: concatDistinct(lists.map((list) => list.nonResourceRules)),
    incomplete: lists.some((list) => list.incomplete),
    evaluationError: join(lists.map((list) => list.evaluationError)),
  };
}

/** Concatenates lists of rules without duplicates. */
function concatDistinct<R>(lists: readonly (readonly R[])[]): R[] {
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

const everything: RuleList = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
  evaluationError: "",
};
const nothing: RuleList = { resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: "" };

/** Allows every request (mode AlwaysAllow). */
const alwaysAllow: Authorizer & RuleResolver & FixedScopeResolver = {
  authorize: (): Decision => ({ verdict: "allow", reason: "", evaluationError: "" }),
  rulesFor: () => everything,
  scopesFor: allScopes,
};

/**
 * Allows no request (mode AlwaysDeny). As in Kubernetes its verdict is `noOpinion`, not `deny`: a later authorizer may
 * still allow the request.
 */
const alwaysDeny: Authorizer & RuleResolver & FixedScopeResolver = {
  authorize: (): Decision => ({
    verdict: "noOpinion",
    reason: "Everything is forbidden.",
    evaluationError: "",
  }),
  rulesFor: () => nothing,
  scopesFor: () => new AccessScopes(),
};

/** Allows every request of the members of one group, and has no opinion on other users. */
class PrivilegedGroup implements Authorizer, RuleResolver, FixedScopeResolver {
  constructor(private readonly group: string) {}

  authorize({ user }: Attributes): Decision {
    const verdict = user.groups.includes(this.group) ? "allow" : "noOpinion";
    return { verdict, reason: "", evaluationError: "" };
  }

  rulesFor(user: Attributes["user"]): RuleList {
    return user.groups.includes(this.group) ? everything : nothing;
  }

  scopesFor({ user }: ResourceAttributes): AccessScopes {
    return user.groups.includes(this.group) ? allScopes() : new AccessScopes();
  }
}
