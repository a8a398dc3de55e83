import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { TestServer } from "../../support/api.ts";
import { deployment, problemLines, rangeDefinition, reportOf, validateFiles } from "./support.ts";

const namespace = (name: string) => `apiVersion: v1\nkind: Namespace\nmetadata: { name: ${name} }\n`;
const pod = (name: string, spec = "") =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\nspec:\n  containers: [{ name: a, image: b }]\n${spec}`;

describe("releases", () => {
  it("have a column each, and problems name the releases that have them", async () => {
    const { code, output } = await validateFiles(
      { "a.yaml": `${pod("a", "  hostnameOverride: b\n")}---\n${pod("b")}` },
      ["$DIR", "--release=1.26,1.37"],
    );
    expect(code).toBe(1);
    expect(output).toContain('error: Pod a: unknown field "spec.hostnameOverride" (schema) [1.26]');
    expect(output).toMatch(/^ +1\.26 {6}1\.37\n\.\/a\.yaml:1 Pod a {2}rejected {2}accepted\n$/m);
    expect(output).toContain("2 objects, 1 accepted, 1 rejected, 0 warnings (release 1.26, 1.37)");
  });
});

describe("the configuration of a server", () => {
  it("allows privileged containers, and has addresses of Services that the manifests may not have", async () => {
    const privileged = pod("a").replace("image: b", "image: b, securityContext: { privileged: true }");
    const service = "apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec:\n  clusterIP: 10.96.0.10\n";
    const ports = "  ports: [{ port: 80 }]\n";
    const first = service.replace("10.96.0.10", "10.0.0.9").replace("{ name: a }", "{ name: b }");
    const second = first.replace("{ name: b }", "{ name: c }");
    const report = await reportOf({
      "a.yaml": `${privileged}---\n${service}${ports}---\n${first}  type: NodePort\n  ports: [{ port: 80, nodePort: 30001 }]\n---\n${second}${ports}`,
    });
    expect(report.accepted).toBe(true);
    expect(problemLines(report)).toEqual([
      'a.yaml:10:1 warning validation spec.clusterIPs: Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: it is not in the range 10.0.0.0/24',
      'a.yaml:25:1 warning validation spec.clusterIPs: Invalid value: ["10.0.0.9"]: failed to allocate IP 10.0.0.9: provided IP is already allocated',
    ]);
  });
});

describe("context", () => {
  it("--pod-security rejects pods, and pods that a controller couldn't create", async () => {
    const files = { "a.yaml": `${pod("a")}---\n${deployment}` };
    expect(problemLines(await reportOf(files))).toEqual([]);
    const report = await reportOf(files, ["--pod-security=restricted"]);
    expect(
      report.objects.flatMap(({ kind, problems }) =>
        problems.map((one) => `${kind} ${one.severity} ${one.rule}`),
      ),
    ).toEqual(["Pod error pod-security", "Deployment error pod-security"]);
    expect(report.objects[0]!.problems[0]!.message).toContain('violates PodSecurity "restricted:latest"');
  });

  it("policies in --policy judge objects of any file, with their name and position", async () => {
    const policy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: few-replicas }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments] }]
  validations: [{ expression: object.spec.replicas < 2, message: too many replicas }]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: few-replicas }
spec: { policyName: few-replicas, validationActions: [Deny] }
`;
    const words = ["$DIR/a.yaml", "--policy=$DIR/policy.yaml", "--release=1.33"];
    const { code, output } = await validateFiles({ "a.yaml": deployment, "policy.yaml": policy }, words);
    expect(code).toBe(1);
    expect(output).toContain(
      "error: Deployment web: ValidatingAdmissionPolicy 'few-replicas' with binding 'few-replicas' denied request: too many replicas (policy)",
    );
    expect(output).toContain("    rule: few-replicas (./policy.yaml:1:1)\n");
  });

  it("policies judge the objects that decide about others too", async () => {
    const policy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: no-roles }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: [rbac.authorization.k8s.io], apiVersions: [v1], operations: [CREATE], resources: [roles] }]
  validations: [{ expression: "false", message: no roles }]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: no-roles }
