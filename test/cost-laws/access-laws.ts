import type { Answer } from "../support/api.ts";
import { core, creating, entries, members, newName, reviewing, type Law } from "./law.ts";

const rbac = "/apis/rbac.authorization.platform.io/v1";
const rule = (index: number) => ({ apiGroups: [`g${index}.example.com`], resources: ["r"], verbs: ["get"] });
const subject = (index: number) => ({
  kind: "User",
  apiGroup: "rbac.authorization.platform.io",
  name: `u${index}`,
});

/** A request of a user with a cluster role of `count` rules, and one rule that allows to create roles. */
function asUser(
  name: string,
  n: number,
  status: number,
  request: (count: number) => { readonly method: string; readonly path: string; readonly body?: object },
): Law {
  return {
    name,
    n,
    status,
    prepare: async (api, count) => {
      const user = newName();
      const creator = {
        apiGroups: ["rbac.authorization.platform.io"],
        resources: ["clusterroles"],
        verbs: ["create"],
      };
      const rules = [...entries(count, rule), creator];
      const roleRef = { apiGroup: "rbac.authorization.platform.io", kind: "ClusterRole", name: user };
      const subjects = [{ kind: "User", apiGroup: "rbac.authorization.platform.io", name: user }];
      for (const [path, object] of [
        [`${rbac}/clusterroles`, { rules }],
        [`${rbac}/clusterrolebindings`, { roleRef, subjects }],
      ] as const) {
        const created = await api.post(path, { metadata: { name: user }, ...object });
        if (created.status !== 201) throw new Error(`${name}: ${created.text.slice(0, 500)}`);
      }
      const { method, path, body } = request(count);
      const raw = body && JSON.stringify(body);
      const headers = { "impersonate-user": user };
      return (): Promise<Answer> => api.ask(method, path, { headers, ...(raw === undefined ? {} : { raw }) });
    },
  };
}

/** Roles, bindings, reviews, and requests of users with many rules. */
export const accessLaws: readonly Law[] = [
  creating("rules of a role", 2000, `${rbac}/clusterroles`, (n) => ({
    metadata: { name: "r" },
    rules: entries(n, rule),
  })),
  creating("subjects of a binding", 3000, `${rbac}/clusterrolebindings`, (n) => ({
    metadata: { name: "b" },
    roleRef: { apiGroup: "rbac.authorization.platform.io", kind: "ClusterRole", name: "view" },
    subjects: entries(n, subject),
  })),
  asUser("create a role with the rules that the user has", 300, 201, (n) => ({
    method: "POST",
    path: `${rbac}/clusterroles?dryRun=All`,
    body: { metadata: { name: "same" }, rules: entries(n, rule) },
  })),
  asUser("ask for the rules of a user", 2000, 201, () => ({
    method: "POST",
    path: "/apis/authorization.platform.io/v1/selfsubjectrulesreviews",
    body: { spec: { namespace: "default" } },
  })),
  asUser("a forbidden request of a user with many rules", 2000, 403, () => ({
    method: "GET",
    path: `${core}/pods`,
  })),
  reviewing("groups", 4000, "/apis/authorization.platform.io/v1/subjectaccessreviews", (n) => ({
    spec: {
      user: "u",
      groups: entries(n, (i) => `g${i}`),
      resourceAttributes: { verb: "get", resource: "pods" },
    },
  })),
  reviewing("extra", 4000, "/apis/authorization.platform.io/v1/subjectaccessreviews", (n) => ({
    spec: {
      user: "u",
      extra: members(n, (i) => [`v${i}`]),
      resourceAttributes: { verb: "get", resource: "pods" },
    },
  })),
  reviewing("audiences", 4000, "/apis/authentication.platform.io/v1/tokenreviews", (n) => ({
    spec: { token: "t", audiences: entries(n, (i) => `a${i}`) },
  })),
];
