import * as fc from "fast-check";
import type { Attributes } from "../../src/authorization/authorizer.ts";
import type { BindingObject, PolicyRule } from "../../src/authorization/rbac/policy.ts";
import type { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { rbacGroup } from "./support.ts";

const some = (...values: string[]) => fc.subarray(values, { minLength: 1 });
const maybe = (...values: string[]) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.subarray(values));
export const namespaces = ["a", "b"];

const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      verbs: some("get", "list", "*"),
      apiGroups: some("", "apps", "*"),
      resources: some("pods", "pods/log", "*/log", "*/scale", "*"),
      resourceNames: maybe("x", "y", ""),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      verbs: some("get", "*"),
      nonResourceURLs: some("/a", "/a/*", "/b/*", "*", "/a/b/*", "/a**"),
    }),
  },
);
const roleName = fc.constantFrom("r1", "r2", "r3", "r4", "r5", "r6", "r7");
const subject = fc.constantFrom(
  { kind: "User", name: "u1" },
  { kind: "User", name: "u2" },
  { kind: "Group", name: "g1" },
  { kind: "Group", name: "u1" },
  { kind: "Group", name: "g1", namespace: "a" },
  { kind: "ServiceAccount", name: "sa", namespace: "a" },
  { kind: "ServiceAccount", name: "sa" },
  { kind: "Robot", name: "u1" },
);
export const step = fc.oneof(
  fc.record({
    do: fc.constant("putRole"),
    ns: fc.constantFrom("", ...namespaces),
    name: roleName,
    rules: fc.array(rule, { maxLength: 4 }),
  }),
  fc.record({ do: fc.constant("removeRole"), ns: fc.constantFrom("", ...namespaces), name: roleName }),
  fc.record({
    do: fc.constant("putBinding"),
    ns: fc.constantFrom("", ...namespaces),
    name: fc.nat(11).map((n) => `b${n}`),
    kind: fc.constantFrom("ClusterRole", "Role"),
    role: roleName,
    subjects: fc.array(subject, { maxLength: 3 }),
  }),
  fc.record({
    do: fc.constant("removeBinding"),
    ns: fc.constantFrom("", ...namespaces),
    name: fc.nat(11).map((n) => `b${n}`),
  }),
);
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

export const who = fc.constantFrom(
  { name: "u1", uid: "", groups: [] as string[], extra: {} },
  { name: "u2", uid: "", groups: ["g1", "u1"], extra: {} },
  { name: "system:serviceaccount:a:sa", uid: "", groups: ["g2"], extra: {} },
);
export const question: fc.Arbitrary<Attributes> = fc.oneof(
  fc.record({
    kind: fc.constant("resource" as const),
    user: who,
    verb: fc.constantFrom("get", "list", "watch", "*"),
    group: fc.constantFrom("", "apps", "batch", "*"),
    version: fc.constantFrom("v1", "*"),
    resource: fc.constantFrom("pods", "nodes", "*"),
    subresource: fc.constantFrom("", "log", "scale"),
    namespace: fc.constantFrom("", "a", "b"),
    name: fc.constantFrom("", "x", "z"),
  }),
  fc.record({
    kind: fc.constant("nonResource" as const),
    user: who,
    verb: fc.constantFrom("get", "post"),
    path: fc.constantFrom("/a", "/a/", "/a/b", "/a/b/c", "/b", "/abc", ""),
  }),
);

/** Reference implementation of RBAC: evaluates every binding and rule without an index. */
export class ReferenceRbac {
  readonly roles = new Map<string, readonly PolicyRule[]>();
  readonly bindings = new Map<string, { ns: string; object: BindingObject }>();

  decide(asked: Attributes): { allowed: boolean; failed: boolean } {
    let allowed = false;
    let failed = false;
    for (const { ns, object } of this.bindings.values()) {
      if (ns !== "" && (asked.kind === "nonResource" || asked.namespace !== ns)) continue;
      const { roleRef } = object;
      const subjects = object.subjects ?? [];
      const sound = subjects.filter(
        (one) => one.kind === "ServiceAccount" || (one.kind !== "Robot" && !one.namespace),
      );
      const matches = (one: (typeof subjects)[number]) => {
        if (one.kind === "User") return one.name === asked.user.name;
        if (one.kind === "Group") return asked.user.groups.includes(one.name);
        const home = one.namespace ?? ns;
        return home !== "" && asked.user.name === `system:serviceaccount:${home}:${one.name}`;
      };
      const bound = sound.some(matches);
      const named = subjects.some((one) =>
        one.kind === "Robot"
          ? one.name === asked.user.name || asked.user.groups.includes(one.name)
          : matches(one),
      );
      if (sound.length < subjects.length && named) failed = true;
      if (!bound) continue;
      const rules = this.roles.get(roleRef.kind === "Role" ? `${ns}/${roleRef.name}` : `/${roleRef.name}`);
      // A ClusterRoleBinding can't refer to a Role.
      if (rules === undefined || (roleRef.kind === "Role" && ns === "")) failed = true;
      else if (rules.some((one) => allows(one, asked))) allowed = true;
    }
    return { allowed, failed };
  }
}

function allows(one: PolicyRule, asked: Attributes): boolean {
  const has = (list: readonly string[] | null | undefined, ...values: string[]) =>
    (list ?? []).some((entry) => values.includes(entry));
  if (!has(one.verbs, "*", asked.verb)) return false;
  if (asked.kind === "nonResource") {
    return (one.nonResourceURLs ?? []).some(
      (url) => url === asked.path || (url.endsWith("*") && asked.path.startsWith(url.replace(/\*+$/, ""))),
    );
  }
  const { resource, subresource } = asked;
  const names = subresource === "" ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`];
  const nameOk = (one.resourceNames ?? []).length === 0 || has(one.resourceNames, asked.name);
  return has(one.apiGroups, "*", asked.group) && has(one.resources, "*", ...names) && nameOk;
}

export function apply(index: RbacIndex, reference: ReferenceRbac, done: Step): void {
  const { ns, name } = done;
  const key = `${ns}/${name}`;
  if ("rules" in done) {
    reference.roles.set(key, done.rules);
    if (ns === "") index.putClusterRole(name, { rules: done.rules });
    else index.putRole(ns, name, { rules: done.rules });
  } else if ("subjects" in done) {
    const object = {
      roleRef: { apiGroup: rbacGroup, kind: done.kind, name: done.role },
      subjects: done.subjects,
    };
    reference.bindings.set(key, { ns, object });
    if (ns === "") index.putClusterRoleBinding(name, object);
    else index.putRoleBinding(ns, name, object);
  } else if (done.do === "removeRole") {
    reference.roles.delete(key);
    if (ns === "") index.removeClusterRole(name);
    else index.removeRole(ns, name);
  } else {
    reference.bindings.delete(key);
    if (ns === "") index.removeClusterRoleBinding(name);
    else index.removeRoleBinding(ns, name);
  }
}
