import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAuth } from "../../src/cli/auth/auth.ts";
import {
  RBAC,
  clusterRole,
  clusterRoleBinding,
  group,
  namespace,
  ok,
  refTo,
  role,
  roleBinding,
  user,
  type PolicyRule,
} from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const INSIGHT = "/apis/insight.platform.io/v1";
const SAR = "/apis/authorization.platform.io/v1/subjectaccessreviews";
const folder = temporaryFolder();
const KUBECONFIG = path.join(folder.path, "config");
const rule = (
  resource: string,
  verbs: readonly string[],
  resourceNames: readonly string[] = [],
): PolicyRule => ({
  verbs,
  apiGroups: [""],
  resources: [resource],
  ...(resourceNames.length > 0 && { resourceNames }),
});
const many = Array.from({ length: 30 }, (_, n) => `map-${String(n).padStart(2, "0")}`);

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  const { admin } = server;
  writeFileSync(KUBECONFIG, server.server.kubeconfig());
  await ok(admin.post("/api/v1/namespaces", namespace("shop")));
  const shop = `${RBAC}/namespaces/shop`;
  const bind = async (name: string, rules: readonly PolicyRule[], subjects: readonly object[]) => {
    await ok(admin.post(`${shop}/roles`, role(name, rules)));
    await ok(admin.post(`${shop}/rolebindings`, roleBinding(name, refTo("Role", name), subjects)));
  };
  await bind(
    "named",
    [
      rule("secrets", ["get", "update"], ["tls", "db"]),
      rule("secrets", ["get"], ["api"]),
      rule("configmaps", ["*"], many),
      rule("pods", ["get", "list"]),
      rule("pods", ["get"], ["web"]),
    ],
    [user("ann")],
  );
  await bind("developers", [rule("configmaps", ["update"])], [group("shop-developers"), group("shop-leads")]);
  await bind("further", [rule("configmaps", ["update"])], [group("shop-leads")]);
  const closed = [
    group("system:serviceaccounts"),
    group("system:serviceaccounts:shop"),
    group("system:unauthenticated"),
  ];
  await bind("closed", [rule("configmaps", ["update"])], closed);
  await bind("everybody", [rule("services", ["get"])], [group("system:authenticated")]);
  await ok(admin.post(`${RBAC}/clusterroles`, clusterRole("node", [rule("nodes", ["get"], ["n1"])])));
  await ok(
    admin.post(
      `${RBAC}/clusterrolebindings`,
      clusterRoleBinding("node", refTo("ClusterRole", "node"), [user("ann")]),
    ),
  );
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

/** What the command writes. */
async function ask(...words: string[]): Promise<string> {
  let text = "";
  expect(await runAuth([...words, "-n", "shop"], { KUBECONFIG }, (part) => (text += part))).toBe(0);
  return text;
}
const askJson = async (...words: string[]) =>
  JSON.parse(await ask(...words, "-o", "json")) as {
    resources: { resource: string; allowed: string[]; allowedForNames: object[]; refused: string[] }[];
    status: { allowed: boolean; allowedGroups?: { name: string }[]; moreAllowedGroups?: boolean };
  };

describe("plinth auth matrix and grants of single names", () => {
  it('shows "some names" and lists the names when a verb is allowed for these only', async () => {
    const lines = (await ask("matrix", "ann", "pods", "secrets", "services", "nodes")).split("\n");
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 6).join("|").trim())).toEqual([
      "RESOURCE|GET|LIST|WATCH|CREATE|UPDATE",
      "pods|yes|yes|no|no|no",
      "secrets|some names|no|no|no|some names",
      "services|yes|no|no|no|no",
      "nodes|some names|no|no|no|no",
      "",
      "some names:",
      "|get secrets: api, db, tls",
      "|update secrets: db, tls",
      "|get nodes: n1",
      "",
    ]);
  });

  it("reports that there are more names above the limit, and counts the resource as allowed", async () => {
    const text = await ask("matrix", "ann");
    expect(text).toMatch(/^configmaps +some names +some names +some names +some names/m);
    const names = many.slice(0, 20).join(", ");
    expect(text).toContain(
      `  get, list, watch, create, update, patch, delete, deletecollection configmaps: ${names} and more\n`,
    );
    expect(text).toMatch(/nothing is allowed on \d+ other resources\n\nsome names:\n/);
  });

  it("-o json gives the names of each verb", async () => {
    const { resources } = await askJson("matrix", "ann", "secrets", "configmaps");
    expect(resources[0]).toMatchObject({
      resource: "secrets",
      allowed: [],
      allowedForNames: [
        { verb: "get", names: ["api", "db", "tls"] },
        { verb: "update", names: ["db", "tls"] },
      ],
    });
    expect(resources[0]!.refused).not.toContain("get");
    expect(resources[1]!.allowedForNames[0]).toEqual({
      verb: "get",
      names: many.slice(0, 20),
      moreNames: true,
    });
  });

  it("lists exactly the names that an access review allows", async () => {
    const allows = async (name: string) => {
      const resourceAttributes = { verb: "update", resource: "secrets", namespace: "shop", name };
      return (await ok(server.admin.post(SAR, { spec: { user: "ann", resourceAttributes } }))).body.status
        .allowed;
    };
    expect(await Promise.all(["db", "tls", "api", ""].map(allows))).toEqual([true, true, false, false]);
    const check = {
      subject: {
        user: "ann",
        resourceAttributes: { verb: "update", resource: "secrets", namespace: "shop" },
      },
    };
    const review = (spec: object) => server.admin.post(`${INSIGHT}/bulkaccessreviews`, { spec });
    const listed = await ok(review({ checks: [check], listNames: true }));
    expect(listed.body.status.results).toEqual([{ allowed: false, names: ["db", "tls"] }]);
    const plain = await ok(review({ checks: [check] }));
    expect(plain.body.status.results).toEqual([{ allowed: false }]);
  });
});

