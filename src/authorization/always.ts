import { AccessScopes, allScopes } from "./access-scopes.ts";
import type {
  Attributes,
  Authorizer,
  Decision,
  ResourceAttributes,
  RuleList,
  RuleResolver,
  ScopeResolver,
} from "./authorizer.ts";

const everything: RuleList = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
  evaluationError: "",
};
const nothing: RuleList = { resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: "" };

/** Allows every request (mode AlwaysAllow). */
export const alwaysAllow: Authorizer & RuleResolver & ScopeResolver = {
  authorize: (): Decision => ({ verdict: "allow", reason: "", evaluationError: "" }),
  rulesFor: () => everything,
  scopesFor: allScopes,
};

/**
 * Allows no request (mode AlwaysDeny). As in Kubernetes its verdict is `noOpinion`, not `deny`: a later authorizer may
 * still allow the request.
 */
export const alwaysDeny: Authorizer & RuleResolver & ScopeResolver = {
  authorize: (): Decision => ({
    verdict: "noOpinion",
    reason: "Everything is forbidden.",
    evaluationError: "",
  }),
  rulesFor: () => nothing,
  scopesFor: () => new AccessScopes(),
};

/** Allows every request of the members of one group, and has no opinion on other users. */
export class PrivilegedGroup implements Authorizer, RuleResolver, ScopeResolver {
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
