import { expect, it } from "vitest";
import { describeKubectl } from "../support/kubectl.ts";
import { useKubectl } from "./kubectl-support.ts";

/** kubectl reads the discovery documents. */
describeKubectl("kubectl discovery", (program) => {
  const client = useKubectl(program);

  it("api-resources, api-versions, version and get --raw show the served API", async () => {
    const resources = await client.kubectl.ok(["api-resources"]);
    expect(resources).toMatch(/^configmaps\s+cm\s+(v1\s+)?true\s+ConfigMap$/m);
    expect(resources).toMatch(/^clusterroles\s+rbac\.authorization\.k8s\.io(\/v1)?\s+false\s+ClusterRole$/m);
    expect(
      await client.kubectl.ok(["api-resources", "--api-group=rbac.authorization.k8s.io", "-o", "name"]),
    ).toBe(
      ["clusterrolebindings", "clusterroles", "rolebindings", "roles"]
        .map((name) => `${name}.rbac.authorization.k8s.io\n`)
        .join(""),
    );
    expect((await client.kubectl.ok(["api-versions"])).split("\n")).toEqual(
      expect.arrayContaining(["authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1", "v1"]),
    );
    const { serverVersion } = JSON.parse(await client.kubectl.ok(["version", "-o", "json"])) as {
      serverVersion: { major: string; minor: string };
    };
    expect(serverVersion).toMatchObject({ major: "1", minor: "26" });
    expect(await client.kubectl.ok(["get", "--raw", "/healthz"])).toBe("ok");
    expect(JSON.parse(await client.kubectl.ok(["get", "--raw", "/api/v1/namespaces/default"]))).toMatchObject(
      {
        kind: "Namespace",
      },
    );
  });

  it("explain: shows kinds, fields and the whole tree", async () => {
    const configMaps = await client.kubectl.ok(["explain", "configmaps"]);
    expect(configMaps).toMatch(/KIND:\s+ConfigMap/);
    expect(configMaps).toMatch(/binaryData\s+<map\[string\]string>/);
    expect(await client.kubectl.ok(["explain", "role.rules.verbs"])).toMatch(/FIELD:\s+verbs\s+<\[\]string>/);
    expect(await client.kubectl.ok(["explain", "cm.metadata.ownerReferences.uid"])).toMatch(
      /FIELD:\s+uid\s+<string>/,
    );
    const tree = await client.kubectl.ok(["explain", "clusterrole", "--recursive"]);
    expect(tree).toMatch(/clusterRoleSelectors\s+<\[\](Object|LabelSelector)>/);
    expect(tree).toMatch(/creationTimestamp\s+<string>/);
    expect(await client.kubectl.fails(["explain", "cm.nothing"])).toContain('field "nothing" does not exist');
  });
});
