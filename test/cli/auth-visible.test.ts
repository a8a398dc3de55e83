import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runAuth } from "../../src/cli/auth/auth.ts";
import type { AuthContext } from "../../src/cli/auth/question.ts";
import { visible } from "../../src/cli/auth/visible.ts";
import { ClientError } from "../../src/cli/client/client-error.ts";
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
  startWithUsers,
  user,
} from "../api/support.ts";
import type { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const KUBECONFIG = path.join(folder.path, "config");
const get = (resource: string, resourceNames: readonly string[] = []) => ({
  verbs: ["get"],
  apiGroups: [""],
  resources: [resource],
  ...(resourceNames.length > 0 && { resourceNames }),
});

let server: TestServer;
beforeAll(async () => {
  server = await startWithUsers([{ name: "helper" }, { name: "ann" }]);
  const { admin } = server;
  writeFileSync(KUBECONFIG, server.server.kubeconfig());
  for (const name of ["shop", "bank"]) {
    await ok(admin.post("/api/v1/namespaces", namespace(name)));
    for (const map of ["a", "b", "c"])
      await ok(
        admin.post(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: map }, data: { map } }),
      );
  }
  for (const name of ["tls", "db"])
    await ok(admin.post("/api/v1/namespaces/shop/secrets", { metadata: { name } }));
  const shop = `${RBAC}/namespaces/shop`;
  const bind = async (
    name: string,
    rules: readonly ReturnType<typeof get>[],
    subjects: readonly object[],
  ) => {
    await ok(admin.post(`${shop}/roles`, role(name, rules)));
    await ok(admin.post(`${shop}/rolebindings`, roleBinding(name, refTo("Role", name), subjects)));
  };
  await bind("maps", [get("configmaps", ["a", "c"])], [user("devi")]);
  await bind("all-maps", [get("configmaps")], [group("shop-leads")]);
  await bind("bots", [get("secrets", ["tls"])], [group("system:serviceaccounts:ops")]);
  // The helper may act as any user, and lists nothing itself.
  const impersonation = [
    { verbs: ["impersonate"], apiGroups: [""], resources: ["users", "serviceaccounts"] },
  ];
  await ok(admin.post(`${RBAC}/clusterroles`, clusterRole("helper", impersonation)));
  await ok(
    admin.post(
      `${RBAC}/clusterrolebindings`,
      clusterRoleBinding("helper", refTo("ClusterRole", "helper"), [user("helper")]),
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
  expect(await runAuth(["visible", ...words], { KUBECONFIG }, (part) => (text += part))).toBe(0);
  return text;
}

const fails = (words: readonly string[], message: string | RegExp) =>
  expect(runAuth(["visible", ...words], { KUBECONFIG }, () => undefined)).rejects.toThrow(message);

describe("plinth auth visible", () => {
  it("lists the names that the user may see and the number of all", async () => {
    expect(await ask("devi", "cm", "-n", "shop")).toBe(
      "configmaps visible to devi (system:authenticated) in the namespace shop: 2 of 3\nNAME\na\nc\n",
    );
    expect(await ask("devi", "cm", "-n", "bank")).toBe(
      "configmaps visible to devi (system:authenticated) in the namespace bank: 0 of 3\n",
    );
    expect(await ask("devi", "configmaps", "-A")).toMatch(
      / in every namespace: 2 of \d+\nNAMESPACE +NAME\nshop +a\nshop +c\n$/,
    );
  });

  it("counts the objects of each type when no resource is named", async () => {
    expect(await ask("devi", "-n", "shop")).toMatch(
      /^visible to devi \(system:authenticated\) in the namespace shop:\nRESOURCE +VISIBLE +ALL\n(.*\n)*configmaps +2 +3\n(.*\n)*secrets +0 +2\n(.*\n)*nothing is visible of \d+ other resources\n$/,
    );
    const everything = await ask("admin", "-A", "--group=system:masters");
    expect(everything).toMatch(/^configmaps +(\d+) +\1$/m);
    expect(everything).toMatch(/^namespaces +(\d+) +\1$/m);
  });

  it("includes what groups of the flags and of service accounts show", async () => {
    expect(await ask("devi", "cm", "-n", "shop", "--group=shop-leads")).toMatch(
      /^configmaps visible to devi \(shop-leads, system:authenticated\) in the namespace shop: 3 of 3\n/,
    );
    expect(await ask("system:serviceaccount:ops:bot", "secrets", "-n", "shop")).toMatch(
      /: 1 of 2\nNAME\ntls\n$/,
    );
    expect(await ask("system:serviceaccount:ops:bot", "secrets", "-n", "shop", "--group=x")).toMatch(
      /: 1 of 2\nNAME\ntls\n$/,
    );
  });

  it("-o json has user, objects and the numbers", async () => {
    expect(JSON.parse(await ask("devi", "cm", "-n", "shop", "-o", "json"))).toEqual({
      user: "devi",
      groups: ["system:authenticated"],
      namespace: "shop",
      group: "",
      resource: "configmaps",
      objects: [
        { namespace: "shop", name: "a" },
        { namespace: "shop", name: "c" },
      ],
      total: 3,
    });
    const { resources } = JSON.parse(await ask("devi", "-n", "shop", "-o", "json")) as {
      resources: object[];
    };
    expect(resources).toContainEqual({ group: "", resource: "configmaps", total: 3, visible: 2 });
    expect(resources).toContainEqual({ group: "", resource: "secrets", total: 2, visible: 0 });
  });

  it("follows pages up to --limit", async () => {
    expect(await ask("devi", "cm", "-n", "shop", "--limit=1")).toMatch(
      / shop: the first 1 of 3\nNAME\na\nthere are more: see --limit\n$/,
    );
    const names = Array.from({ length: 560 }, (_, n) => `m-${String(n).padStart(4, "0")}`);
    await ok(server.admin.post("/api/v1/namespaces", namespace("large")));
    const map = (name: string) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace: "large" },
    });
    await Promise.all(names.map((name) => server.server.client.create(map(name))));
    const leads = `${RBAC}/namespaces/large`;
    await ok(server.admin.post(`${leads}/roles`, role("most", [get("configmaps", names.slice(50))])));
    await ok(
      server.admin.post(`${leads}/rolebindings`, roleBinding("most", refTo("Role", "most"), [user("ben")])),
    );
    const text = await ask("ben", "cm", "-n", "large", "--limit=2000");
    expect(text).toContain(" large: 510 of 560\n");
    expect(text.trimEnd().split("\n").slice(2)).toEqual(names.slice(50));
    expect(await ask("ben", "-n", "large")).toMatch(/^configmaps +510 +560$/m);
  });

  it("leaves out the number of all when the caller may not list them", async () => {
    const helper = [`--server=${server.server.url}`, "--token=helper", `--ca=${caFile()}`];
    expect(await ask("devi", "cm", "-n", "shop", ...helper)).toMatch(/ shop: 2\nNAME\na\nc\n$/);
    expect(await ask("devi", "-n", "shop", ...helper)).toMatch(/^configmaps +2 +-$/m);
    await fails(
      ["devi", "-n", "shop", "--group=shop-leads", ...helper],
      /403: groups? "shop-leads" is forbidden: User "helper" cannot impersonate/,
    );
  });

  it("refuses callers who may not impersonate the user", async () => {
    const ann = [`--server=${server.server.url}`, "--token=ann", `--ca=${caFile()}`];
    for (const words of [["devi"], ["devi", "secrets"]])
      await fails([...words, ...ann], /403: users "devi" is forbidden: User "ann" cannot impersonate/);
  });

  it.each<[string, string[], string]>([
    ["no user", [], "a user is needed"],
    ["a third word", ["devi", "secrets", "tls"], 'unexpected argument "tls"'],
    [
      "a misspelled resource",
      ["devi", "podz"],
      '"podz" is no resource that this server serves; did you mean pods?',
    ],
    ["a subresource", ["devi", "pods/log"], '"pods/log" is no resource that this server serves'],
    ["a review", ["devi", "tokenreviews"], "tokenreviews can't be listed; its verbs are create"],
    ["--exact", ["devi", "--exact"], "--exact can't be used with visible"],
    ["a name that is no header", ["dévi"], '"dévi" can\'t be impersonated'],
    ["an anonymous user", ["system:anonymous", "secrets"], "403"],
  ])("refuses %s", async (_what, words, message) => {
    await fails(words, message);
  });
});

