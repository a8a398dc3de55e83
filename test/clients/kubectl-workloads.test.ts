import { afterAll, beforeAll, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";

/** Workloads, services and nodes on the command line. */
describeKubectl("kubectl and workloads", (program) => {
  let server: Server;
  let kubectl: Kubectl;

  beforeAll(async () => {
    // A test counts the ConfigMaps of a namespace.
    const enabledControllers = ["*", "-root-ca-cert-publisher"];
    server = await createServer({ vocabulary: "kubernetes", enabledControllers });
    kubectl = new Kubectl(program, server.kubeconfig());
  });
  afterAll(async () => {
    await kubectl?.close();
    await server?.close();
  });

  const words = (line: string) => line.trim().split(/\s{2,}|\s(?=\S+$)/);
  /** The rows of a table, by their first cell. */
  const rows = (text: string) =>
    new Map(
      text
        .trim()
        .split("\n")
        .map((line) => [line.split(/\s+/)[0]!, words(line)]),
    );

  async function namespace(name: string): Promise<string> {
    await kubectl.ok(["create", "namespace", name]);
    return name;
  }

  /** Sets the status of an object as its controller would. */
  async function setStatus(path: string, status: object): Promise<void> {
    const { client } = server;
    const [apiVersion = "", kind = "", ns = "", name = ""] = path.split(" ");
    const object = await client.get({ apiVersion, kind, name, namespace: ns });
    await client.update({ ...object, status } as never, "status");
  }

  it("api-resources lists every kind with its short names, group, scope and verbs", async () => {
    const found = rows(await kubectl.ok(["api-resources", "--no-headers"]));
    expect(found.size).toBeGreaterThan(40);
    for (const one of [
      "pods",
      "deployments",
      "services",
      "ingresses",
      "persistentvolumeclaims",
      "storageclasses",
    ]) {
      expect([...found.keys()]).toContain(one);
    }
  });

  it("explain shows fields, types and descriptions at every depth", async () => {
    const text = await kubectl.ok([
      "explain",
      "deployment.spec.template.spec.containers.livenessProbe.httpGet",
    ]);
    expect(text).toContain("port");
    expect(text).toMatch(/path\s+<string>/);
    const tree = await kubectl.ok(["explain", "pods.spec", "--recursive"]);
    for (const field of ["topologySpreadConstraints", "securityContext", "emptyDir", "matchExpressions"]) {
      expect(tree).toContain(field);
    }
  });

  it("create, get, scale, set image, label --all, expose and delete work", async () => {
    const ns = await namespace("shop");
    const run = (...args: string[]) => kubectl.ok([...args, "-n", ns]);
    await run("create", "deployment", "web", "--image=nginx:1.25", "--replicas=3");
    expect(
      rows(await run("get", "deploy", "--no-headers"))
        .get("web")!
        .slice(1, 4),
    ).toEqual(["0/3", "0", "0"]);
    await run("scale", "deployment", "web", "--replicas=5", "--current-replicas=3");
    expect(
      await kubectl.fails(["scale", "deployment", "web", "--replicas=9", "--current-replicas=3", "-n", ns]),
    ).toContain("Expected replicas to be 3, was 5");
    await run("set", "image", "deployment/web", "nginx=nginx:1.26");
    await run("set", "env", "deployment/web", "MODE=fast");
    await run("set", "resources", "deployment/web", "--limits=cpu=200m,memory=512Mi");
    const deployment = await kubectl.json(["get", "deployment", "web", "-n", ns]);
    expect(deployment.spec.replicas).toBe(5);
    expect(deployment.metadata.generation).toBe(5);
    expect(deployment.spec.template.spec.containers).toMatchObject([
      {
        image: "nginx:1.26",
        env: [{ name: "MODE", value: "fast" }],
        resources: { limits: { cpu: "200m", memory: "512Mi" } },
      },
    ]);
    await run("create", "deployment", "api", "--image=api");
    expect(await run("label", "deployments", "--all", "tier=front")).toMatch(/web labeled|labeled/);
    expect(await run("get", "deploy", "-l", "tier=front", "-o", "name")).toBe(
      "deployment.apps/api\ndeployment.apps/web\n",
    );
    await run("expose", "deployment", "web", "--port=80", "--target-port=8080", "--type=NodePort");
    const [name, type, ip, , ports] = rows(await run("get", "svc", "--no-headers")).get("web")!;
    expect([name, type]).toEqual(["web", "NodePort"]);
    expect(ip).toMatch(/^10\.0\.0\.\d+$/);
    expect(ports).toMatch(/^80:3\d{4}\/TCP$/);
    await run("autoscale", "deployment", "web", "--min=2", "--max=8", "--cpu-percent=70");
    expect(
      rows(await run("get", "hpa", "--no-headers"))
        .get("web")!
        .join(" "),
    ).toContain("Deployment/web");
    await run("delete", "deployment,service,hpa", "--all");
    expect(await run("get", "deploy,svc", "-o", "name")).toBe("");
  });

  it("apply merges client-side and removes fields, diff works before and after, edit patches", async () => {
    const ns = await namespace("applied");
    const manifest = (replicas: number, image: string, more: object = {}) =>
      JSON.stringify({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web", namespace: ns },
        spec: {
          replicas,
          selector: { matchLabels: { app: "web" } },
          template: {
            metadata: { labels: { app: "web" } },
            spec: { containers: [{ name: "web", image, ports: [{ containerPort: 80 }], ...more }] },
          },
        },
      });
    const apply = (text: string) => kubectl.ok(["apply", "-f", "-"], { input: text });
    expect(await apply(manifest(2, "web:1", { env: [{ name: "A", value: "1" }] }))).toContain("created");
    expect(await apply(manifest(2, "web:1", { env: [{ name: "A", value: "1" }] }))).toContain("unchanged");
    const diff = await kubectl.run(["diff", "-f", "-"], { input: manifest(2, "web:2") });
    expect(diff.code).toBe(1);
    expect(diff.stdout).toMatch(/-\s+image: web:1\n\+?.*\+\s+image: web:2|image: web:2/s);
    expect(await apply(manifest(2, "web:2"))).toContain("configured");
    const { spec } = await kubectl.json(["get", "deployment", "web", "-n", ns]);
    expect(spec.template.spec.containers).toMatchObject([{ image: "web:2", ports: [{ containerPort: 80 }] }]);
    expect(spec.template.spec.containers[0]).not.toHaveProperty("env");
    expect((await kubectl.run(["diff", "-f", "-"], { input: manifest(2, "web:2") })).code).toBe(0);
    expect(await kubectl.fails(["apply", "-f", "-"], { input: manifest(-1, "web:2") })).toContain(
      "spec.replicas",
    );
    const unknown = await kubectl.fails(["apply", "-f", "-"], {
      input: manifest(1, "w", { imagee: "typo" }),
    });
    expect(unknown).toContain("imagee");
  });

  it("rollout history shows the revisions, and rollout status waits for the controllers", async () => {
    const ns = await namespace("rolled");
    await kubectl.ok(["create", "deployment", "web", "--image=web:1", "-n", ns]);
    const { metadata, spec } = await kubectl.json(["get", "deployment", "web", "-n", ns]);
    await server.client.create({
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        name: "web-1",
        namespace: ns,
        labels: { app: "web" },
        annotations: { "deployment.kubernetes.io/revision": "1" },
        ownerReferences: [
          { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: metadata.uid, controller: true },
        ],
      },
      spec: { selector: spec.selector, template: spec.template },
    });
    expect(await kubectl.ok(["rollout", "history", "deployment/web", "-n", ns])).toMatch(/REVISION.*\n1 /);
    const waiting = kubectl.start(["rollout", "status", "deployment/web", "-n", ns]);
    await waiting.line(/Waiting for/);
    await setStatus(`apps/v1 Deployment ${ns} web`, {
      observedGeneration: metadata.generation,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      conditions: [{ type: "Available", status: "True" }],
    });
    await waiting.line(/successfully rolled out/);
    expect(
      await kubectl.ok(["wait", "deployment/web", "--for=condition=Available", "--timeout=5s", "-n", ns]),
    ).toContain("condition met");
  });

  it("delete --cascade: background, orphan and foreground work", async () => {
    const ns = await namespace("owning");
    const make = async (owner: string) => {
      await kubectl.ok(["create", "deployment", owner, "--image=x", "-n", ns]);
      const { metadata } = await kubectl.json(["get", "deployment", owner, "-n", ns]);
      await server.client.create({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: `${owner}-child`,
          namespace: ns,
          ownerReferences: [
            {
              apiVersion: "apps/v1",
              kind: "Deployment",
              name: owner,
              uid: metadata.uid,
              blockOwnerDeletion: true,
            },
          ],
        },
      });
    };
    const children = async () =>
      (await kubectl.json(["get", "cm", "-n", ns])).items.map(
        (one: { metadata: { name: string } }) => one.metadata.name,
      );
    for (const owner of ["a", "b", "c"]) await make(owner);
    await kubectl.ok(["delete", "deployment", "a", "--cascade=background", "-n", ns]);
    await expect.poll(children).toEqual(["b-child", "c-child"]);
    await kubectl.ok(["delete", "deployment", "b", "--cascade=orphan", "-n", ns]);
    expect(await children()).toEqual(["b-child", "c-child"]);
    await kubectl.ok(["delete", "deployment", "c", "--cascade=foreground", "-n", ns]);
    await expect.poll(children).toEqual(["b-child"]);
  });

  it("pods: run, table columns, graceful and immediate deletion, and wait work", async () => {
    const ns = await namespace("running");
    const run = (...args: string[]) => kubectl.ok(["-n", ns, ...args]);
    await run("run", "p", "--image=busybox", "--labels=a=b", "--", "sleep", "1");
    expect(
      rows(await run("get", "pods", "--no-headers"))
        .get("p")!
        .slice(1, 4),
    ).toEqual(["0/1", "Pending", "0"]);
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "p" },
      target: { kind: "Node", name: "n1" },
    };
    await run(
      "create",
      "--raw",
      `/api/v1/namespaces/${ns}/pods/p/binding`,
      "-f",
      kubectl.file("b.json", JSON.stringify(binding)),
    );
    await setStatus(`v1 Pod ${ns} p`, {
      phase: "Running",
      podIP: "10.2.3.4",
      podIPs: [{ ip: "10.2.3.4" }],
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [
        {
          name: "p",
          ready: true,
          restartCount: 2,
          image: "busybox",
          imageID: "x",
          state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
        },
      ],
    });
    const wide = (await run("get", "pods", "-o", "wide", "--no-headers")).trim().split(/\s{2,}/);
    expect(wide.slice(0, 4)).toEqual(["p", "1/1", "Running", "2"]);
    expect(wide.slice(5, 7)).toEqual(["10.2.3.4", "n1"]);
    expect(await run("wait", "pod/p", "--for=condition=Ready", "--timeout=5s")).toContain("condition met");
    expect(
      await run("get", "pods", "--field-selector=spec.nodeName=n1,status.phase=Running", "-o", "name"),
    ).toBe("pod/p\n");
    await run("delete", "pod", "p", "--wait=false", "--grace-period=20");
    const { metadata } = await kubectl.json(["get", "pod", "p", "-n", ns]);
    expect(metadata.deletionGracePeriodSeconds).toBe(20);
    expect(rows(await run("get", "pods", "--no-headers")).get("p")![2]).toBe("Terminating");
    await run("delete", "pod", "p", "--force", "--grace-period=0");
    expect(await run("get", "pods", "-o", "name")).toBe("");
  });

  it("nodes: taint, cordon and a drain that respects a disruption budget work", async () => {
    const ns = await namespace("drained");
    const { client } = server;
    await client.create({ apiVersion: "v1", kind: "Node", metadata: { name: "n2" } });
    await kubectl.ok(["taint", "node", "n2", "dedicated=gpu:NoSchedule"]);
    await kubectl.ok(["cordon", "n2"]);
    expect((await kubectl.json(["get", "node", "n2"])).spec).toMatchObject({ unschedulable: true });
    expect(
      rows(await kubectl.ok(["get", "nodes", "--no-headers"]))
        .get("n2")!
        .join(" "),
    ).toContain("SchedulingDisabled");
    const controller = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "rs", uid: "u", controller: true };
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const set = await client.create({
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name: "rs", namespace: ns },
      spec: { selector: { matchLabels: { a: "b" } }, template },
    });
    await client.create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "p",
        namespace: ns,
        labels: { a: "b" },
        ownerReferences: [{ ...controller, uid: set.metadata.uid! }],
      },
      spec: { nodeName: "n2", containers: [{ name: "c", image: "i" }], terminationGracePeriodSeconds: 0 },
    });
    await setStatus(`v1 Pod ${ns} p`, { phase: "Running", conditions: [{ type: "Ready", status: "True" }] });
    await client.create({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "b", namespace: ns },
      spec: { selector: { matchLabels: { a: "b" } }, minAvailable: 1 },
    });
    const budget = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    };
    await setStatus(`policy/v1 PodDisruptionBudget ${ns} b`, budget);
    const refused = await kubectl.fails(["drain", "n2", "--ignore-daemonsets", "--timeout=3s"]);
    expect(refused).toContain("disruption budget");
    await setStatus(`policy/v1 PodDisruptionBudget ${ns} b`, { ...budget, disruptionsAllowed: 1 });
    await kubectl.ok(["drain", "n2", "--ignore-daemonsets", "--timeout=20s"]);
    expect(await kubectl.ok(["get", "pods", "-n", ns, "-o", "name"])).toBe("");
    const { status } = await kubectl.json(["get", "pdb", "b", "-n", ns]);
    expect(status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { p: expect.any(String) } });
  });

  it("jobs, cron jobs, ingresses, quotas, budgets and priority classes can be created", async () => {
    const ns = await namespace("generated");
    const make = (...args: string[]) => kubectl.ok(["create", ...args, "-n", ns]);
    await make("job", "once", "--image=x");
    // Older programs write cron jobs in a version that is no longer served.
    const current = program.minor >= 21;
    if (current) {
      await make("cronjob", "nightly", "--image=x", "--schedule=0 3 * * *");
      await make("job", "from-cron", "--from=cronjob/nightly");
    }
    await make("ingress", "web", "--rule=example.com/*=web:80");
    await make("quota", "limits", "--hard=cpu=1,pods=10");
    await make("priorityclass", "high", "--value=1000");
    const get = async (what: string) => rows(await kubectl.ok(["get", what, "-n", ns, "--no-headers"]));
    if (current) expect((await get("cronjobs")).get("nightly")!.join(" ")).toContain("0 3 * * *");
    expect([...(await get("jobs")).keys()]).toEqual(current ? ["from-cron", "once"] : ["once"]);
    expect((await get("ingresses")).get("web")!.join(" ")).toContain("example.com");
    expect((await get("priorityclasses")).get("high")![1]).toBe("1000");
    expect(await kubectl.ok(["describe", "quota", "limits", "-n", ns])).toContain("limits");
    expect(await kubectl.ok(["describe", "ingress", "web", "-n", ns])).toContain("example.com");
  });

  it("events are listed in the order of their time", async () => {
    const ns = await namespace("telling");
    for (const [name, reason] of [
      ["one", "Started"],
      ["two", "Failed"],
    ] as const) {
      await server.client.create({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name, namespace: ns },
        involvedObject: { kind: "Pod", name: "p", namespace: ns },
        reason,
        message: `it ${reason.toLowerCase()}`,
        type: "Normal",
        lastTimestamp: new Date().toISOString().slice(0, 19) + "Z",
      });
    }
    const text = await kubectl.ok(["get", "events", "-n", ns]);
    expect(text).toContain("pod/p");
    expect(text).toContain("it failed");
    expect(await kubectl.ok(["get", "events.v1.events.k8s.io", "-n", ns, "-o", "name"])).toContain("one");
  });
});