spec: { policyName: no-roles, validationActions: [Deny] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: a }
rules: []
`;
    const { objects } = await reportOf({ "a.yaml": policy }, ["--release=1.33"]);
    expect(objects.map(({ accepted }) => accepted)).toEqual([true, true, false]);
    expect(objects[2]!.problems[0]!.message).toContain("no roles");
  });

  it("quotas count the objects of all files, and limit ranges apply", async () => {
    const inShop = (text: string) => text.replace("metadata: {", "metadata: { namespace: shop,");
    const report = await reportOf({
      "a.yaml": [pod("a"), pod("b"), pod("c")].map(inShop).join("---\n"),
      "limits.yaml": `${namespace("shop")}---\napiVersion: v1\nkind: ResourceQuota\nmetadata: { name: pods, namespace: shop }\nspec: { hard: { pods: "2" } }\n`,
      "ranges.yaml": `${namespace("small")}---\napiVersion: v1\nkind: LimitRange\nmetadata: { name: cpu, namespace: small }\nspec: { limits: [{ type: Container, max: { cpu: "1" } }] }\n---\n${pod(
        "d",
      )
        .replace("{ name: d", "{ namespace: small, name: d")
        .replace("image: b", 'image: b, resources: { limits: { cpu: "2" } }')}`,
    });
    expect(problemLines(report)).toEqual([
      "a.yaml:13:1 error quota : exceeded quota: pods, requested: pods=1, used: pods=2, limited: pods=2",
      expect.stringMatching(/^ranges.yaml:10:1 error limit-range : maximum cpu usage per Container is 1/),
    ]);
  });

  it("--as names each right that the user lacks, by the roles among the files", async () => {
    const rights = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: deployer, namespace: default }
rules: [{ apiGroups: [apps], resources: [deployments], verbs: [get, create] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: deployer, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: deployers }]
`;
    const files = { "web.yaml": deployment, "rights/a.yaml": rights };
    const words = ["$DIR/web.yaml", "--with=$DIR/rights", "--as=devi", "--groups=deployers", "-o", "json"];
    const { output } = await validateFiles(files, words);
    expect(problemLines(JSON.parse(output))).toEqual([
      'web.yaml:1:1 error authorization : user "devi" may not patch deployments.apps in the namespace "default"',
    ]);
  });

  it("a definition with fields that the release doesn't know is rejected, and judges objects by the others", async () => {
    const definition = rangeDefinition.replace(
      "      storage: true\n",
      "      storage: true\n      selectableFields: [{ jsonPath: .spec.mode }]\n",
    );
    const range =
      "apiVersion: example.com/v1\nkind: Range\nmetadata: { name: a }\nspec: { min: 3, max: 2 }\n";
    const report = await reportOf({ "a.yaml": definition, "b.yaml": range }, ["--release=1.26,1.37"]);
    expect(report.objects.map(({ kind, acceptedBy }) => [kind, acceptedBy])).toEqual([
      ["CustomResourceDefinition", ["1.37"]],
      ["Range", []],
    ]);
    expect(problemLines(report)).toEqual([
      'a.yaml:13:7 error schema spec.versions[0].selectableFields: unknown field "spec.versions[0].selectableFields"',
      'b.yaml:4:1 error cel spec: Invalid value: "object": min must not exceed max',
    ]);
  });

  it("missing definitions are accepted with --unknown-kinds=warning", async () => {
    const report = await reportOf({ "a.yaml": "apiVersion: a.com/v1\nkind: A\nmetadata: { name: a }\n" }, [
      "--unknown-kinds=warning",
    ]);
    expect(report.accepted).toBe(true);
    expect(report.objects[0]!.problems[0]).toMatchObject({ severity: "warning", rule: "kind" });
  });
});

describe("references", () => {
  const files = {
    "a.yaml": `${pod(
      "a",
      "  serviceAccountName: ghost\n  priorityClassName: gold\n  volumes:\n    - { name: v, configMap: { name: none } }\n    - { name: w, secret: { secretName: none, optional: true } }\n",
    )}---\napiVersion: v1\nkind: Service\nmetadata: { name: s }\nspec:\n  selector: { app: none }\n  ports: [{ port: 80 }]\n`,
  };

  it("to missing objects are warnings, except for optional ones", async () => {
    const report = await reportOf(files);
    expect(report.accepted).toBe(true);
    expect(problemLines(report)).toEqual([
      'a.yaml:6:3 warning reference spec.serviceAccountName: ServiceAccount "ghost" not found in namespace "default"',
      'a.yaml:7:3 warning reference spec.priorityClassName: PriorityClass "gold" not found',
      'a.yaml:9:31 warning reference spec.volumes[0].configMap.name: ConfigMap "none" not found in namespace "default"',
      'a.yaml:16:3 warning reference spec.selector: the selector matches no pods in namespace "default"',
    ]);
  });

  it("are errors with --references=error, and left out with ignore", async () => {
    expect((await reportOf(files, ["--references=error"])).accepted).toBe(false);
    expect(problemLines(await reportOf(files, ["--references=ignore"]))).toEqual([]);
  });

  it("find ports of Services and pods, and objects of other files", async () => {
    const service = (port: string) =>
      `apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec:\n  selector: { app: web }\n  ports: [{ port: 80, targetPort: ${port} }]\n`;
    const ingress = (port: number) =>
      `apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: { name: web }\nspec:\n  defaultBackend: { service: { name: web, port: { number: ${port} } } }\n`;
    const lines = async (port: string, number: number) =>
      problemLines(
        await reportOf({ "a.yaml": ingress(number), "b.yaml": service(port), "c.yaml": deployment }),
      );
    expect(await lines("http", 80)).toEqual([]);
    expect(await lines("htp", 81)).toEqual([
      'a.yaml:5:51 warning reference spec.defaultBackend.service.port.number: Service "web" has no port "81"',
      'b.yaml:6:23 warning reference spec.ports[0].targetPort: no selected pod has a port "htp"',
    ]);
  });
});

describe("a running server", () => {
  let server: TestServer;
  beforeAll(async () => (server = await TestServer.start({ vocabulary: "kubernetes" })));
  afterAll(() => server.close());

  test("gives definitions and names of objects, and is only read", async () => {
    const { client } = server.server;
    await client.apply(rangeDefinition);
    await client.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "there", namespace: "default" },
    });
    const kubeconfig = server.server.kubeconfigFile();
    const range =
      "apiVersion: example.com/v1\nkind: Range\nmetadata: { name: a }\nspec: { min: 2, max: 1 }\n";
    const used = pod("a", "  volumes:\n    - { name: v, configMap: { name: there } }\n");
    const { output } = await validateFiles({ "a.yaml": `${range}---\n${used}` }, [
      "$DIR",
      `--kubeconfig=${kubeconfig}`,
      "-o",
      "json",
    ]);
    expect(problemLines(JSON.parse(output))).toEqual([
      'a.yaml:4:1 error cel spec: Invalid value: "object": min must not exceed max',
    ]);
    expect(
      await client.find({ apiVersion: "v1", kind: "Pod", name: "a", namespace: "default" }),
    ).toBeUndefined();
  });
});
