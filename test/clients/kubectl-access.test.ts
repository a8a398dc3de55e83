import { expect, it } from "vitest";
import { describeKubectl } from "../support/kubectl.ts";
import { createNamespace, useKubectl } from "./kubectl-support.ts";

/** kubectl manages permissions and reviews access. */
describeKubectl("kubectl auth", (program) => {
  const client = useKubectl(program);

  it("create clusterrole --aggregation-rule: the role gets the aggregated rules", async () => {
    await client.kubectl.ok([
      "create",
      "clusterrole",
      "gathered",
      "--aggregation-rule=example.com/gather=true",
    ]);
    const part = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "part", labels: { "example.com/gather": "true" } },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
    };
    await client.kubectl.ok(["create", "-f", "-"], { input: JSON.stringify(part) });
    await expect
      .poll(async () => (await client.kubectl.json(["get", "clusterrole", "gathered"])).rules, {
        timeout: 10_000,
      })
      .toEqual(part.rules);
  });

  it("set subject: changes the subjects of a binding", async () => {
    await client.kubectl.ok(["create", "clusterrolebinding", "subjects", "--clusterrole=view", "--user=ann"]);
    await client.kubectl.ok(["set", "subject", "clusterrolebinding", "subjects", "--user=bob"]);
    const { subjects } = await client.kubectl.json(["get", "clusterrolebinding", "subjects"]);
    expect(subjects.map((one: { name: string }) => one.name)).toEqual(["ann", "bob"]);
  });

  it("auth can-i: answers for the user, for other users, and as a list", async () => {
    const ns = await createNamespace(client.kubectl, "asking");
    await client.kubectl.ok([
      "create",
      "role",
      "reader",
      "--verb=get",
      "--verb=list",
      "--resource=configmaps",
      "-n",
      ns,
    ]);
    await client.kubectl.ok([
      "create",
      "rolebinding",
      "reader",
      "--role=reader",
      `--serviceaccount=${ns}:robot`,
      "-n",
      ns,
    ]);
    const robot = ["-n", ns, "--token=robots-token"];
    const ask = async (...args: string[]) =>
      (await client.kubectl.run(["auth", "can-i", ...args])).stdout.trim();
    expect(await ask("create", "configmaps")).toBe("yes");
    expect(await ask("get", "configmaps", ...robot)).toBe("yes");
    expect(await ask("delete", "configmaps", ...robot)).toMatch(/^no/);
    expect(await ask("get", "configmaps/one", ...robot)).toBe("yes");
    expect(await ask("get", "/healthz", ...robot)).toBe("yes");
    expect(await ask("get", "/metrics", ...robot)).toMatch(/^no/);
    const list = await ask("--list", ...robot);
    expect(list).toMatch(/^Resources\s+Non-Resource URLs\s+Resource Names\s+Verbs/);
    expect(list).toMatch(/^configmaps\s+\[\]\s+\[\]\s+\[get list\]$/m);
    expect(list).toMatch(/^selfsubjectaccessreviews\.authorization\.k8s\.io\s+\[\]\s+\[\]\s+\[create\]$/m);
    expect(await client.kubectl.fails(["get", "secrets", ...robot])).toMatch(
      /cannot list resource "secrets" in API group ""/,
    );
    await client.kubectl.ok(["delete", "rolebinding", "reader", "-n", ns]);
    expect(await ask("get", "configmaps", ...robot)).toMatch(/^no/);
  });

  it("auth reconcile: adds missing rules and subjects to roles and bindings", async () => {
    const ns = await createNamespace(client.kubectl, "reconciling");
    const text = (verbs: string, user: string) => `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: kept, namespace: ${ns}}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [${verbs}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: kept, namespace: ${ns}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: kept}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: ${user}}
`;
    const reconcile = (verbs: string, user: string) =>
      client.kubectl.ok([
        "auth",
        "reconcile",
        "-n",
        ns,
        "-f",
        client.kubectl.file("reconcile.yaml", text(verbs, user)),
      ]);
    expect(await reconcile("get", "ann")).toContain("role.rbac.authorization.k8s.io/kept reconciled");
    await reconcile("list", "bob");
    const { rules } = await client.kubectl.json(["get", "role", "kept", "-n", ns]);
    expect(rules.flatMap((rule: { verbs: string[] }) => rule.verbs)).toEqual(["get", "list"]);
    const { subjects } = await client.kubectl.json(["get", "rolebinding", "kept", "-n", ns]);
    expect(subjects.map((one: { name: string }) => one.name)).toEqual(["ann", "bob"]);
  });
});
