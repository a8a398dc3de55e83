import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Release } from "../../src/base/releases.ts";
import { ok } from "../api/support.ts";
import { TestServer, type Api } from "../support/api.ts";
import { appliesTo, Judge, readScenarios } from "../support/scenarios.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Files in the order in which their scenarios run. */
const files = [
  "node-agents.yaml",
  "audiences.yaml",
  "claims.yaml",
  "roles.yaml",
  "impersonation.yaml",
  "tokens.yaml",
  "requests.yaml",
];

const nodeAgents = ["odd", "system:node:node1", "system:node:node2"];
const users = ["alice", "bob", "impersonator", "of-namespace", "of-services", "reader", "bo", "cy"];
const boundUsers =
  "pod-reader job-writer job-writer-here only-binder any-binder any-binder-here updater patcher by-binding by-role";

/** Policies of attribute-based access control. */
const everything = { namespace: "*", resource: "*", apiGroup: "*", nonResourcePath: "*" };
const policies = [
  { user: "alice", ...everything },
  { user: "system:serviceaccount:default:default", ...everything },
  { user: "of-namespace", namespace: "allowed", resource: "*", apiGroup: "*" },
  { user: "of-services", namespace: "*", resource: "services", apiGroup: "*" },
  { user: "reader", readonly: true, namespace: "*", resource: "*", apiGroup: "*" },
];
const policyLine = (spec: object) =>
  JSON.stringify({ apiVersion: "abac.authorization.kubernetes.io/v1beta1", kind: "Policy", spec });

async function grant(admin: Api, name: string, verbs: string[], group: string, resources: string[]) {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const rules = [{ verbs, apiGroups: [group], resources }];
  await ok(admin.post(`${rbac}/clusterroles`, { metadata: { name }, rules }));
  const subjects = [{ kind: "User", name }];
  await ok(admin.post(`${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects }));
}

describe.each<Release>(["1.26", "1.37"])("the verdicts of kube-apiserver %s", (release) => {
  const folder = temporaryFolder();
  let server: TestServer;
  let judge: Judge;

  beforeAll(async () => {
    const authorizationPolicyFile = path.join(folder.path, "policies.jsonl");
    writeFileSync(authorizationPolicyFile, policies.map(policyLine).join("\n"));
    server = await TestServer.start({
      release,
      vocabulary: "kubernetes",
      authorizationModes: ["Node", "RBAC", "ABAC"],
      authorizationPolicyFile,
      enabledAdmissionPlugins: ["NodeRestriction"],
      disabledAdmissionPlugins: ["ServiceAccount", "TaintNodesByCondition"],
      enabledControllers: [],
      authentication: {
        apiAudiences: ["api"],
        bootstrapTokens: true,
        serviceAccounts: {
          issuers: ["https://issuer.example"],
          jwksUri: "https://issuer.example/keys",
          maxExpirationMs: 7200 * 1000,
        },
      },
      users: [
        ...nodeAgents.map((name) => ({ name, groups: ["system:nodes"] })),
        ...[...users, ...boundUsers.split(" ")].map((name) => ({ name })),
        { name: "monitor", groups: ["system:monitoring"] },
      ],
    });
    await grant(server.admin, "impersonator", ["impersonate"], "", ["users", "groups", "serviceaccounts"]);
    judge = new Judge(server, release);
  });
  afterAll(async () => {
    await server.close();
    folder.remove();
  });

  const present = files
    .map(
      (file) =>
        [
          file,
          readScenarios(new URL(`verdicts/${file}`, import.meta.url)).filter((scenario) =>
            appliesTo(scenario, release),
          ),
        ] as const,
    )
    .filter(([, scenarios]) => scenarios.length > 0);
  describe.each(present)("%s", (_file, scenarios) => {
    test.each(scenarios)("$name", async (scenario) => {
      expect(await judge.differences(scenario)).toEqual([]);
    });
  });
});
