import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { createServer, type ApiObject, type CreateServerOptions, type Server } from "../../src/index.ts";
import { ManualClock } from "../api/support.ts";

const kinds = [
  ["v1", "Namespace"],
  ["v1", "LimitRange"],
  ["v1", "ServiceAccount"],
  ["apiregistration.platform.io/v1", "APIService"],
  ["rbac.authorization.platform.io/v1", "ClusterRole"],
  ["rbac.authorization.platform.io/v1", "ClusterRoleBinding"],
  ["rbac.authorization.platform.io/v1", "Role"],
  ["rbac.authorization.platform.io/v1", "RoleBinding"],
  ["flowcontrol.apiserver.platform.io/v1beta3", "FlowSchema"],
  ["flowcontrol.apiserver.platform.io/v1beta3", "PriorityLevelConfiguration"],
  ["scheduling.platform.io/v1", "PriorityClass"],
] as const;

async function defaultsOf(server: Server): Promise<ApiObject[]> {
  const lists = await Promise.all(
    kinds.map(([apiVersion, kind]) =>
      server.client.list({ apiVersion: apiVersion as string, kind: kind as string }),
    ),
  );
  return lists.flatMap(({ items }) => items);
}

async function withServer<T>(
  options: CreateServerOptions,
  use: (server: Server) => T | Promise<T>,
): Promise<T> {
  const server = await createServer({ port: false, ...options });
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

/** The text of objects without what differs between servers. */
function comparable(objects: readonly object[], time: string): string {
  return JSON.stringify(objects)
    .replaceAll(time, "now")
    .replaceAll(/"uid":"[0-9a-f-]{36}"/g, '"uid":""')
    .replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":""');
}

/** An option of no other test, so that the first server has to write the objects one by one. */
const notPrepared = (seconds: number): CreateServerOptions => ({ tolerationSeconds: { notReady: seconds } });

test("options of users, connections and logs have no influence on the default objects", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-prepared-"));
  const tokenAuthFile = path.join(folder, "tokens.csv");
  const auditPolicyFile = path.join(folder, "policy.yaml");
  const authorizationPolicyFile = path.join(folder, "policy.jsonl");
  writeFileSync(tokenAuthFile, "token,user,uid\n");
  writeFileSync(authorizationPolicyFile, "");
  writeFileSync(
    auditPolicyFile,
    "{apiVersion: audit.platform.io/v1, kind: Policy, rules: [{level: Metadata}]}",
  );
  const ignored: CreateServerOptions = {
    port: 0,
    tokenAuthFile,
    authorizationPolicyFile,
    anonymousAuth: false,
    authentication: { bootstrapTokens: true },
    audit: { policyFile: auditPolicyFile },
    connections: { allowLoopback: true },
    aggregation: { endpointRouting: true },
    clusterSigning: { durationMs: 3_600_000 },
    console: false,
    extraHosts: ["other.example"],
    retentionMs: 60_000,
    eventLifeMs: 60_000,
    serviceNodePortRange: "31000-31999",
    views: "list",
    maxConnections: 17,
  };
  const time = "2031-01-31T10:00:00Z";
  const objectsWith = async (options: CreateServerOptions) =>
    comparable(await withServer({ ...options, clock: clockAt(time) }, defaultsOf), time);
  try {
    expect(await objectsWith({ ...ignored, ...notPrepared(418) })).toBe(await objectsWith(notPrepared(419)));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a later server of the process has the same default objects with other uids and its own time", async () => {
  const options = notPrepared(417);
  const times = ["2031-01-31T10:00:00Z", "2032-02-29T11:22:33Z", "2033-03-03T03:03:03Z"];
  const all: (readonly ApiObject[])[] = [];
  for (const time of times) all.push(await withServer({ ...options, clock: clockAt(time) }, defaultsOf));
  const [first, ...later] = all.map((objects, index) => comparable(objects, times[index]!));
  expect(first).toContain('"name":"cluster-admin"');
  expect(first).not.toMatch(/20\d\d-\d\d-\d\dT/);
  for (const one of later) expect(one).toBe(first);
  const uids = all.flatMap((objects) => objects.map(({ metadata }) => metadata.uid));
  expect(new Set(uids).size).toBe(uids.length);
});

test("servers with a seed have the same uids each time, also after servers without one", async () => {
  const uids = () =>
    withServer({ seed: 4711 }, async (server) =>
      (await defaultsOf(server)).map(({ metadata }) => metadata.uid),
    );
  await withServer({}, () => 0);
  const first = await uids();
  expect(await uids()).toEqual(first);
});

test("selectors find prepared objects, and preconditions compare their uids", async () => {
  await withServer({}, () => 0);
  await withServer({}, async ({ client }) => {
    const roles = { apiVersion: "rbac.authorization.platform.io/v1", kind: "ClusterRole" } as const;
    const labelSelector = "platform.io/bootstrapping=rbac-defaults";
    expect((await client.list({ ...roles, labelSelector })).items.length).toBeGreaterThan(30);
    const { metadata } = await client.get({ ...roles, name: "view" });
    const other = { uid: "00000000-0000-4000-8000-000000000000" };
    await expect(client.delete({ ...roles, name: "view" }, other)).rejects.toMatchObject({ code: 409 });
    await client.update({ ...(await client.get({ ...roles, name: "view" })), rules: [] });
    await client.delete({ ...roles, name: "view" }, { uid: metadata.uid! });
  });
});

test("servers with other kinds have other default objects", async () => {
  const count = async (options: CreateServerOptions) => (await withServer(options, namesOf)).length;
  const namesOf = async ({ client }: Server) =>
    (await client.list({ apiVersion: "scheduling.platform.io/v1", kind: "PriorityClass" })).items;
  expect(await count({})).toBe(2);
  expect(await count({})).toBe(2);
  const runtimeConfig = "flowcontrol.apiserver.platform.io/v1beta3=false";
  await withServer({ runtimeConfig }, async ({ client }) => {
    await expect(
      client.list({ apiVersion: "flowcontrol.apiserver.platform.io/v1beta3" as string, kind: "FlowSchema" }),
    ).rejects.toMatchObject({ code: 404 });
  });
});

test("each server publishes its own authorities", async () => {
  const trust = {
    apiVersion: "v1",
    kind: "ConfigMap",
    namespace: "platform-system",
    name: "extension-apiserver-authentication",
  } as const;
  for (let turn = 0; turn < 2; turn++) {
    await withServer({ port: 0 }, async ({ client, caCertificate }) => {
      expect((await client.get(trust)).data?.["client-ca-file"]?.trim()).toBe(caCertificate?.trim());
    });
  }
});

function clockAt(time: string): ManualClock {
  return new ManualClock(Date.parse(time));
}
