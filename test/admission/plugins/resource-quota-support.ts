import { namespace, ok } from "../../api/support.ts";
import { useServer } from "../../support/use-server.ts";

export const at = (where: string, resource: string) => `/api/v1/namespaces/${where}/${resource}`;
export const quotasIn = (where: string) => at(where, "resourcequotas");
export const quota = (name: string, hard: object, scopes: object = {}) => ({
  metadata: { name },
  spec: { hard, ...scopes },
});
export const container = (name: string, resources: object = {}) => ({
  name,
  image: "example.com/i:1",
  resources,
});
export const pod = (name: string, resources: object = {}, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [container("c", resources)], ...spec },
});
export const configMap = (name: string) => ({ metadata: { name } });
export const gi = (amount: number) => `${amount}Gi`;

/** Starts a server with the quota controller. */
export function useQuotaServer() {
  const server = useServer({ users: [{ name: "maker" }], enabledControllers: ["resourcequota"] });
  let count = 0;
  /** A namespace of its own with one quota. */
  async function limited(hard: object, scopes: object = {}): Promise<string> {
    const name = `quota-${++count}`;
    await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
    await ok(
      server.admin.post(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } }),
    );
    await ok(server.admin.post(quotasIn(name), quota("quota", hard, scopes)));
    return name;
  }

  /** The status of a namespace's quota, when it is what is expected. */
  const usedIn = async (where: string, name = "quota") =>
    (await ok(server.admin.get(`${quotasIn(where)}/${name}`))).body.status.used;
  return { server, limited, usedIn };
}
