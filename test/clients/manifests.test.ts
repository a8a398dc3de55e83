import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";

const folder = fileURLToPath(new URL("../../../shared/manifests/kube-prometheus", import.meta.url));

/** The kinds that this server has so far; a list counts by what is in it. */
const kinds = new Set([
  "ClusterRole",
  "ClusterRoleBinding",
  "ConfigMap",
  "Namespace",
  "Role",
  "RoleBinding",
  "Secret",
  "ServiceAccount",
]);

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  items?: Manifest[];
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  subjects?: { kind: string; apiGroup?: string }[];
  [field: string]: unknown;
}

/** Every document of the folder, lists as they stand, whose kind is one of ours. */
function readManifests(): Manifest[] {
  const files = [
    "setup/namespace.yaml",
    ...readdirSync(folder)
      .filter((name) => name.endsWith(".yaml"))
      .toSorted(),
  ];
  const documents = files.flatMap((name) => parseAllDocuments(readFileSync(join(folder, name), "utf8")));
  return documents
    .map((document) => document.toJS() as Manifest | null)
    .filter((one): one is Manifest => one !== null && kinds.has(one.kind.replace(/List$/, "")));
}

/** What must stand in the server after a manifest was applied. */
function stored(sent: Manifest): object {
  const { apiVersion, kind, metadata, stringData, ...rest } = structuredClone(sent);
  const encoded = Object.entries(stringData ?? {}).map(([key, text]) => [
    key,
    Buffer.from(text).toString("base64"),
  ]);
  if (encoded.length > 0)
    rest.data = { ...rest.data, ...(Object.fromEntries(encoded) as Record<string, string>) };
  if (rest.data !== undefined && Object.keys(rest.data).length === 0) delete rest.data;
  for (const subject of rest.subjects ?? []) {
    if (subject.kind !== "ServiceAccount") subject.apiGroup ??= "rbac.authorization.k8s.io";
  }
  return { apiVersion, kind, metadata, ...rest };
}

