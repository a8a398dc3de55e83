import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claimStatusPermissions } from "../../src/admission/plugins/claim-status-permissions.ts";
import type { Attributes } from "../../src/authorization/authorizer.ts";
import type { AdmissionRequest } from "../../src/resources/engine/engine.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { ok } from "../api/support.ts";
import { TestServer, type Answer, type Api } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const group = "resource.platform.io";
const claims = `/apis/${group}/v1/namespaces/default/resourceclaims`;
const rbac = "/apis/rbac.authorization.platform.io/v1";
const allocation = { devices: { results: [{ request: "r", driver: "d.x", pool: "p", device: "1" }] } };
const states = [{ driver: "d.x", pool: "p", device: "1", data: { a: 1 } }];

/** Starts a server in which the user `driver` may write the status of claims. */
async function start(release: "1.35" | "1.37", featureGates = ""): Promise<TestServer> {
  const folder = temporaryFolder();
  const tokenAuthFile = path.join(folder.path, "tokens");
  writeFileSync(tokenAuthFile, "driver,driver,1\n");
  const server = await TestServer.start({ release, featureGates, tokenAuthFile, controllers: [] });
  folder.remove();
  await grant(server.admin, "base", ["get", "patch", "update"], ["resourceclaims", "resourceclaims/status"]);
  const requests = [{ name: "r", exactly: { deviceClassName: "c.x" } }];
  await ok(server.admin.post(claims, { metadata: { name: "c" }, spec: { devices: { requests } } }));
  return server;
}

async function grant(admin: Api, name: string, verbs: string[], resources: string[]): Promise<void> {
  const rules = [{ apiGroups: [group], verbs, resources }];
  await ok(admin.post(`${rbac}/clusterroles`, { metadata: { name }, rules }));
  const roleRef = { apiGroup: "rbac.authorization.platform.io", kind: "ClusterRole", name };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.platform.io", name: "driver" }];
  await ok(admin.post(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }));
}

const refusals = ({ status, body }: Answer): unknown[] => [
  status,
  ...((body["details"] as { causes?: { field: string; message: string }[] } | undefined)?.causes ?? []).map(
    ({ field, message }) => `${field}: ${message.slice(0, message.indexOf(" is forbidden"))}`,
  ),
];

describe("permissions for parts of the status of claims", () => {
  let server: TestServer;
  let driver: Api;
  beforeAll(async () => {
    server = await start("1.37");
    driver = server.as("driver");
  });
  afterAll(() => server.close());

  const write = (status: object) => driver.patch(`${claims}/c/status`, { status });

  test("an allocation needs the verb for resourceclaims/binding", async () => {
    expect(refusals(await write({ allocation }))).toEqual([
      422,
      `status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="patch" permission: resourceclaims.${group}`,
    ]);
    await grant(server.admin, "binding", ["patch"], ["resourceclaims/binding"]);
    await ok(write({ allocation }));
    const { body } = await ok(driver.get(`${claims}/c`));
    const reservedFor = [{ resource: "pods", name: "p", uid: "u" }];
    const status = { ...(body["status"] as object), reservedFor };
    const replaced = await driver.put(`${claims}/c/status`, { ...body, status });
    expect(String(refusals(replaced)[1])).toContain('verb="update"');
  });

  test("states of devices need the verb for resourceclaims/driver", async () => {
    expect(refusals(await write({ devices: states }))).toEqual([
      422,
      `status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission: resourceclaims.${group} "d.x"`,
    ]);
    await grant(server.admin, "driver", ["arbitrary-node:patch"], ["resourceclaims/driver"]);
    await ok(write({ devices: states }));
    await ok(write({ devices: null }));
  });
});

test.each([
  ["1.35", ""],
  ["1.37", "DRAResourceClaimGranularStatusAuthorization=false"],
] as const)("release %s with gates %j allows them with the verb for the status", async (release, gates) => {
  const server = await start(release, gates);
  try {
    await ok(server.as("driver").patch(`${claims}/c/status`, { status: { allocation, devices: states } }));
  } finally {
    await server.close();
  }
});

describe("a service account", () => {
  const node = { key: "metadata.name", operator: "In", values: ["n"] };
  const onNode = (...matchFields: object[]) => ({
    ...allocation,
    nodeSelector: { nodeSelectorTerms: [{ matchFields }] },
  });
  test.each([
    ["of the allocated node", onNode(node), ["n"], ["associated-node:update", "arbitrary-node:update"]],
    ["of another node", onNode(node), ["m"], ["arbitrary-node:update"]],
    ["of two nodes", onNode(node), ["n", "m"], ["arbitrary-node:update"]],
    ["with an allocation of two fields", onNode(node, node), ["n"], ["arbitrary-node:update"]],
    ["with an allocation of no node", allocation, ["n"], ["arbitrary-node:update"]],
  ])("%s is asked for %j", async (_title, allocated, nodes, expected) => {
    const verbs: string[] = [];
    const plugin = claimStatusPermissions(
      {
        authorize(attributes: Attributes) {
          verbs.push(attributes.verb);
          return { verdict: "noOpinion", reason: "", evaluationError: "" };
        },
      },
      kubernetes,
    );
    const extra = { "authentication.kubernetes.io/node-name": nodes };
    const user = { name: "system:serviceaccount:default:driver", uid: "", groups: [], extra };
    const resource = {
      group: "resource.k8s.io",
      version: "v1",
      kind: { name: "ResourceClaim", resource: "resourceclaims" },
    };
    const target = { resource, namespace: "default", name: "c", subresource: "status" };
    const request = {
      user,
      target,
      requestResource: resource,
      options: {},
      object: { status: { allocation: allocated, devices: states } },
      live: { status: { allocation: allocated } },
    } as unknown as AdmissionRequest;
    await expect(plugin.validate!(request)).rejects.toThrow("status.devices");
    expect(verbs).toEqual(expected);
  });
});
