import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { rejected } from "./support.ts";
import { blockOf } from "../../support/pages.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** The example configuration in `docs/pod-security.md`. */
const documented = blockOf("docs/pod-security.md", "yaml limited-resources");

/** Starts a server with a configuration of the ResourceQuota plugin. */
function configured(configuration: string): Promise<TestServer> {
  const file = path.join(folder.path, "quota.yaml");
  writeFileSync(file, configuration);
  const main = path.join(folder.path, "admission.yaml");
  writeFileSync(
    main,
    [
      "apiVersion: apiserver.config.platform.io/v1",
      "kind: AdmissionConfiguration",
      "plugins: [{ name: ResourceQuota, path: quota.yaml }]",
    ].join("\n"),
  );
  return TestServer.start({ admissionConfigurationFile: main });
}

const at = (resource: string) => `/api/v1/namespaces/default/${resource}`;
const claim = (name: string, storageClassName: string) => ({
  metadata: { name },
  spec: {
    storageClassName,
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
  },
});
const pod = (name: string, priorityClassName: string) => ({
  metadata: { name },
  spec: { priorityClassName, containers: [{ name: "c", image: "example.com/i:1" }] },
});

test("a limited resource returns 403 without a quota, and is created when a quota covers it", async () => {
  const server = await configured(documented);
  const { admin } = server;
  const gold = "gold.storageclass.storage.platform.io/requests.storage";
  try {
    await rejected(
      admin.post(at("persistentvolumeclaims"), claim("a", "gold")),
      `insufficient quota to consume: ${gold}`,
    );
    await ok(admin.post(at("persistentvolumeclaims"), claim("b", "silver")));
    await ok(
      admin.post(at("resourcequotas"), { metadata: { name: "other" }, spec: { hard: { pods: "1" } } }),
    );
    await rejected(admin.post(at("persistentvolumeclaims"), claim("a", "gold")), gold);
    await ok(
      admin.post(at("resourcequotas"), { metadata: { name: "gold" }, spec: { hard: { [gold]: "1Gi" } } }),
    );
    await ok(admin.post(at("persistentvolumeclaims"), claim("a", "gold")));
    await rejected(admin.post(at("persistentvolumeclaims"), claim("c", "gold")), "exceeded quota: gold");
  } finally {
    await server.close();
  }
});

test("a Pod in a limited scope returns 403 when no quota has that scope", async () => {
  const scope = "{ scopeName: PriorityClass, operator: In, values: [high] }";
  const server = await configured(
    [
      "apiVersion: apiserver.config.platform.io/v1",
      "kind: ResourceQuotaConfiguration",
      `limitedResources: [{ resource: pods, matchScopes: [${scope}] }]`,
    ].join("\n"),
  );
  const { admin } = server;
  try {
    for (const [name, value] of Object.entries({ high: 10, low: 1 })) {
      await ok(admin.post("/apis/scheduling.platform.io/v1/priorityclasses", { metadata: { name }, value }));
    }
    await rejected(admin.post(at("pods"), pod("a", "high")), "insufficient quota to match these scopes: ");
    await ok(admin.post(at("pods"), pod("b", "low")));
    const matchExpressions = [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }];
    const spec = { hard: { pods: "1" }, scopeSelector: { matchExpressions } };
    await ok(admin.post(at("resourcequotas"), { metadata: { name: "high" }, spec }));
    await ok(admin.post(at("pods"), pod("a", "high")));
    await rejected(admin.post(at("pods"), pod("c", "high")), "exceeded quota: high");
  } finally {
    await server.close();
  }
});

describe("the server does not start with an invalid configuration", () => {
  const head = "kind: ResourceQuotaConfiguration\napiVersion: apiserver.config.platform.io/v1\n";
  test.each([
    [
      "without a resource",
      `${head}limitedResources: [{ matchContains: [x] }]`,
      /limitedResources\[0\]\.resource/,
    ],
    ["of another kind", "kind: Other\napiVersion: apiserver.config.platform.io/v1", /kind/],
    ["of another shape", `${head}limitedResources: 3`, /limitedResources/],
  ])("%s", async (_, text, message) => {
    await expect(configured(text)).rejects.toThrow(message);
  });
});
