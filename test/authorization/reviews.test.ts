import { describe, expect, it } from "vitest";
import type { Attributes, Authorizer, Decision } from "../../src/authorization/authorizer.ts";
import { reviewAccess, reviewSelfAccess } from "../../src/authorization/reviews/access.ts";
import { reviewRules } from "../../src/authorization/reviews/rules.ts";
import { reviewSelf } from "../../src/authorization/reviews/self.ts";
import {
  localSubjectAccessReviewFaults,
  selfSubjectAccessReviewFaults,
  subjectAccessReviewFaults,
} from "../../src/kinds/authorization/spec-faults.ts";
import { alice, clusterRole, grantedToAlice, podRule, toGroup, toUser } from "./support.ts";

/** Returns an authorizer that records the attributes of each request and returns `decision`. */
function recorder(decision: Decision = { verdict: "noOpinion", reason: "", evaluationError: "" }) {
  const asked: Attributes[] = [];
  const authorizer: Authorizer = {
    authorize(attributes) {
      asked.push(attributes);
      return decision;
    },
  };
  return { asked, authorizer };
}

const pods = { verb: "get", resource: "pods" };

describe("access reviews", () => {
  it("A-1-03 A-2.2-13 A-2.2-17 A-2.2-18 a SubjectAccessReview checks the user and groups of its spec only", () => {
    const index = grantedToAlice(podRule(["get"]));
    index.putClusterRoleBinding("dev", { roleRef: clusterRole("granted"), subjects: [toGroup("dev")] });
    const allowed = (spec: object) => reviewAccess({ resourceAttributes: pods, ...spec }, index);
    expect(allowed({ user: "alice" })).toMatchObject({ allowed: true });
    expect(allowed({ user: "bob" })).toEqual({ allowed: false });
    expect(allowed({ user: "bob", groups: ["dev"] })).toMatchObject({ allowed: true });
    expect(allowed({ groups: ["dev"] })).toMatchObject({ allowed: true });
  });

  it("A-2.2-12 A-2.2-15 A-2.2-16 a review passes resource attributes, uid and extra to the authorizer", () => {
    const { asked, authorizer } = recorder();
    const resourceAttributes = {
      namespace: "team-a",
      verb: "get",
      group: "apps",
      version: "v1",
      resource: "deployments",
      subresource: "scale",
      name: "web",
    };
    void reviewAccess(
      { user: "u", uid: "7", groups: null, extra: { k: ["a", "b"] }, resourceAttributes },
      authorizer,
    );
    const user = { name: "u", uid: "7", groups: [], extra: { k: ["a", "b"] } };
    expect(asked).toEqual([{ kind: "resource", user, ...resourceAttributes }]);
  });

  it("A-2.2-24 A-2.2-26 A-2.2-28 A-2.2-30 absent attributes are empty, and an absent version is `*`", () => {
    const { asked, authorizer } = recorder();
    void reviewSelfAccess(alice, { resourceAttributes: pods }, authorizer);
    const empty = { namespace: "", group: "", subresource: "", name: "" };
    expect(asked).toEqual([{ kind: "resource", user: alice, ...pods, ...empty, version: "*" }]);
  });

  it("A-2.2-14 A-2.2-21 A-2.2-22 a review of nonResourceAttributes checks the path and the verb", () => {
    const index = grantedToAlice({ verbs: ["get"], nonResourceURLs: ["/healthz"] });
    const review = (verb: string, path: string) =>
      reviewSelfAccess(alice, { nonResourceAttributes: { verb, path } }, index);
    expect(review("get", "/healthz")).toMatchObject({ allowed: true });
    expect(review("post", "/healthz")).toEqual({ allowed: false });
    expect(review("get", "/livez")).toEqual({ allowed: false });
  });

  it("A-1-05 a self review checks the caller with uid, groups and extra", () => {
    const { asked, authorizer } = recorder();
    const caller = { name: "x", uid: "1", groups: ["g"], extra: { k: ["v"] } };
    void reviewSelfAccess(caller, { resourceAttributes: pods }, authorizer);
    expect(asked[0]!.user).toBe(caller);
  });

  it.each([
    ["A-2.2-31 allow sets allowed", { verdict: "allow", reason: "", evaluationError: "" }, { allowed: true }],
    [
      "A-2.2-33 noOpinion sets allowed to false",
      { verdict: "noOpinion", reason: "", evaluationError: "" },
      { allowed: false },
    ],
    [
      "A-2.2-32 A-2.2-34 deny sets denied and the reason",
      { verdict: "deny", reason: "no", evaluationError: "" },
      { allowed: false, denied: true, reason: "no" },
    ],
    [
      "A-2.2-35 A-2.2-36 A-7-01 an evaluation error is returned together with the decision",
      { verdict: "allow", reason: "yes", evaluationError: "e" },
      { allowed: true, reason: "yes", evaluationError: "e" },
    ],
  ] as const)("%s", async (_what, decision, status) => {
    const slow: Authorizer = { authorize: () => Promise.resolve(decision) };
    expect(reviewSelfAccess(alice, { resourceAttributes: pods }, recorder(decision).authorizer)).toEqual(
      status,
    );
    expect(await reviewSelfAccess(alice, { resourceAttributes: pods }, slow)).toEqual(status);
  });
});