describe("plinth auth why and groups of the user", () => {
  it("names the groups that would change the answer when the question names none", async () => {
    const text = await ask("why", "devi", "update", "configmaps");
    expect(text).toContain(
      "\ngroups:\n" +
        "  devi would be allowed as a member of group shop-developers (RoleBinding shop/developers)\n" +
        "  devi would be allowed as a member of group shop-leads (RoleBinding shop/developers and others)\n",
    );
    expect(text).not.toContain("member of group system:");
  });

  it("-o json gives the groups with their grants", async () => {
    const { status } = await askJson("why", "devi", "update", "configmaps", "--exact");
    expect(status.allowed).toBe(false);
    expect(status.allowedGroups).toMatchObject([
      {
        name: "shop-developers",
        grants: [
          {
            binding: { kind: "RoleBinding", namespace: "shop", name: "developers" },
            role: { kind: "Role", namespace: "shop", name: "developers" },
            rule: { verbs: ["update"], resources: ["configmaps"] },
          },
        ],
      },
      { name: "shop-leads" },
    ]);
    expect(status.moreAllowedGroups).toBeUndefined();
  });

  it("adds the group of unauthenticated users to system:anonymous, and not that of authenticated ones", async () => {
    expect(await ask("why", "system:anonymous", "update", "configmaps")).toMatch(
      /^yes: system:anonymous \(system:unauthenticated\)/,
    );
  });

  it("names the group of every authenticated user when --exact leaves it out", async () => {
    expect(await ask("why", "devi", "get", "services", "--exact")).toContain(
      "devi would be allowed as a member of group system:authenticated (RoleBinding shop/everybody)",
    );
  });

  it.each([
    ["the action is allowed", ["ann", "get", "pods"]],
    ["the question names groups", ["devi", "update", "configmaps", "--group=marketing"]],
    ["no group is allowed it", ["devi", "delete", "secrets"]],
    ["the user is a service account", ["system:serviceaccount:other:bot", "update", "configmaps"]],
  ])("names no group when %s", async (_what, words) => {
    const text = await ask("why", ...words);
    expect(text).not.toContain("would be allowed as a member");
    expect((await askJson("why", ...words)).status.allowedGroups).toBeUndefined();
  });

  it("names ten groups, and that there are more, when very many would change the answer", async () => {
    const subjects = Array.from({ length: 150 }, (_, n) => group(`team-${String(n).padStart(3, "0")}`));
    const shop = `${RBAC}/namespaces/shop`;
    await ok(server.admin.post(`${shop}/roles`, role("wide", [rule("endpoints", ["get"])])));
    await ok(server.admin.post(`${shop}/rolebindings`, roleBinding("wide", refTo("Role", "wide"), subjects)));
    const { status } = await askJson("why", "devi", "get", "endpoints");
    expect(status.allowedGroups!.map(({ name }) => name)).toEqual(
      subjects.slice(0, 10).map(({ name }) => name),
    );
    expect(status.moreAllowedGroups).toBe(true);
    expect(await ask("why", "devi", "get", "endpoints")).toContain(
      "or of further groups: see plinth auth who-can",
    );
  });
});
