import path from "node:path";
import { it } from "vitest";
import { createServer, type ApiObject } from "../../src/index.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const folder = useTemporaryFolders();

it("a server that becomes leader updates the status of quotas that it has loaded before", async () => {
  const storage = { engine: "embedded", dir: path.join(folder(), "store") } as const;
  const leader = await createServer({ port: false, storage });
  await using next = await createServer({ port: false, storage });
  const { client } = next;
  const quota = { apiVersion: "v1", kind: "ResourceQuota", namespace: "shop", name: "quota" } as const;
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.create({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { namespace: "shop", name: "quota" },
    spec: { hard: { configmaps: "5" } },
  });
  // Admission loads the quotas of this server.
  await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name: "a" } });
  const used = (expected: string) => (object: ApiObject | undefined) =>
    (object as { status?: { used?: Record<string, string> } } | undefined)?.status?.used?.["configmaps"] ===
    expected;
  const live = await client.waitFor(quota, used("1"));
  await leader.close();
  // No server leads now, so no controller sees this change.
  await client.update({ ...live!, status: { ...live!.status, used: { configmaps: "3" } } }, "status");
  await client.waitFor(quota, used("1"), { timeoutMs: 20_000 });
});
