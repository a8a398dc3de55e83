import { beforeAll } from "vitest";
import { useServer } from "../support/use-server.ts";
import { AUTHZ, RBAC, configMap, namespace, ok, type PolicyRule } from "./support.ts";

const users = ["ann", "bob", "carl", "dora", "ed", "fay", "gus", "hal", "ida", "jo", "kim"];
export const inA = `${RBAC}/namespaces/a`;
export const reads = (resource: string, verbs = ["get", "list"]): PolicyRule => ({
  verbs,
  apiGroups: [""],
  resources: [resource],
});

/** Starts a server with the namespaces `a` and `b` and a token for each user. */
export function useRbacServer() {
  const server = useServer({
    users: users.map((name) => ({ name, groups: name === "ann" ? ["staff"] : [] })),
  });
  beforeAll(async () => {
    for (const name of ["a", "b"]) {
      await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
      await ok(server.admin.post(`/api/v1/namespaces/${name}/configmaps`, configMap("one")));
    }
  });
  const can = async (spec: object): Promise<{ allowed: boolean; evaluationError?: string }> =>
    (await ok(server.admin.post(`${AUTHZ}/subjectaccessreviews`, { spec }))).body.status;
  return { server, can };
}
