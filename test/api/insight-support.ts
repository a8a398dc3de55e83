import { beforeAll } from "vitest";
import { useServer } from "../support/use-server.ts";
import {
  RBAC,
  account,
  clusterRoleBinding,
  grant,
  group,
  namespace,
  ok,
  podReader,
  refTo,
  role,
  roleBinding,
  user,
} from "./support.ts";

export const INSIGHT = "/apis/insight.platform.io/v1";
export const EXPLAIN = `${INSIGHT}/accessexplanations`;
export const SAR = "/apis/authorization.platform.io/v1/subjectaccessreviews";
export const team = `${RBAC}/namespaces/team`;
export const pods = { verb: "get", resource: "pods", namespace: "team" };

/** Starts a server with bindings to explain in the namespace `team`. */
export function useInsightServer() {
  const server = useServer({ users: [{ name: "ann" }, { name: "viewer" }, { name: "scout" }] });
  beforeAll(async () => {
    for (const name of ["team", "other"]) await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
    await ok(server.admin.post(`${team}/roles`, role("readers", [podReader])));
    const subjects = [user("ann"), group("devs"), account("team", "robot")];
    await ok(
      server.admin.post(`${team}/rolebindings`, roleBinding("readers", refTo("Role", "readers"), subjects)),
    );
    const gone = roleBinding("gone", refTo("Role", "gone"), [user("ann")]);
    await ok(server.admin.post(`${team}/rolebindings`, gone));
    const odd = { ...user("ann"), namespace: "team" };
    await ok(
      server.admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("odd", refTo("ClusterRole", "view"), [odd]),
      ),
    );
    await ok(
      server.admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("viewer", refTo("ClusterRole", "system:insight-viewer"), [user("viewer")]),
      ),
    );
    await grant(server.admin, "scout", [
      { verbs: ["create"], apiGroups: ["authorization.platform.io"], resources: ["*"] },
    ]);
  });
  const explain = async (spec: object, api = server.admin) =>
    (await ok(api.post(EXPLAIN, { spec }))).body.status;
  return { server, explain };
}
