import * as fc from "fast-check";
import { expect, it } from "vitest";
import { effort } from "../support/effort.ts";
import type { Authorizer, ScopeResolver } from "../../src/authorization/authorizer.ts";
import { AbacAuthorizer } from "../../src/authorization/abac.ts";
import { AuthorizerChain, authorizationChain } from "../../src/authorization/authorizer-chain.ts";
import { grantedScopes } from "../../src/authorization/rbac/granted-scopes.ts";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { userView } from "../../src/authorization/user-view.ts";
import { Namespace } from "../../src/kinds/core/namespace.ts";
import { Node } from "../../src/kinds/core/node/node.ts";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { resourceOf } from "../../src/resources/registry/registry.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { apply, ReferenceRbac, step, who } from "./policy-arbitrary.ts";
import { ask, clusterRole, toUser, user } from "./support.ts";

const never = () => undefined;
const asGet = { rule: "get", yieldIfDue: never } as const;

/** A chain with one authorizer, RBAC over an index. */
function chainOver(index: RbacIndex): AuthorizerChain {
  const rbac: Authorizer & ScopeResolver = {
    authorize: (attributes) => index.authorize(attributes),
    scopesFor: (attributes, yieldIfDue) => grantedScopes(index, attributes, yieldIfDue),
  };
  return new AuthorizerChain([{ name: "RBAC", authorizer: rbac, resolver: undefined, scopes: rbac }]);
}

const pods = resourceOf(Pod, platform);
const kinds = [pods, resourceOf(Node, platform), resourceOf(Namespace, platform)];
const names = ["x", "y", "z", "a", "b"];

it("a view allows exactly what the reference implementation allows to get, and its parts have exactly these objects", async () => {
  const run = fc.tuple(
    fc.array(step, { maxLength: 60, size: "max" }),
    who,
    fc.constantFrom(...kinds),
    fc.constantFrom("", "a"),
  );
  const property = fc.asyncProperty(run, async ([steps, asker, resource, scope]) => {
    const index = new RbacIndex(platform);
    const reference = new ReferenceRbac();
    for (const one of steps) apply(index, reference, one);
    const namespace = resource.namespaced ? scope : "";
    const about = { resource: resource.name, namespace };
    const view = await userView(chainOver(index), ask(asker, "list", about), resource, asGet);
    const namespaces = !resource.namespaced ? [""] : namespace === "" ? ["a", "b", "c"] : [namespace];
    for (const objectNamespace of namespaces) {
      for (const name of names) {
        const scoped = resource.name === "namespaces" ? name : objectNamespace;
        const get = ask(asker, "get", { resource: resource.name, namespace: scoped, name });
        const { allowed } = reference.decide(get);
        expect(await view.allows(objectNamespace, name)).toBe(allowed);
        if (view.everything) expect(allowed).toBe(true);
        const part = view
          .parts(1000)
          ?.filter((one) => one.namespace === objectNamespace && (one.name ?? name) === name);
        if (part !== undefined) expect(part).toHaveLength(allowed ? 1 : 0);
      }
    }
  });
  await fc.assert(property, { numRuns: effort(200, 600) });
});

it("long lists of names are shared by the namespaces of a ClusterRole, and lists of several roles are joined", async () => {
  const index = new RbacIndex(platform);
  const long = Array.from({ length: 300 }, (_, i) => `n${i}`);
  const rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
  index.putClusterRole("long", { rules: [{ ...rule, resourceNames: long }] });
  index.putClusterRole("short", { rules: [{ ...rule, resourceNames: ["n1", "extra"] }] });
  for (let i = 0; i < 3; i++) {
    for (const name of ["long", "short"]) {
      index.putRoleBinding(`t${i}`, name, { roleRef: clusterRole(name), subjects: [toUser("u")] });
    }
  }
  const scopes = await grantedScopes(index, ask(user("u"), "get"), never);
  expect(scopes.allows("t0", "n299")).toBe(true);
  expect(scopes.allows("t0", "extra")).toBe(true);
  expect(scopes.allows("t0", "n300")).toBe(false);
  expect(scopes.allows("t3", "n1")).toBe(false);
  expect(scopes.parts(1000)).toHaveLength(903);
  expect(scopes.parts(902)).toBeUndefined();
  expect(scopes.partsIn("t1", 301)).toHaveLength(301);
});

