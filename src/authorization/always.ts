import type { Attributes, Authorizer, Decision, RuleList, RuleResolver } from "./authorizer.ts";

const everything: RuleList = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
  evaluationError: "",
};
const nothing: RuleList = { resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: "" };

/** Allows everything to everybody (mode AlwaysAllow). */
export const alwaysAllow: Authorizer & RuleResolver = {
  authorize: (): Decision => ({ verdict: "allow", reason: "", evaluationError: "" }),
  rulesFor: () => everything,
};

/**
 * Allows nothing (mode AlwaysDeny). As in the reference it has no opinion rather than a veto, so that a mode after it
 * may still allow.
 */
export const alwaysDeny: Authorizer & RuleResolver = {
  authorize: (): Decision => ({
    verdict: "noOpinion",
    reason: "Everything is forbidden.",
    evaluationError: "",
  }),
  rulesFor: () => nothing,
};

/** Allows everything to the members of one group, and has no opinion on anybody else. */
export class PrivilegedGroup implements Authorizer, RuleResolver {
  constructor(private readonly group: string) {}

  authorize({ user }: Attributes): Decision {
    const verdict = user.groups.includes(this.group) ? "allow" : "noOpinion";
    return { verdict, reason: "", evaluationError: "" };
  }

  rulesFor(user: Attributes["user"]): RuleList {
    return user.groups.includes(this.group) ? everything : nothing;
  }
}
