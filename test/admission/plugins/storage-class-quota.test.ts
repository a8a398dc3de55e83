import { expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { useServer } from "../../support/use-server.ts";

const server = useServer({ vocabulary: "kubernetes" });

test("a quota for a storage class is counted and enforced under the group storage.k8s.io", async () => {
  const below = "/api/v1/namespaces/default";
  const name = "gold.storageclass.storage.k8s.io/requests.storage";
  const quota = { metadata: { name: "q" }, spec: { hard: { [name]: "3Gi" } } };
  await ok(server.admin.post(`${below}/resourcequotas`, quota));
  await expect
    .poll(async () => (await server.admin.get(`${below}/resourcequotas/q`)).body.status?.used)
    .toEqual({ [name]: "0" });
  const claim = (claimName: string, storage: string, storageClassName = "gold") => ({
    metadata: { name: claimName },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, storageClassName },
  });
  const claims = `${below}/persistentvolumeclaims`;
  await ok(server.admin.post(claims, claim("a", "2Gi")));
  const refused = await server.admin.post(claims, claim("b", "2Gi"));
  expect([refused.status, refused.body.message]).toEqual([
    403,
    expect.stringContaining(`used: ${name}=2Gi, limited: ${name}=3Gi`),
  ]);
  await ok(server.admin.post(claims, claim("b", "2Gi", "silver")));
});