it("names that can't be part of a key are in no part of a view", async () => {
  const index = new RbacIndex(platform);
  const resourceNames = ["", "a/b", "ok"];
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames }];
  index.putClusterRole("odd", { rules });
  index.putRoleBinding("t", "odd", { roleRef: clusterRole("odd"), subjects: [toUser("u")] });
  const view = await userView(chainOver(index), ask(user("u"), "list"), pods, asGet);
  expect(view.parts(3)).toEqual([{ namespace: "t", name: "ok" }]);
});

it("a view is refused if an authorizer that can't enumerate may decide, unless an earlier one allows everything", async () => {
  const index = new RbacIndex(platform);
  const webhook = { authorize: () => ({ verdict: "deny" as const, reason: "", evaluationError: "" }) };
  const links = [
    ...chainOver(index).links,
    { name: "Webhook", authorizer: webhook, resolver: undefined, scopes: undefined },
  ];
  const chain = new AuthorizerChain(links);
  await expect(userView(chain, ask(user("u"), "list"), pods, asGet)).rejects.toThrow(
    'parameter view: the authorizer "Webhook" can\'t enumerate',
  );
  index.putClusterRole("all", { rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] });
  index.putClusterRoleBinding("all", { roleRef: clusterRole("all"), subjects: [toUser("u")] });
  const view = await userView(chain, ask(user("u"), "list"), pods, asGet);
  expect(view.everything).toBe(true);
});

it("a view of ABAC policies and of the fixed modes allows what these authorizers allow", async () => {
  const policy = {
    user: fc.constantFrom("", "u"),
    group: fc.constantFrom("", "g"),
    readonly: fc.boolean(),
    namespace: fc.constantFrom("", "a", "b", "*"),
    resource: fc.constantFrom("", "pods", "nodes", "*"),
    apiGroup: fc.constantFrom("", "apps", "*"),
    nonResourcePath: fc.constantFrom("", "*"),
  };
  const modes = fc.constantFrom(["ABAC"], ["AlwaysDeny", "ABAC"], ["ABAC", "AlwaysAllow"]);
  const run = fc.tuple(fc.array(fc.record(policy), { maxLength: 4 }), modes, fc.constantFrom(...kinds));
  const property = fc.asyncProperty(run, async ([policies, names, resource]) => {
    const chain = authorizationChain(names, new RbacIndex(platform), platform, {
      ABAC: new AbacAuthorizer(policies),
    });
    const asker = user("u", "g");
    const view = await userView(chain, ask(asker, "list", { resource: resource.name }), resource, asGet);
    for (const namespace of resource.namespaced ? ["a", "b", "c"] : [""]) {
      const scoped = resource.name === "namespaces" ? "a" : namespace;
      const get = ask(asker, "get", { resource: resource.name, namespace: scoped, name: "a" });
      const { verdict } = await chain.authorize(get);
      expect(await view.allows(namespace, "a")).toBe(verdict === "allow");
      const part = view
        .parts(1000)
        ?.filter((one) => one.namespace === namespace && (one.name ?? "a") === "a");
      if (part !== undefined) expect(part).toHaveLength(verdict === "allow" ? 1 : 0);
    }
  });
  await fc.assert(property, { numRuns: effort(100, 300) });
});

it("an object that the chain decided keeps its result when the list is read again", async () => {
  let allowed = new Set(["x", "z"]);
  const changing: Authorizer & ScopeResolver = {
    authorize: (attributes) => {
      const isAllowed = attributes.kind === "resource" && allowed.has(attributes.name);
      return { verdict: isAllowed ? "allow" : "noOpinion", reason: "", evaluationError: "" };
    },
    scopesFor: () => undefined,
  };
  const link = { name: "Node", authorizer: changing, resolver: undefined, scopes: changing };
  const view = await userView(new AuthorizerChain([link]), ask(user("u"), "list"), pods, asGet);
  const read = () => Promise.all(["x", "y", "z"].map((name) => view.allows("a", name)));
  expect(view.parts(1000)).toBeUndefined();
  expect(await read()).toEqual([true, false, true]);
  allowed = new Set(["y"]);
  expect(await read()).toEqual([true, false, true]);
});