describe("rules reviews", () => {
  it("A-1-06 A-2.2-20 A-2.2-45 A-2.2-46 A-2.2-48 A-2.2-49 a rules review lists the rules of the cluster and of the namespace", () => {
    const index = grantedToAlice({ verbs: ["get"], apiGroups: ["*"], resources: ["*/scale"] });
    index.putRole("team-a", "own", { rules: [podRule(["*"], { resourceNames: ["a"] })] });
    const roleRef = { kind: "Role", name: "own" };
    index.putRoleBinding("team-a", "own", { roleRef, subjects: [toUser("alice")] });
    const scale = { verbs: ["get"], apiGroups: ["*"], resources: ["*/scale"] };
    const own = { verbs: ["*"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] };
    expect(reviewRules(alice, "team-a", index)).toEqual({
      resourceRules: [scale, own],
      nonResourceRules: [],
      incomplete: false,
    });
    expect(reviewRules(alice, "team-b", index)).toMatchObject({ resourceRules: [scale] });
  });

  it("A-2.2-39 A-2.2-40 A-2.2-41 a rules review without rules has two empty lists and incomplete false", () => {
    const index = grantedToAlice();
    expect(reviewRules(alice, "x", index)).toEqual({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: false,
    });
  });

  it("A-2.2-42 A-2.2-43 A-2.2-44 a rules review returns rules together with an evaluation error", () => {
    const index = grantedToAlice({ verbs: ["get", "post"], nonResourceURLs: ["/a/*"] });
    index.putClusterRoleBinding("gone", { roleRef: clusterRole("gone"), subjects: [toUser("alice")] });
    expect(reviewRules(alice, "x", index)).toMatchObject({
      nonResourceRules: [{ verbs: ["get", "post"], nonResourceURLs: ["/a/*"] }],
      evaluationError: 'clusterrole.rbac.authorization.platform.io "gone" not found',
    });
  });
});

describe("SelfSubjectReview", () => {
  it("A-1-07 A-2.3-02 A-2.3-03 A-2.3-04 A-2.3-05 returns name, uid, groups and extra of the caller", () => {
    const caller = { name: "x", uid: "1", groups: ["g"], extra: { k: ["v"] } };
    expect(reviewSelf(caller)).toEqual({
      userInfo: { username: "x", uid: "1", groups: ["g"], extra: { k: ["v"] } },
    });
    expect(reviewSelf({ ...caller, uid: "", extra: {} })).toEqual({
      userInfo: { username: "x", groups: ["g"] },
    });
  });
});

describe("validation of review specs", () => {
  const brief = (faults: ReturnType<typeof subjectAccessReviewFaults>) =>
    faults.map(({ path, kind }) => `${kind} ${path.join(".")}`);
  const path = { path: "/x", verb: "get" };

  it("A-2.2-10 A-2.2-11 A-2.2-19 a review requires exactly one of resourceAttributes and nonResourceAttributes", () => {
    expect(selfSubjectAccessReviewFaults({ resourceAttributes: pods as object })).toEqual([]);
    expect(selfSubjectAccessReviewFaults({ nonResourceAttributes: path, resourceAttributes: null })).toEqual(
      [],
    );
    expect(brief(selfSubjectAccessReviewFaults({}))).toEqual(["invalid resourceAttributes"]);
    const both = { resourceAttributes: pods as object, nonResourceAttributes: path };
    expect(brief(selfSubjectAccessReviewFaults(both))).toEqual(["invalid nonResourceAttributes"]);
    expect(brief(subjectAccessReviewFaults({ user: "u", ...both }))).toEqual([
      "invalid nonResourceAttributes",
    ]);
  });

  it("a review requires a user or a group", () => {
    const resourceAttributes = { namespace: "" };
    expect(subjectAccessReviewFaults({ resourceAttributes })[0]?.message).toBe(
      "at least one of user or group must be specified",
    );
    expect(subjectAccessReviewFaults({ resourceAttributes, groups: ["g"] })).toEqual([]);
    expect(subjectAccessReviewFaults({ resourceAttributes, user: "u" })).toEqual([]);
  });

  it("A-1-04 A-2.2-02 A-2.2-03 a LocalSubjectAccessReview accepts only resourceAttributes of its own namespace", () => {
    const local = (namespace: string) =>
      brief(localSubjectAccessReviewFaults({ user: "u", resourceAttributes: { namespace } }, "team-a"));
    expect(local("team-a")).toEqual([]);
    expect(local("")).toEqual([]);
    expect(local("team-b")).toEqual(["invalid resourceAttributes.namespace"]);
    const stray = localSubjectAccessReviewFaults({ user: "u", nonResourceAttributes: path }, "team-a");
    expect(brief(stray)).toEqual(["invalid nonResourceAttributes"]);
  });

  it("a missing spec returns no errors", () => {
    expect(localSubjectAccessReviewFaults(undefined, "a")).toEqual([]);
    expect(subjectAccessReviewFaults(undefined)).toEqual([]);
  });
});
