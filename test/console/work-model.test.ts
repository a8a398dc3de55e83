import { describe, expect, it } from "vitest";
import { bindingsWithoutEffect } from "../../console/src/model/access-graph.ts";
import { decodedText } from "../../console/src/model/base64.ts";
import { certificateExpiry } from "../../console/src/model/certificates.ts";
import { sortOf, sortText, tableColumns } from "../../console/src/model/columns.ts";
import { curlCommand, kubectlCommand } from "../../console/src/model/copies.ts";
import { grantText } from "../../console/src/model/grant.ts";
import { mergeOf } from "../../console/src/model/merge.ts";
import { ownRights } from "../../console/src/model/own-rules.ts";
import { parsePairs } from "../../console/src/model/pairs.ts";
import { typesOf } from "../../console/src/model/resource-types.ts";
import { whyCommand } from "../../console/src/model/why-command.ts";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import { newKeys } from "../support/certificate-request.ts";

const [deployments] = typesOf([
  {
    groupVersion: "apps/v1",
    resources: [{ name: "deployments", kind: "Deployment", namespaced: true, verbs: ["list"] }],
  },
]);

describe("a merge of an edit with a newer version", () => {
  it("takes what only the newer version has changed, and leaves what both have changed to the user", () => {
    const base = { spec: { a: 1, b: 1, c: 1, d: { e: 1 } } };
    const mine = { spec: { a: 2, b: 1, c: 5, d: { e: 1, mine: 1 } } };
    const theirs = { spec: { a: 1, b: 2, c: 6, d: { e: 2 }, f: 1 } };
    expect(mergeOf(base, mine, theirs)).toEqual({
      changes: [
        { path: ["spec", "b"], value: 2 },
        { path: ["spec", "d", "e"], value: 2 },
        { path: ["spec", "f"], value: 1 },
      ],
      conflicts: [{ path: ["spec", "c"], mine: 5, theirs: 6 }],
    });
  });

  it("treats a removal as a change, and equal changes as none", () => {
    expect(mergeOf({ a: 1, b: 1, c: [1] }, { a: 2, c: [2] }, { b: 1, c: [2] })).toEqual({
      changes: [],
      conflicts: [{ path: ["a"], mine: 2, theirs: undefined }],
    });
  });
});

describe("texts for other programs", () => {
  it("are quoted for the shell", () => {
    expect(kubectlCommand(deployments!, "team-a", "we b")).toBe(
      "kubectl get deployments.apps 'we b' --namespace=team-a --output=yaml",
    );
    expect(curlCommand("https://h:1", deployments!, "a", "it's")).toContain(
      String.raw`'https://h:1/apis/apps/v1/namespaces/a/deployments/it'\''s'`,
    );
    const action = { verb: "get", group: "", resource: "pods", namespace: "a" };
    expect(whyCommand("ann", action, ["on call", "system:authenticated"])).toBe(
      "plinth auth why ann get pods --namespace=a '--group=on call'",
    );
  });

  it("of a grant are a role and its binding for one action", () => {
    const text = grantText(
      "system:serviceaccount:ci:bot",
      { verb: "get", group: "apps", resource: "deployments", subresource: "scale", name: "web" },
      "k8s.io",
    );
    expect(text).toContain("kind: ClusterRole\n");
    expect(text).toContain("- deployments/scale");
    expect(text).toContain("- web");
    expect(text).toContain("kind: ServiceAccount\n  namespace: ci\n  name: bot");
    expect(text).toContain("apiGroup: rbac.authorization.k8s.io");
  });
});

describe("labels as text", () => {
  it.each([
    ["a=b, c-", { a: "b", c: null }],
    ["a=", { a: "" }],
    ["", {}],
    ["a", "a is neither key=value nor key-"],
    ["=b", "=b is neither key=value nor key-"],
  ])("%s", (text, result) => expect(parsePairs(text)).toEqual(result));
});

describe("a sort order", () => {
  it("is read from its own text", () => {
    const columns = tableColumns(
      [
        { name: "Name", type: "string" },
        { name: "Size", type: "integer" },
      ],
      [],
      true,
    );
    for (const sort of [
      { by: 1, descending: true },
      { by: "key", descending: false },
    ] as const) {
      expect(sortOf(sortText(sort, columns), columns)).toEqual(sort);
    }
    expect(sortOf("Nothing", columns)).toEqual({ by: "key", descending: false });
  });
});

describe("own rights", () => {
  it("are joined by resource and names", () => {
    const rules = [
      { verbs: ["get"], apiGroups: [""], resources: ["pods", "secrets"] },
      { verbs: ["list"], apiGroups: [""], resources: ["pods"] },
      { verbs: ["update"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] },
    ];
    expect(ownRights(rules)).toEqual([
      { group: "", resource: "pods", verbs: ["get", "list"], names: [] },
      { group: "", resource: "pods", verbs: ["update"], names: ["a"] },
      { group: "", resource: "secrets", verbs: ["get"], names: [] },
    ]);
  });
});

describe("bindings without effect", () => {
  it("have a role that doesn't exist, or no subjects", () => {
    const role = { metadata: { name: "look" } };
    const binding = (name: string, role: string, subjects: { kind: string; name: string }[]) => ({
      metadata: { name },
      roleRef: { kind: "ClusterRole", name: role },
      subjects,
    });
    const ann = [{ kind: "User", name: "ann" }];
    const faults = bindingsWithoutEffect({
      clusterRoles: [role],
      roles: [],
      clusterRoleBindings: [
        binding("fine", "look", ann),
        binding("lost", "gone", ann),
        binding("empty", "look", []),
      ],
      roleBindings: [],
    });
    expect(faults.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      "lost: ClusterRole gone doesn't exist",
      "empty: names nobody",
    ]);
  });
});

describe("a certificate", () => {
  it("is read for when it expires; other texts have no time", () => {
    const { publicKey, privateKey } = newKeys();
    for (const year of [2031, 2061]) {
      const notAfter = Date.UTC(year, 4, 6, 7, 8, 9);
      const pem = signCertificate(
        { commonName: "a", use: "client", notBefore: 0, notAfter },
        publicKey,
        privateKey,
      );
      expect(certificateExpiry(`text before\n${pem}`)).toBe(notAfter);
      for (let cut = 30; cut < pem.length - 30; cut += 37) {
        expect([undefined, notAfter]).toContain(
          certificateExpiry(`${pem.slice(0, cut)}\n-----END CERTIFICATE-----`),
        );
      }
    }
    expect(certificateExpiry("nothing")).toBeUndefined();
  });
});

describe("a value of a secret", () => {
  it("is decoded if it is a text", () => {
    expect(decodedText(btoa("pass word"))).toBe("pass word");
    expect(decodedText("AAEC")).toBeUndefined();
    expect(decodedText("/w==")).toBeUndefined();
    expect(decodedText("%")).toBeUndefined();
  });
});
