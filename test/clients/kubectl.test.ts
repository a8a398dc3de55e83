import { expect, it } from "vitest";
import { describeKubectl } from "../support/kubectl.ts";
import { configMap, createNamespace, useKubectl } from "./kubectl-support.ts";

/** The unchanged command line client works with this server. */
describeKubectl("kubectl", (program) => {
  const client = useKubectl(program);

  it("create: every generator works, and an existing object is an error", async () => {
    const ns = await createNamespace(client.kubectl, "making");
    const made = async (...args: string[]) => (await client.kubectl.ok(["create", ...args, "-n", ns])).trim();
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
    expect(await client.kubectl.json(["get", "secret", "password", "-n", ns])).toMatchObject({
      type: "Opaque",
      data: { p: Buffer.from("hunter2").toString("base64") },
    });
    expect((await client.kubectl.json(["get", "role", "reader", "-n", ns])).rules).toEqual([
      {
        apiGroups: [""],
        resources: ["configmaps", "secrets"],
        resourceNames: ["settings"],
        verbs: ["get", "list"],
      },
    ]);
    const { subjects, roleRef } = await client.kubectl.json(["get", "rolebinding", "readers", "-n", ns]);
    expect(roleRef).toEqual({ apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" });
    expect(subjects).toEqual([
      { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" },
      { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "devs" },
      { kind: "ServiceAccount", name: "robot", namespace: ns },
    ]);
    expect(await client.kubectl.fails(["create", "configmap", "settings", "-n", ns])).toMatch(
      /"settings" already exists/,
    );
  });

  it("get: tables, wide, yaml, json, name, all namespaces and selectors work", async () => {
    const ns = await createNamespace(client.kubectl, "reading");
    const labelled = configMap("one", { a: "1" }, { labels: { tier: "front" } });
    await client.kubectl.ok(["create", "-n", ns, "-f", "-"], { input: labelled });
    await client.kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap("two", { a: "1", b: "2" }) });
    const columns = (text: string) =>
      text
        .trim()
        .split("\n")
        .map((line) => line.split(/\s{2,}/));
    const table = columns(await client.kubectl.ok(["get", "configmaps", "-n", ns]));
    expect(table[0]).toEqual(["NAME", "DATA", "AGE"]);
    expect(table.slice(1).map((row) => row.slice(0, 2))).toEqual([
      ["one", "1"],
      ["two", "2"],
    ]);
    expect(table[1]![2]).toMatch(/^\d+s$/);
    const spaces = columns(await client.kubectl.ok(["get", "ns"]));
    expect(spaces[0]).toEqual(["NAME", "STATUS", "AGE"]);
    expect(spaces.map((row) => row.slice(0, 2))).toContainEqual(["kube-system", "Active"]);
    await client.kubectl.ok([
      "create",
      "clusterrolebinding",
      "wide",
      "--clusterrole=view",
      "--user=ann",
      "--group=g",
    ]);
    const wide = columns(await client.kubectl.ok(["get", "clusterrolebinding", "wide", "-o", "wide"]));
    expect(wide[0]).toEqual(["NAME", "ROLE", "AGE", "USERS", "GROUPS", "SERVICEACCOUNTS"]);
    expect(wide[1]!.slice(0, 2)).toEqual(["wide", "ClusterRole/view"]);
    expect(wide[1]!.slice(3, 5)).toEqual(["ann", "g"]);
    expect(await client.kubectl.ok(["get", "cm", "-n", ns, "-o", "name"])).toBe(
      "configmap/one\nconfigmap/two\n",
    );
    expect(await client.kubectl.ok(["get", "cm", "two", "-n", ns, "-o", "yaml"])).toMatch(
      /^apiVersion: v1\ndata:\n {2}a: "1"\n {2}b: "2"\nkind: ConfigMap\n/,
    );
    expect((await client.kubectl.json(["get", "cm", "-n", ns])).items).toHaveLength(2);
    const all = columns(await client.kubectl.ok(["get", "cm", "-A"]));
    expect(all[0]).toEqual(["NAMESPACE", "NAME", "DATA", "AGE"]);
    expect(all.map((row) => row.slice(0, 3))).toContainEqual([ns, "one", "1"]);
    expect(await client.kubectl.ok(["get", "cm", "-A", "-l", "tier in (front, back)", "-o", "name"])).toBe(
      "configmap/one\n",
    );
    expect(
      await client.kubectl.ok([
        "get",
        "cm",
        "-A",
        "--field-selector",
        `metadata.name=two,metadata.namespace=${ns}`,
        "-o",
        "name",
      ]),
    ).toBe("configmap/two\n");
    expect(await client.kubectl.ok(["get", "cm,secrets", "-n", ns, "--chunk-size=1", "-o", "name"])).toBe(
      "configmap/one\nconfigmap/two\n",
    );
    expect(await client.kubectl.fails(["get", "cm", "three", "-n", ns])).toBe(
      'Error from server (NotFound): configmaps "three" not found\n',
    );
    expect(await client.kubectl.fails(["get", "gadgets"])).toMatch(/doesn't have a resource type "gadgets"/);
  });

  it("apply: creates, changes, skips unchanged objects, supports several YAML documents and lists, and prunes fields", async () => {
    const ns = await createNamespace(client.kubectl, "applying");
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
      (await client.kubectl.ok(["apply", "-n", ns, "-f", client.kubectl.file("apply.yaml", input)]))
        .trim()
        .split("\n");
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
    expect((await client.kubectl.json(["get", "cm", "third", "-n", ns])).data).toEqual({ a: "b" });
    expect(
      await client.kubectl.ok(["apply", "-n", ns, "-f", "-", "--dry-run=server"], {
        input: changed.replace("key: new", "key: dry"),
      }),
    ).toContain("configmap/first configured (server dry run)");
    expect((await client.kubectl.json(["get", "cm", "first", "-n", ns])).data).toEqual({ key: "new" });
    expect(await client.kubectl.ok(["apply", "view-last-applied", "cm", "first", "-n", ns])).toContain(
      "key: new",
    );
  });

  it("an unknown field is rejected by the client or by the server", async () => {
    const input = JSON.stringify({ ...JSON.parse(configMap("typo", { a: "b" })), dtaa: { a: "b" } });
    expect(await client.kubectl.fails(["apply", "-f", "-"], { input })).toMatch(/unknown field "(dtaa)?/);
    expect(await client.kubectl.fails(["create", "-f", "-"], { input: configMap("typo", { a: 1 }) })).toMatch(
      /a|string/,
    );
    expect(await client.kubectl.ok(["apply", "--validate=false", "-f", "-"], { input })).toBe(
      "configmap/typo created\n",
    );
  });

  it("diff: shows what an apply would change", async () => {
    const ns = await createNamespace(client.kubectl, "comparing");
    await client.kubectl.ok(["apply", "-n", ns, "-f", "-"], { input: configMap("compared", { a: "1" }) });
    const same = await client.kubectl.run(["diff", "-n", ns, "-f", "-"], {
      input: configMap("compared", { a: "1" }),
    });
    expect(same).toMatchObject({ code: 0, stdout: "" });
    const other = await client.kubectl.run(["diff", "-n", ns, "-f", "-"], {
      input: configMap("compared", { a: "2" }),
    });
    expect(other.code).toBe(1);
    expect(other.stdout).toMatch(/^-\s+a: "1"$/m);
    expect(other.stdout).toMatch(/^\+\s+a: "2"$/m);
  });

  it("edit: writes the edited object", async () => {
    const ns = await createNamespace(client.kubectl, "editing");
    await client.kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap("edited", { a: "before" }) });
    const editor = client.kubectl.file("editor.sh", '#!/bin/sh\nsed -i "s/before/after/" "$1"\n', 0o700);
    const env = { EDITOR: editor, KUBE_EDITOR: editor };
    expect(await client.kubectl.ok(["edit", "cm", "edited", "-n", ns], { env })).toBe(
      "configmap/edited edited\n",
    );
    expect((await client.kubectl.json(["get", "cm", "edited", "-n", ns])).data).toEqual({ a: "after" });
    const unchanged = await client.kubectl.run(["edit", "cm", "edited", "-n", ns], { env });
    expect(unchanged.stdout + unchanged.stderr).toContain("Edit cancelled, no changes made");
  });

  it("label, annotate, patch (strategic, merge, json) and replace work", async () => {
    const ns = await createNamespace(client.kubectl, "changing");
    const read = async () =>
      (await client.kubectl.json(["get", "cm", "it", "-n", ns])) as {
        data: object;
        metadata: { labels?: object; annotations?: object };
      };
    await client.kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap("it", { a: "1" }) });
    expect(await client.kubectl.ok(["label", "cm", "it", "tier=front", "-n", ns])).toBe(
      "configmap/it labeled\n",
    );
    expect(await client.kubectl.fails(["label", "cm", "it", "tier=back", "-n", ns])).toContain(
      "already has a value (front)",
    );
    await client.kubectl.ok(["label", "cm", "it", "tier=back", "--overwrite", "-n", ns]);
    expect((await read()).metadata.labels).toEqual({ tier: "back" });
    await client.kubectl.ok(["label", "cm", "it", "tier-", "-n", ns]);
    expect((await read()).metadata.labels).toBeUndefined();
    await client.kubectl.ok(["annotate", "cm", "it", "note=some text", "-n", ns]);
    expect((await read()).metadata.annotations).toEqual({ note: "some text" });
    const patch = (type: string, body: unknown) =>
      client.kubectl.ok(["patch", "cm", "it", "-n", ns, `--type=${type}`, "-p", JSON.stringify(body)]);
    expect(await patch("strategic", { data: { b: "2" } })).toBe("configmap/it patched\n");
    expect(await patch("merge", { data: { a: null, c: "3" } })).toBe("configmap/it patched\n");
    expect(await patch("json", [{ op: "replace", path: "/data/b", value: "two" }])).toBe(
      "configmap/it patched\n",
    );
    expect((await read()).data).toEqual({ b: "two", c: "3" });
    expect(await patch("merge", { data: { c: "3" } })).toBe("configmap/it patched (no change)\n");
    expect(
      await client.kubectl.ok(["replace", "-n", ns, "-f", "-"], { input: configMap("it", { z: "26" }) }),
    ).toBe("configmap/it replaced\n");
    expect((await read()).data).toEqual({ z: "26" });
    const stale = configMap("it", { z: "27" }, { resourceVersion: "1" });
    expect(await client.kubectl.fails(["replace", "-n", ns, "-f", "-"], { input: stale })).toContain(
      "Conflict",
    );
    expect(
      await client.kubectl.fails(["replace", "-n", ns, "-f", "-"], { input: configMap("absent", {}) }),
    ).toContain("NotFound");
    await client.kubectl.ok(["replace", "--force", "-n", ns, "-f", "-"], {
      input: configMap("it", { y: "25" }),
    });
    expect((await read()).data).toEqual({ y: "25" });
  });

  it("delete: one object, by selector, all, and a namespace with its content", async () => {
    const ns = await createNamespace(client.kubectl, "deleting");
    const names = () => client.kubectl.ok(["get", "cm", "-n", ns, "-o", "name"]);
    for (const name of ["a", "b", "c", "d"]) {
      const labels = name === "b" ? { go: "now" } : {};
      await client.kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap(name, {}, { labels }) });
    }
    expect(await client.kubectl.ok(["delete", "cm", "a", "-n", ns])).toBe('configmap "a" deleted\n');
    expect(await client.kubectl.ok(["delete", "cm", "-l", "go=now", "-n", ns])).toBe(
      'configmap "b" deleted\n',
    );
    expect(await names()).toBe("configmap/c\nconfigmap/d\n");
    await client.kubectl.ok(["delete", "cm", "--all", "-n", ns]);
    expect(await names()).toBe("");
    expect(await client.kubectl.fails(["delete", "cm", "a", "-n", ns])).toContain("NotFound");
    expect(await client.kubectl.ok(["delete", "cm", "a", "-n", ns, "--ignore-not-found"])).toBe("");
    await client.kubectl.ok(["create", "serviceaccount", "left", "-n", ns]);
    expect(await client.kubectl.ok(["delete", "namespace", ns])).toBe(`namespace "${ns}" deleted\n`);
    expect(await client.kubectl.fails(["get", "ns", ns])).toContain("NotFound");
    expect(
      await client.kubectl.ok(["get", "sa", "-A", "--field-selector", "metadata.name=left", "-o", "name"]),
    ).toBe("");
    expect(await client.kubectl.fails(["delete", "namespace", "kube-system"])).toContain("Forbidden");
  });

  it("delete and wait --for=delete wait for finalizers", async () => {
    const ns = await createNamespace(client.kubectl, "waiting");
    const held = configMap("held", {}, { finalizers: ["example.com/hold"] });
    await client.kubectl.ok(["create", "-n", ns, "-f", "-"], { input: held });
    await client.kubectl.ok(["delete", "cm", "held", "-n", ns, "--wait=false"]);
    const waiting = client.kubectl.start([
      "wait",
      "--for=delete",
      "cm/held",
      "-n",
      ns,
      "--timeout=20s",
      "-v=6",
    ]);
    // kubectl has read the object and watches it.
    await waiting.line(/watch=true.* 200 OK/);
    expect((await client.kubectl.json(["get", "cm", "held", "-n", ns])).metadata.deletionTimestamp).toMatch(
      /Z$/,
    );
    await client.kubectl.ok([
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
    const ns = await createNamespace(client.kubectl, "watching");
    const watch = client.kubectl.start(["get", "cm", "-n", ns, "-w", "--output-watch-events"]);
    await client.kubectl.ok(["create", "-n", ns, "-f", "-"], { input: configMap("seen", { a: "1" }) });
    await watch.line(/^ADDED\s+seen\s+1\s/);
    await client.kubectl.ok(["patch", "cm", "seen", "-n", ns, "-p", '{"data":{"b":"2"}}']);
    await watch.line(/^MODIFIED\s+seen\s+2\s/);
    await client.kubectl.ok(["delete", "cm", "seen", "-n", ns]);
    await watch.line(/^DELETED\s+seen\s+2\s/);
    await watch.stop();
  });
});
