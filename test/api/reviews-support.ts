import { useServer } from "../support/use-server.ts";
import { beforeAll } from "vitest";
import { type Api } from "../support/api.ts";
import {
  AUTHN,
  AUTHZ,
  RBAC,
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

export const SAR = `${AUTHZ}/subjectaccessreviews`;
export const SSAR = `${AUTHZ}/selfsubjectaccessreviews`;
export const SSRR = `${AUTHZ}/selfsubjectrulesreviews`;
export const LSAR = `${AUTHZ}/namespaces/team/localsubjectaccessreviews`;
export const SSR = `${AUTHN}/selfsubjectreviews`;
export const pods = { verb: "get", resource: "pods", namespace: "team" };

/** Starts a server with roles for `ann`, `devs`, `scaler` and `root`. */
export function useReviewServer() {
  const server = useServer({
    users: [{ name: "ann", uid: "u-1", groups: ["devs", "ops"] }, { name: "bob" }],
    runtimeConfig: "authentication.platform.io/v1alpha1",
  });
  beforeAll(async () => {
    for (const name of ["team", "other"]) await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
    const ns = `${RBAC}/namespaces/team`;
    await ok(
      server.admin.post(
        `${ns}/roles`,
        role("pods", [
          podReader,
          { verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"] },
        ]),
      ),
    );
    await ok(
      server.admin.post(`${ns}/rolebindings`, roleBinding("ann-pods", refTo("Role", "pods"), [user("ann")])),
    );
    await ok(
      server.admin.post(
        `${ns}/rolebindings`,
        roleBinding("devs-edit", refTo("ClusterRole", "edit"), [group("devs")]),
      ),
    );
    await grant(server.admin, "ann", [
      { verbs: ["get"], nonResourceURLs: ["/metrics", "/logs/*"] },
      { verbs: ["list"], apiGroups: ["apps"], resources: ["*"] },
    ]);
    await grant(server.admin, "scaler", [{ verbs: ["update"], apiGroups: ["*"], resources: ["*/scale"] }]);
    await grant(server.admin, "root", [
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      { verbs: ["*"], nonResourceURLs: ["*"] },
    ]);
  });
  const allowed = async (spec: object, path = SAR, api: Api = server.admin) =>
    (await ok(api.post(path, { spec }))).body.status.allowed as boolean;
  return { server, allowed };
}
