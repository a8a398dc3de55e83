import { describe, expect, it } from "vitest";
import type { AccessScopes } from "../../src/authorization/access-scopes.ts";
import type { Authorizer, Decision, FixedScopeResolver } from "../../src/authorization/authorizer.ts";
import { AuthorizerChain, authorizationChain } from "../../src/authorization/authorizer-chain.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { alice, ask, grantedToAlice, podRule, user } from "./support.ts";

const says = (verdict: Decision["verdict"], reason = "", evaluationError = ""): Authorizer => ({
  authorize: () => ({ verdict, reason, evaluationError }),
});
const link = (name: string, authorizer: Authorizer) => ({ name, authorizer, resolver: undefined });

describe("authorizer chain", () => {
  it("the first authorizer that allows or denies decides", () => {
    const chain = new AuthorizerChain([
      link("a", says("noOpinion")),
      link("b", says("deny", "no")),
      link("c", says("allow")),
    ]);
    expect(chain.authorize(ask(alice, "get"))).toEqual({
      verdict: "deny",
      reason: "no",
      evaluationError: "",
    });
  });

  it("A-2.2-33 the result is noOpinion with all reasons and errors when no authorizer decides", () => {
    const chain = new AuthorizerChain([
      link("a", says("noOpinion", "x", "e")),
      link("b", says("noOpinion", "y", "f")),
    ]);
    expect(chain.authorize(ask(alice, "get"))).toEqual({
      verdict: "noOpinion",
      reason: "x\ny",
      evaluationError: "e\nf",
    });
  });

  it("A-2.2-36 the decision includes the errors of earlier authorizers, also asynchronous ones", async () => {
    const slow: Authorizer = {
      authorize: () => Promise.resolve({ verdict: "noOpinion", reason: "", evaluationError: "e" }),
    };
    const chain = new AuthorizerChain([link("a", slow), link("b", says("allow", "ok"))]);
    expect(await chain.authorize(ask(alice, "get"))).toEqual({
      verdict: "allow",
      reason: "ok",
      evaluationError: "e",
    });
  });

  it("A-2.2-39 A-2.2-42 the rules are incomplete with an evaluation error when an authorizer can't list rules", async () => {
    const rbac = grantedToAlice(podRule(["get"]));
    const chain = new AuthorizerChain([
      { name: "RBAC", authorizer: rbac, resolver: rbac },
      link("webhook", says("noOpinion")),
    ]);
    const list = await chain.rulesFor(alice, "team-a");
    expect(list.incomplete).toBe(true);
    expect(list.evaluationError).toContain("webhook");
    expect(list.resourceRules).toHaveLength(1);
  });
});

describe("authorization modes", () => {
  const rbac = grantedToAlice(podRule(["get"]));
  const verdict = (modes: Parameters<typeof authorizationChain>[0], who = alice) =>
    (authorizationChain(modes, rbac, platform).authorize(ask(who, "get")) as Decision).verdict;

  it("RBAC decides by roles, AlwaysAllow allows all requests, and AlwaysDeny allows none", () => {
    expect(verdict(["RBAC"])).toBe("allow");
    expect(verdict(["RBAC"], user("bob"))).toBe("noOpinion");
    expect(verdict(["AlwaysAllow"], user("bob"))).toBe("allow");
    expect(verdict(["AlwaysDeny"])).toBe("noOpinion");
    expect(verdict(["AlwaysDeny", "RBAC"])).toBe("allow");
  });

  it.each(["Unknown", "constructor"])("the mode %s has no authorizer", (mode) => {
    expect(() => authorizationChain([mode], rbac, platform)).toThrow(
      `authorization mode ${mode} has no authorizer`,
    );
  });

  it("system:masters may access all objects, and other users none through this group", () => {
    const [privileged] = authorizationChain(["AlwaysDeny"], rbac, platform).links;
    const resolver = privileged!.scopes as FixedScopeResolver;
    const scopesOf = (who: typeof alice) =>
      resolver.scopesFor(ask(who, "get"), () => undefined) as AccessScopes;
    expect(scopesOf(user("root", "system:masters")).everything).toBe(true);
    expect(scopesOf(alice).size).toBe(0);
  });

  it("system:masters is allowed everything in every mode, and its rules review lists all rules", async () => {
    const root = user("root", "system:masters");
    expect(verdict(["AlwaysDeny"], root)).toBe("allow");
    const list = await authorizationChain(["RBAC"], rbac, platform).rulesFor(root, "team-a");
    expect(list).toMatchObject({
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    });
    const allowed = await authorizationChain(["AlwaysAllow"], rbac, platform).rulesFor(alice, "team-a");
    expect(allowed.nonResourceRules).toEqual([{ verbs: ["*"], nonResourceURLs: ["*"] }]);
  });
});
