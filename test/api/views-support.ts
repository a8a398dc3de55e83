import type { Answer, Api } from "../support/api.ts";
import {
  RBAC,
  clusterRole,
  clusterRoleBinding,
  ok,
  refTo,
  role,
  roleBinding,
  type PolicyRule,
} from "./support.ts";

/** The objects of a list as `namespace/name`. */
export const keysIn = ({ body }: Answer): string[] =>
  (body.items as { metadata: { namespace?: string; name: string } }[]).map(
    ({ metadata: { namespace = "", name } }) => `${namespace}/${name}`,
  );

/** All chunks of a list. @throws if a token repeats. */
export async function chunksOf(api: Api, path: string): Promise<Answer[]> {
  const chunks: Answer[] = [];
  const tokens = new Set<string>();
  for (let token = ""; ;) {
    const next = token === "" ? "" : `&continue=${encodeURIComponent(token)}`;
    const answer = await ok(api.get(`${path}${next}`));
    chunks.push(answer);
    token = answer.body.metadata.continue ?? "";
    if (token === "") return chunks;
    if (tokens.has(token)) throw new Error(`the list doesn't advance: ${path}${next}`);
    tokens.add(token);
  }
}

/** A grant of rules to a subject: in the whole cluster, or (with a namespace) by a Role or by a ClusterRole bound there. */
export interface Grant {
  readonly name: string;
  readonly namespace: string;
  readonly kind: "Role" | "ClusterRole";
  readonly rules: readonly PolicyRule[];
  readonly subject: object;
}

/** Creates the role and the binding of a grant; returns their paths. */
export async function createGrant(admin: Api, grant: Grant): Promise<string[]> {
  const { name, namespace, kind, rules, subject } = grant;
  const inNamespace = `${RBAC}/namespaces/${namespace}`;
  const roles = kind === "Role" ? `${inNamespace}/roles` : `${RBAC}/clusterroles`;
  const bindings = namespace === "" ? `${RBAC}/clusterrolebindings` : `${inNamespace}/rolebindings`;
  const make = namespace === "" ? clusterRoleBinding : roleBinding;
  await ok(admin.post(roles, kind === "Role" ? role(name, rules) : clusterRole(name, rules)));
  await ok(admin.post(bindings, make(name, refTo(kind, name), [subject])));
  return [`${roles}/${name}`, `${bindings}/${name}`];
}
