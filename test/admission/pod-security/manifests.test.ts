import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";

/** Manifests of real programs, where they lie beside the project. */
const root = fileURLToPath(new URL("../../../../shared/manifests", import.meta.url));

interface Workload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly metadata?: object;
      readonly spec: { readonly serviceAccountName?: string };
    };
  };
}

const noProfile = (containers: string) =>
  `seccompProfile (pod or ${containers} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`;
const server = noProfile('container "server"');

/** What the pods of each workload violate of the level `restricted`. Empty: nothing. */
const expected: Record<string, string> = {
  "blackbox-exporter": noProfile('containers "blackbox-exporter", "module-configmap-reloader"'),
  grafana: "",
  "kube-state-metrics": "",
  "prometheus-adapter": "",
  "prometheus-operator": "",
  // It measures its node, so it needs the node's namespaces, files and clock.
  "node-exporter": [
    "host namespaces (hostNetwork=true, hostPID=true)",
    'hostPort (container "kube-rbac-proxy" uses hostPort 9100)',
    'unrestricted capabilities (container "node-exporter" must not include "SYS_TIME" in securityContext.capabilities.add)',
    'restricted volume types (volumes "sys", "root" use restricted volume type "hostPath")',
    noProfile('container "node-exporter"'),
  ].join(", "),
  loadgenerator: noProfile('containers "frontend-check", "main"'),
  "redis-cart": noProfile('container "redis"'),
  adservice: server,
  cartservice: server,
  checkoutservice: server,
  currencyservice: server,
  emailservice: server,
  frontend: server,
  paymentservice: server,
  productcatalogservice: server,
  recommendationservice: server,
  shippingservice: server,
};

const title = "the workloads of real programs in a namespace that enforces restricted";
if (!existsSync(root)) {
  describe.skip(`${title}: skipped, because ../shared/manifests is absent`, () => {
    test("needs the manifests", () => undefined);
  });
} else {
  describe(title, () => {
    const workloads = readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.ya?ml$/.test(name))
      .flatMap((name) => parseAllDocuments(readFileSync(path.join(root, name), "utf8")))
      .map((document) => document.toJS() as Workload | null)
      .filter((one): one is Workload => one?.kind === "Deployment" || one?.kind === "DaemonSet");

    let api: TestServer;
    beforeAll(async () => {
      api = await TestServer.start({ vocabulary: "kubernetes", controllers: [] });
      const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
      await ok(api.admin.post("/api/v1/namespaces", { metadata: { name: "strict", labels } }));
      const accounts = new Set(
        workloads.map(({ spec }) => spec.template.spec.serviceAccountName ?? "default"),
      );
      accounts.delete("default");
      for (const name of accounts) {
        await ok(api.admin.post("/api/v1/namespaces/strict/serviceaccounts", { metadata: { name } }));
      }
    });
    afterAll(() => api.close());

    test("all of them are known", () => {
      expect(workloads.map(({ metadata }) => metadata.name).toSorted()).toEqual(
        Object.keys(expected).toSorted(),
      );
    });

    const named = workloads.map((workload) => [workload.metadata.name, workload] as const);
    test.each(named)(
      "%s: the object is warned of, its pods are rejected, for the same",
      async (name, workload) => {
        const violations = expected[name];
        const { apiVersion, kind, spec } = workload;
        const resource = `/apis/${apiVersion}/namespaces/strict/${kind.toLowerCase()}s`;
        const made = await ok(api.admin.post(resource, { metadata: { name }, spec }));
        const ofSecurity = made.warnings.filter((text) => text.startsWith("would violate"));
        const would = `would violate PodSecurity "restricted:latest": ${violations}`;
        expect(ofSecurity).toEqual(violations === "" ? [] : [would]);
        const pod = { ...spec.template, metadata: { ...spec.template.metadata, name } };
        const { status, body } = await api.admin.post("/api/v1/namespaces/strict/pods", pod);
        if (violations === "") return expect(status).toBe(201);
        expect([status, body.message]).toEqual([
          403,
          `pods "${name}" is forbidden: violates PodSecurity "restricted:latest": ${violations}`,
        ]);
      },
    );
  });
}