const title = "the manifests of kube-prometheus";
if (!existsSync(folder)) {
  describe.skip(`${title}: skipped, because ../shared/manifests/kube-prometheus is absent`, () => {
    it("needs the manifests", () => undefined);
  });
} else {
  describeKubectl(title, (program) => {
    let server: Server;
    let kubectl: Kubectl;
    const documents = readManifests();
    const objects = documents.flatMap((one) => one.items ?? [one]);

    beforeAll(async () => {
      server = await createServer({ vocabulary: "kubernetes" });
      kubectl = new Kubectl(program, server.kubeconfig());
    });
    afterAll(async () => {
      await kubectl?.close();
      await server?.close();
    });

    /**
     * Newer clients look up custom resource definitions before they validate a kind that can't be patched, such as a
     * list or a review, and give up where that resource isn't served; so those go unvalidated until it is.
     */
    const unvalidated = program.minor >= 25 ? ["--validate=false"] : [];

    /** Applies the documents, each kind of document with as much validation as can be had. */
    async function applyAll(): Promise<string[]> {
      const isList = (one: Manifest) => one.kind.endsWith("List");
      const file = (name: string, some: Manifest[]) =>
        kubectl.file(name, some.map((one) => stringify(one)).join("---\n"));
      const single = file(
        "single.yaml",
        documents.filter((one) => !isList(one)),
      );
      const lists = file("lists.yaml", documents.filter(isList));
      const printed =
        (await kubectl.ok(["apply", "-f", single])) +
        (await kubectl.ok(["apply", ...unvalidated, "-f", lists]));
      return printed.trim().split("\n");
    }

    it("has every kind and both forms of list to show", () => {
      expect(new Set(objects.map((one) => one.kind))).toEqual(kinds);
      expect(
        documents
          .filter((one) => one.kind.endsWith("List"))
          .map((one) => one.kind)
          .toSorted(),
      ).toEqual(["ConfigMapList", "RoleBindingList", "RoleList"]);
    });

    it("applies all of them, and then finds nothing to change", async () => {
      const lines = await applyAll();
      expect(lines).toHaveLength(objects.length);
      expect(lines.filter((line) => !line.endsWith(" created"))).toEqual([]);
      const again = await applyAll();
      // A client always sends stringData again: what is stored never shows it.
      const resent = objects.filter((one) => one.stringData !== undefined);
      const changed = again.filter((line) => !line.endsWith(" unchanged"));
      expect(changed).toEqual(resent.map((one) => `secret/${one.metadata.name} configured`));
    });

    it("reads them back as they were sent", async () => {
      const resources = [...kinds].map((kind) => `${kind.toLowerCase()}s`).join(",");
      const { items } = (await kubectl.json(["get", resources, "-A"])) as { items: Manifest[] };
      const found = new Map(items.map((one) => [keyOf(one), one]));
      for (const sent of objects) expect(found.get(keyOf(sent)), keyOf(sent)).toMatchObject(stored(sent));
    });

    it("also applies a List document", async () => {
      const wanted = objects.filter((one) => one.kind === "ServiceAccount");
      const list = { apiVersion: "v1", kind: "List", items: wanted };
      const lines = (await kubectl.ok(["apply", "-f", kubectl.file("list.yaml", stringify(list))]))
        .trim()
        .split("\n");
      expect(lines.filter((line) => line.endsWith(" unchanged"))).toHaveLength(wanted.length);
    });

    const account = (name: string) => `system:serviceaccount:monitoring:${name}`;
    const on = (verb: string, group: string, resource: string, namespace = "") => ({
      resourceAttributes: { verb, group, resource, namespace },
    });
    const questions: readonly [allowed: boolean, user: string, attributes: object][] = [
      [true, account("prometheus-k8s"), on("list", "", "pods", "default")],
      [true, account("prometheus-k8s"), on("watch", "", "services", "kube-system")],
      [true, account("prometheus-k8s"), on("get", "discovery.k8s.io", "endpointslices", "monitoring")],
      [true, account("prometheus-k8s"), on("get", "", "configmaps", "monitoring")],
      [false, account("prometheus-k8s"), on("get", "", "configmaps", "default")],
      [false, account("prometheus-k8s"), on("delete", "", "pods", "default")],
      [false, account("prometheus-k8s"), on("list", "", "pods", "kube-public")],
      [false, account("prometheus-k8s"), on("list", "", "pods")],
      [true, account("prometheus-k8s"), { nonResourceAttributes: { verb: "get", path: "/metrics" } }],
      [true, account("prometheus-k8s"), { nonResourceAttributes: { verb: "get", path: "/metrics/slis" } }],
      [false, account("prometheus-k8s"), { nonResourceAttributes: { verb: "post", path: "/metrics" } }],
      [true, account("kube-state-metrics"), on("list", "", "secrets")],
      [false, account("kube-state-metrics"), on("get", "", "secrets", "default")],
      [true, account("kube-state-metrics"), on("watch", "apps", "deployments", "default")],
      [true, account("node-exporter"), on("create", "authentication.k8s.io", "tokenreviews")],
      [true, account("blackbox-exporter"), on("create", "authorization.k8s.io", "subjectaccessreviews")],
      [true, account("prometheus-operator"), on("create", "", "secrets", "default")],
      [false, account("grafana"), on("get", "", "secrets", "monitoring")],
      [false, "system:serviceaccount:default:prometheus-k8s", on("list", "", "pods", "default")],
    ];

    it.each(questions)("allowed %s: %s, %j", async (allowed, user, attributes) => {
      const namespace = user.split(":")[2]!;
      const groups = [
        "system:serviceaccounts",
        `system:serviceaccounts:${namespace}`,
        "system:authenticated",
      ];
      const review = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user, groups, ...attributes },
      };
      const answer = await kubectl.ok(["create", ...unvalidated, "-f", "-", "-o", "json"], {
        input: JSON.stringify(review),
      });
      const { status } = JSON.parse(answer) as { status: { allowed: boolean; reason?: string } };
      expect(status.allowed).toBe(allowed);
      if (allowed) expect(status.reason).toMatch(/RBAC: allowed by (Cluster)?RoleBinding/);
    });

    it("gives the aggregated reader's rules to the default roles", async () => {
      const expected = {
        apiGroups: ["metrics.k8s.io"],
        resources: ["pods", "nodes"],
        verbs: ["get", "list", "watch"],
      };
      await expect
        .poll(async () => (await kubectl.json(["get", "clusterrole", "view"])).rules, { timeout: 10_000 })
        .toContainEqual(expected);
    });

    it("deletes all of them, the namespace with what is in it", async () => {
      const file = kubectl.file("all.yaml", documents.map((one) => stringify(one)).join("---\n"));
      const lines = (await kubectl.ok(["delete", "-f", file, "--ignore-not-found", "--wait=false"]))
        .trim()
        .split("\n");
      expect(lines).toContain('namespace "monitoring" deleted');
      await expect
        .poll(() => kubectl.run(["get", "namespace", "monitoring"]), { timeout: 20_000 })
        .toMatchObject({ code: 1, stderr: expect.stringContaining("NotFound") as string });
      expect(await kubectl.ok(["get", "configmaps,secrets,serviceaccounts", "-A", "-o", "name"])).toBe("");
    });
  });
}

function keyOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}
