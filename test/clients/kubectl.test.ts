import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";

/** The command line client works with this server unchanged. */
describeKubectl("kubectl", (program) => {
  let server: Server;
  let kubectl: Kubectl;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "plinth-tokens-"));
    const tokenAuthFile = join(folder, "tokens.csv");
    const groups = "system:serviceaccounts,system:serviceaccounts:asking";
    writeFileSync(tokenAuthFile, `robots-token,system:serviceaccount:asking:robot,7,"${groups}"\n`);
    // Tests count the config maps of a namespace.
    const enabledControllers = ["*", "-root-ca-cert-publisher"];
    server = await createServer({ vocabulary: "kubernetes", tokenAuthFile, enabledControllers });
    kubectl = new Kubectl(program, server.kubeconfig());
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A namespace that no other test uses. */
  async function namespace(name: string): Promise<string> {
    await kubectl.ok(["create", "namespace", name]);
    return name;
  }

  function configMap(name: string, data: object, metadata: object = {}): string {
    return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data });
  }

  it("create: every generator, and a refusal of what is there", async () => {
    const ns = await namespace("making");
    const made = async (...args: string[]) => (await kubectl.ok(["create", ...args, "-n", ns])).trim();
    expect(await made("configmap", "settings", "--from-literal=a=1", "--from-literal=b=2")).toBe(
      "configmap/settings created",
    );
    expect(await made("secret", "generic", "password", "--from-literal=p=hunter2")).toBe(
      "secret/password created",
    );
    expect(await made("serviceaccount", "robot")).toBe("serviceaccount/robot created");
    expect(
      await made(
        "role",
        "reader",
        "--verb=get,list",
        "--resource=configmaps,secrets",
        "--resource-name=settings",
      ),
    ).toBe("role.rbac.authorization.k8s.io/reader created");
    expect(
      await made(
        "rolebinding",
        "readers",
        "--role=reader",
        `--serviceaccount=${ns}:robot`,
        "--user=jane",
        "--group=devs",
      ),
    ).toBe("rolebinding.rbac.authorization.k8s.io/readers created");
    expect(
      await made("clusterrole", "making-metrics", "--verb=get", "--non-resource-url=/metrics"),
    ).toContain("created");
    expect(
      await made("clusterrolebinding", "making-metrics", "--clusterrole=making-metrics", "--user=jane"),
    ).toContain("created");
    expect(await kubectl.json(["get", "secret", "password", "-n", ns])).toMatchObject({
      type: "Opaque",
      data: { p: Buffer.from("hunter2").toString("base64") },
    });
    expect((await kubectl.json(["get", "role", "reader", "-n", ns])).rules).toEqual([
      {
        apiGroups: [""],
        resources: ["configmaps", "secrets"],
        resourceNames: ["settings"],
        verbs: ["get", "list"],
      },
    ]);
    const { subjects, roleRef } = await kubectl.json(["get", "rolebinding", "readers", "-n", ns]);
    expect(roleRef).toEqual({ apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" });
    expect(subjects).toEqual([
      { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" },
      { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "devs" },
      { kind: "ServiceAccount", name: "robot", namespace: ns },
    ]);
    expect(await kubectl.fails(["create", "configmap", "settings", "-n", ns])).toMatch(
      /"settings" already exists/,
    );
  });

  it("create clusterrole --aggregation-rule: the rules are gathered", async () => {
    await kubectl.ok(["create", "clusterrole", "gathered", "--aggregation-rule=example.com/gather=true"]);
    const part = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "part", labels: { "example.com/gather": "true" } },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
    };
    await kubectl.ok(["create", "-f", "-"], { input: JSON.stringify(part) });
    await expect
      .poll(async () => (await kubectl.json(["get", "clusterrole", "gathered"])).rules, { timeout: 10_000 })
      .toEqual(part.rules);
  });

  it("get: tables, wide, yaml, json, name, all namespaces, selectors", async () => {
    const ns = await namespace("reading");
    const labelled = configMap("one", { a: "1" }, { labels: { tier: "front" } });
    await kubectl.ok(["create", "-n", ns, "-f", "-"], { input: labelled });
    await kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap("two", { a: "1", b: "2" }) });
    const columns = (text: string) =>
      text
        .trim()
        .split("\n")
        .map((line) => line.split(/\s{2,}/));
    const table = columns(await kubectl.ok(["get", "configmaps", "-n", ns]));
    expect(table[0]).toEqual(["NAME", "DATA", "AGE"]);
    expect(table.slice(1).map((row) => row.slice(0, 2))).toEqual([
      ["one", "1"],
      ["two", "2"],
    ]);
    expect(table[1]![2]).toMatch(/^\d+s$/);
    const spaces = columns(await kubectl.ok(["get", "ns"]));
    expect(spaces[0]).toEqual(["NAME", "STATUS", "AGE"]);
    expect(spaces.map((row) => row.slice(0, 2))).toContainEqual(["kube-system", "Active"]);
    await kubectl.ok([
      "create",
      "clusterrolebinding",
      "wide",
      "--clusterrole=view",
      "--user=ann",
      "--group=g",
    ]);
    const wide = columns(await kubectl.ok(["get", "clusterrolebinding", "wide", "-o", "wide"]));
    expect(wide[0]).toEqual(["NAME", "ROLE", "AGE", "USERS", "GROUPS", "SERVICEACCOUNTS"]);
    expect(wide[1]!.slice(0, 2)).toEqual(["wide", "ClusterRole/view"]);
    expect(wide[1]!.slice(3, 5)).toEqual(["ann", "g"]);
    expect(await kubectl.ok(["get", "cm", "-n", ns, "-o", "name"])).toBe("configmap/one\nconfigmap/two\n");
    expect(await kubectl.ok(["get", "cm", "two", "-n", ns, "-o", "yaml"])).toMatch(
      /^apiVersion: v1\ndata:\n {2}a: "1"\n {2}b: "2"\nkind: ConfigMap\n/,
    );
    expect((await kubectl.json(["get", "cm", "-n", ns])).items).toHaveLength(2);
    const all = columns(await kubectl.ok(["get", "cm", "-A"]));
    expect(all[0]).toEqual(["NAMESPACE", "NAME", "DATA", "AGE"]);
    expect(all.map((row) => row.slice(0, 3))).toContainEqual([ns, "one", "1"]);
    expect(await kubectl.ok(["get", "cm", "-A", "-l", "tier in (front, back)", "-o", "name"])).toBe(
      "configmap/one\n",
    );
    expect(
      await kubectl.ok([
        "get",
        "cm",
        "-A",
        "--field-selector",
        `metadata.name=two,metadata.namespace=${ns}`,
        "-o",
        "name",
      ]),
    ).toBe("configmap/two\n");
    expect(await kubectl.ok(["get", "cm,secrets", "-n", ns, "--chunk-size=1", "-o", "name"])).toBe(
      "configmap/one\nconfigmap/two\n",
    );
    expect(await kubectl.fails(["get", "cm", "three", "-n", ns])).toBe(
      'Error from server (NotFound): configmaps "three" not found\n',
    );
    expect(await kubectl.fails(["get", "gadgets"])).toMatch(/doesn't have a resource type "gadgets"/);
  });

  it("apply: creates, changes, leaves alone, several YAML documents, lists and prunes fields", async () => {
    const ns = await namespace("applying");
    const text = (value: string) => `apiVersion: v1
kind: ConfigMap
metadata:
  name: first
data:
  key: ${value}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: second
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: third}
  data: {a: b, gone: soon}
`;
    const apply = async (input: string) =>
      (await kubectl.ok(["apply", "-n", ns, "-f", kubectl.file("apply.yaml", input)])).trim().split("\n");
    expect(await apply(text("old"))).toEqual([
      "configmap/first created",
      "serviceaccount/second created",
      "configmap/third created",
    ]);
    expect(await apply(text("old"))).toEqual([
      "configmap/first unchanged",
      "serviceaccount/second unchanged",
      "configmap/third unchanged",
    ]);
    const changed = text("new").replace("{a: b, gone: soon}", "{a: b}");
    expect(await apply(changed)).toEqual([
      "configmap/first configured",
      "serviceaccount/second unchanged",
      "configmap/third configured",
    ]);
    expect((await kubectl.json(["get", "cm", "third", "-n", ns])).data).toEqual({ a: "b" });
    expect(
      await kubectl.ok(["apply", "-n", ns, "-f", "-", "--dry-run=server"], {
        input: changed.replace("key: new", "key: dry"),
      }),
    ).toContain("configmap/first configured (server dry run)");
    expect((await kubectl.json(["get", "cm", "first", "-n", ns])).data).toEqual({ key: "new" });
    expect(await kubectl.ok(["apply", "view-last-applied", "cm", "first", "-n", ns])).toContain("key: new");
  });

  it("refuses an unknown field, on the client or on the server, whichever checks", async () => {
    const input = JSON.stringify({ ...JSON.parse(configMap("typo", { a: "b" })), dtaa: { a: "b" } });
    expect(await kubectl.fails(["apply", "-f", "-"], { input })).toMatch(/unknown field "(dtaa)?/);
    expect(await kubectl.fails(["create", "-f", "-"], { input: configMap("typo", { a: 1 }) })).toMatch(
      /a|string/,
    );
    expect(await kubectl.ok(["apply", "--validate=false", "-f", "-"], { input })).toBe(
      "configmap/typo created\n",
    );
  });

  it("diff: says what an apply would change", async () => {
    const ns = await namespace("comparing");
    await kubectl.ok(["apply", "-n", ns, "-f", "-"], { input: configMap("compared", { a: "1" }) });
    const same = await kubectl.run(["diff", "-n", ns, "-f", "-"], {
      input: configMap("compared", { a: "1" }),
    });
    expect(same).toMatchObject({ code: 0, stdout: "" });
    const other = await kubectl.run(["diff", "-n", ns, "-f", "-"], {
      input: configMap("compared", { a: "2" }),
    });
    expect(other.code).toBe(1);
    expect(other.stdout).toMatch(/^-\s+a: "1"$/m);
    expect(other.stdout).toMatch(/^\+\s+a: "2"$/m);
  });

  it("edit: what the editor leaves is written", async () => {
    const ns = await namespace("editing");
    await kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap("edited", { a: "before" }) });
    const editor = kubectl.file("editor.sh", '#!/bin/sh\nsed -i "s/before/after/" "$1"\n', 0o700);
    const env = { EDITOR: editor, KUBE_EDITOR: editor };
    expect(await kubectl.ok(["edit", "cm", "edited", "-n", ns], { env })).toBe("configmap/edited edited\n");
    expect((await kubectl.json(["get", "cm", "edited", "-n", ns])).data).toEqual({ a: "after" });
    const unchanged = await kubectl.run(["edit", "cm", "edited", "-n", ns], { env });
    expect(unchanged.stdout + unchanged.stderr).toContain("Edit cancelled, no changes made");
  });

  it("label, annotate, patch (strategic, merge, json), replace", async () => {
    const ns = await namespace("changing");
    const read = async () =>
      (await kubectl.json(["get", "cm", "it", "-n", ns])) as {
        data: object;
        metadata: { labels?: object; annotations?: object };
      };
    await kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap("it", { a: "1" }) });
    expect(await kubectl.ok(["label", "cm", "it", "tier=front", "-n", ns])).toBe("configmap/it labeled\n");
    expect(await kubectl.fails(["label", "cm", "it", "tier=back", "-n", ns])).toContain(
      "already has a value (front)",
    );
    await kubectl.ok(["label", "cm", "it", "tier=back", "--overwrite", "-n", ns]);
    expect((await read()).metadata.labels).toEqual({ tier: "back" });
    await kubectl.ok(["label", "cm", "it", "tier-", "-n", ns]);
    expect((await read()).metadata.labels).toBeUndefined();
    await kubectl.ok(["annotate", "cm", "it", "note=some text", "-n", ns]);
    expect((await read()).metadata.annotations).toEqual({ note: "some text" });
    const patch = (type: string, body: unknown) =>
      kubectl.ok(["patch", "cm", "it", "-n", ns, `--type=${type}`, "-p", JSON.stringify(body)]);
    expect(await patch("strategic", { data: { b: "2" } })).toBe("configmap/it patched\n");
    expect(await patch("merge", { data: { a: null, c: "3" } })).toBe("configmap/it patched\n");
    expect(await patch("json", [{ op: "replace", path: "/data/b", value: "two" }])).toBe(
      "configmap/it patched\n",
    );
    expect((await read()).data).toEqual({ b: "two", c: "3" });
    expect(await patch("merge", { data: { c: "3" } })).toBe("configmap/it patched (no change)\n");
    expect(await kubectl.ok(["replace", "-n", ns, "-f", "-"], { input: configMap("it", { z: "26" }) })).toBe(
      "configmap/it replaced\n",
    );
    expect((await read()).data).toEqual({ z: "26" });
    const stale = configMap("it", { z: "27" }, { resourceVersion: "1" });
    expect(await kubectl.fails(["replace", "-n", ns, "-f", "-"], { input: stale })).toContain("Conflict");
    expect(
      await kubectl.fails(["replace", "-n", ns, "-f", "-"], { input: configMap("absent", {}) }),
    ).toContain("NotFound");
    await kubectl.ok(["replace", "--force", "-n", ns, "-f", "-"], { input: configMap("it", { y: "25" }) });
    expect((await read()).data).toEqual({ y: "25" });
  });

  it("set subject: rewrites a binding", async () => {
    await kubectl.ok(["create", "clusterrolebinding", "subjects", "--clusterrole=view", "--user=ann"]);
    await kubectl.ok(["set", "subject", "clusterrolebinding", "subjects", "--user=bob"]);
    const { subjects } = await kubectl.json(["get", "clusterrolebinding", "subjects"]);
    expect(subjects.map((one: { name: string }) => one.name)).toEqual(["ann", "bob"]);
  });

  it("delete: one, by selector, all, and a namespace with what is in it", async () => {
    const ns = await namespace("deleting");
    const names = () => kubectl.ok(["get", "cm", "-n", ns, "-o", "name"]);
    for (const name of ["a", "b", "c", "d"]) {
      const labels = name === "b" ? { go: "now" } : {};
      await kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap(name, {}, { labels }) });
    }
    expect(await kubectl.ok(["delete", "cm", "a", "-n", ns])).toBe('configmap "a" deleted\n');
    expect(await kubectl.ok(["delete", "cm", "-l", "go=now", "-n", ns])).toBe('configmap "b" deleted\n');
    expect(await names()).toBe("configmap/c\nconfigmap/d\n");
    await kubectl.ok(["delete", "cm", "--all", "-n", ns]);
    expect(await names()).toBe("");
    expect(await kubectl.fails(["delete", "cm", "a", "-n", ns])).toContain("NotFound");
    expect(await kubectl.ok(["delete", "cm", "a", "-n", ns, "--ignore-not-found"])).toBe("");
    await kubectl.ok(["create", "serviceaccount", "left", "-n", ns]);
    expect(await kubectl.ok(["delete", "namespace", ns])).toBe(`namespace "${ns}" deleted\n`);
    expect(await kubectl.fails(["get", "ns", ns])).toContain("NotFound");
    expect(
      await kubectl.ok(["get", "sa", "-A", "--field-selector", "metadata.name=left", "-o", "name"]),
    ).toBe("");
    expect(await kubectl.fails(["delete", "namespace", "kube-system"])).toContain("Forbidden");
  });

  it("delete waits for finalizers, and wait --for=delete does", async () => {
    const ns = await namespace("waiting");
    const held = configMap("held", {}, { finalizers: ["example.com/hold"] });
    await kubectl.ok(["create", "-n", ns, "-f", "-"], { input: held });
    await kubectl.ok(["delete", "cm", "held", "-n", ns, "--wait=false"]);
    const waiting = kubectl.start(["wait", "--for=delete", "cm/held", "-n", ns, "--timeout=20s", "-v=6"]);
    // It has found the object, and watches it.
    await waiting.line(/watch=true.* 200 OK/);
    expect((await kubectl.json(["get", "cm", "held", "-n", ns])).metadata.deletionTimestamp).toMatch(/Z$/);
    await kubectl.ok([
      "patch",
      "cm",
      "held",
      "-n",
      ns,
      "--type=merge",
      "-p",
      '{"metadata":{"finalizers":null}}',
    ]);
    await waiting.line(/^configmap\/held condition met$/);
  });

  it("get -w: shows each change", async () => {
    const ns = await namespace("watching");
    const watch = kubectl.start(["get", "cm", "-n", ns, "-w", "--output-watch-events"]);
    await kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap("seen", { a: "1" }) });
    await watch.line(/^ADDED\s+seen\s+1\s/);
    await kubectl.ok(["patch", "cm", "seen", "-n", ns, "-p", '{"data":{"b":"2"}}']);
    await watch.line(/^MODIFIED\s+seen\s+2\s/);
    await kubectl.ok(["delete", "cm", "seen", "-n", ns]);
    await watch.line(/^DELETED\s+seen\s+2\s/);
    await watch.stop();
  });

  it("auth can-i: for oneself, for others, and as a list", async () => {
    const ns = await namespace("asking");
    await kubectl.ok([
      "create",
      "role",
      "reader",
      "--verb=get",
      "--verb=list",
      "--resource=configmaps",
      "-n",
      ns,
    ]);
    await kubectl.ok([
      "create",
      "rolebinding",
      "reader",
      "--role=reader",
      `--serviceaccount=${ns}:robot`,
      "-n",
      ns,
    ]);
    const robot = ["-n", ns, "--token=robots-token"];
    const ask = async (...args: string[]) => (await kubectl.run(["auth", "can-i", ...args])).stdout.trim();
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
    expect(await kubectl.fails(["get", "secrets", ...robot])).toMatch(
      /cannot list resource "secrets" in API group ""/,
    );
    await kubectl.ok(["delete", "rolebinding", "reader", "-n", ns]);
    expect(await ask("get", "configmaps", ...robot)).toMatch(/^no/);
  });

  it("auth reconcile: adds what is missing to roles and bindings", async () => {
    const ns = await namespace("reconciling");
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
      kubectl.ok(["auth", "reconcile", "-n", ns, "-f", kubectl.file("reconcile.yaml", text(verbs, user))]);
    expect(await reconcile("get", "ann")).toContain("role.rbac.authorization.k8s.io/kept reconciled");
    await reconcile("list", "bob");
    const { rules } = await kubectl.json(["get", "role", "kept", "-n", ns]);
    expect(rules.flatMap((rule: { verbs: string[] }) => rule.verbs)).toEqual(["get", "list"]);
    const { subjects } = await kubectl.json(["get", "rolebinding", "kept", "-n", ns]);
    expect(subjects.map((one: { name: string }) => one.name)).toEqual(["ann", "bob"]);
  });

  it("api-resources, api-versions, version, get --raw", async () => {
    const resources = await kubectl.ok(["api-resources"]);
    expect(resources).toMatch(/^configmaps\s+cm\s+(v1\s+)?true\s+ConfigMap$/m);
    expect(resources).toMatch(/^clusterroles\s+rbac\.authorization\.k8s\.io(\/v1)?\s+false\s+ClusterRole$/m);
    expect(await kubectl.ok(["api-resources", "--api-group=rbac.authorization.k8s.io", "-o", "name"])).toBe(
      ["clusterrolebindings", "clusterroles", "rolebindings", "roles"]
        .map((name) => `${name}.rbac.authorization.k8s.io\n`)
        .join(""),
    );
    expect((await kubectl.ok(["api-versions"])).split("\n")).toEqual(
      expect.arrayContaining(["authorization.k8s.io/v1", "rbac.authorization.k8s.io/v1", "v1"]),
    );
    const { serverVersion } = JSON.parse(await kubectl.ok(["version", "-o", "json"])) as {
      serverVersion: { major: string; minor: string };
    };
    expect(serverVersion).toMatchObject({ major: "1", minor: "26" });
    expect(await kubectl.ok(["get", "--raw", "/healthz"])).toBe("ok");
    expect(JSON.parse(await kubectl.ok(["get", "--raw", "/api/v1/namespaces/default"]))).toMatchObject({
      kind: "Namespace",
    });
  });

  it("explain: kinds, fields, and the whole tree", async () => {
    const configMaps = await kubectl.ok(["explain", "configmaps"]);
    expect(configMaps).toMatch(/KIND:\s+ConfigMap/);
    expect(configMaps).toMatch(/binaryData\s+<map\[string\]string>/);
    expect(await kubectl.ok(["explain", "role.rules.verbs"])).toMatch(/FIELD:\s+verbs\s+<\[\]string>/);
    expect(await kubectl.ok(["explain", "cm.metadata.ownerReferences.uid"])).toMatch(
      /FIELD:\s+uid\s+<string>/,
    );
    const tree = await kubectl.ok(["explain", "clusterrole", "--recursive"]);
    expect(tree).toMatch(/clusterRoleSelectors\s+<\[\](Object|LabelSelector)>/);
    expect(tree).toMatch(/creationTimestamp\s+<string>/);
    expect(await kubectl.fails(["explain", "cm.nothing"])).toContain('field "nothing" does not exist');
  });
});