describe("visible on other servers", () => {
  type List = (path: string) => object;
  const refused = new ClientError("the server answers 403: no list", 403);
  /** Asks servers whose lists are those of the functions. */
  const on = (own: List, theirs: List, extensions: object = { listViews: ["mine"] }) => {
    const clientOf = (list: List) => ({
      get: () => Promise.resolve(extensions),
      listMetadata: async (url: string) => list(url),
      as: () => clientOf(theirs),
      close: () => undefined,
    });
    const resourceOf = (name: string, group: string) => {
      const verbs = ["list"];
      return {
        name,
        group,
        groupVersion: group === "" ? "v1" : `${group}/v1`,
        kind: name,
        shortNames: [],
        namespaced: true,
        verbs,
      };
    };
    const resources = [resourceOf("maps", ""), resourceOf("widgets", "ext.example.com")];
    const context = {
      client: clientOf(own),
      table: { resources },
      namespace: "",
      groups: [],
      exact: false,
      limit: 500,
    };
    return visible(["devi"], context as unknown as AuthContext);
  };
  const empty = { items: [], metadata: {} };

  it("shows the error of a type without views, and the counts of the others", async () => {
    const list: List = (url) => {
      if (url.includes("widgets")) throw refused;
      return { items: [{ metadata: { name: "a" } }], metadata: {} };
    };
    const { text, object } = await on(list, list);
    expect(text).toMatch(/^maps +1 +1$/m);
    expect(text).toMatch(/^widgets\.ext\.example\.com +no view +-$/m);
    expect(text).toContain("note: widgets.ext.example.com: the server answers 403: no list\n");
    expect(object).toHaveProperty("resources.1.error", refused.message);
  });

  it("stops counting at 10,000 objects", async () => {
    const items = Array.from({ length: 500 }, (_, n) => ({ metadata: { name: `${n}` } }));
    let pages = 0;
    const { text } = await on(
      () => empty,
      () => (pages++, { items, metadata: { continue: "next" } }),
    );
    expect(pages).toBe(2 * 20);
    expect(text).toMatch(/^maps +more than 10000 +0$/m);
  });

  it("refuses servers without views, and passes on other errors", async () => {
    await expect(
      on(
        () => empty,
        () => empty,
        {},
      ),
    ).rejects.toThrow("it has no lists with view=mine");
    const lost = new ClientError("can't be reached");
    const fail: List = () => {
      throw lost;
    };
    await expect(on(() => empty, fail)).rejects.toBe(lost);
    await expect(on(fail, () => empty)).rejects.toBe(lost);
  });
});

function caFile(): string {
  const file = path.join(folder.path, "ca.crt");
  writeFileSync(file, server.server.caCertificate!);
  return file;
}
