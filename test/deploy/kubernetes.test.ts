import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { EtcdServer, etcdMissing, makeCertificates } from "../storage/etcd-server.ts";
import { clusterOf, readAsAdministrator } from "../support/administrator.ts";
import type { Api } from "../support/api.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";
import { blockOf } from "../support/pages.ts";
import { freePort, program, root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const base = path.join(root, "deploy/kubernetes");
const folder = temporaryFolder();
afterAll(() => folder.remove());

interface Manifest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Path of the collection of each kind of the base. */
const collections: Readonly<Record<string, string>> = {
  Namespace: "/api/v1/namespaces",
  ServiceAccount: "/api/v1/namespaces/plinth/serviceaccounts",
  ConfigMap: "/api/v1/namespaces/plinth/configmaps",
  Service: "/api/v1/namespaces/plinth/services",
  Deployment: "/apis/apps/v1/namespaces/plinth/deployments",
  PodDisruptionBudget: "/apis/policy/v1/namespaces/plinth/poddisruptionbudgets",
  NetworkPolicy: "/apis/networking.k8s.io/v1/namespaces/plinth/networkpolicies",
};

const strictApply = "fieldManager=test&force=true&fieldValidation=Strict";

describeKubectl("the kustomize base", (kubectlProgram) => {
  let server: ServerProcess;
  let kubectl: Kubectl;
  let admin: Api;
  beforeAll(async () => {
    const tokens = path.join(folder.path, "tokens.csv");
    writeFileSync(tokens, "admin,root,1,system:masters\n");
    const dir = path.join(folder.path, `data-${kubectlProgram.minor}`);
    server = await ServerProcess.start(dir, "--kubernetes", `--token-auth-file=${tokens}`);
    kubectl = new Kubectl(kubectlProgram, readFileSync(server.administrator, "utf8"));
    admin = server.as("admin");
  });
  afterAll(async () => {
    await kubectl.close();
    await server.stop();
  });

  it("is accepted with strict validation, without warnings, in a namespace that enforces restricted", async () => {
    const rendered = await kubectl.ok(["kustomize", base]);
    const manifests = parseAllDocuments(rendered).map((one) => one.toJS() as Manifest);
    expect(manifests.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(collections).toSorted());
    const { stdout, stderr } = await kubectl.run(["apply", "-k", base]);
    expect([stderr, stdout.trim().split("\n").length]).toEqual(["", manifests.length]);
    for (const manifest of manifests) {
      const file = `${collections[manifest.kind]}/${manifest.metadata.name}`;
      const { status, warnings, text } = await admin.ask("PATCH", `${file}?${strictApply}`, {
        body: manifest,
        contentType: "application/apply-patch+yaml",
      });
      expect([status, warnings], text).toEqual([200, []]);
    }
  });

  it("takes the flags and the image of the overlay in docs/deploying.md", async () => {
    const overlay = blockOf("docs/deploying.md", "yaml file=kustomization.yaml");
    const dir = path.join(realpathSync(folder.path), `overlay-${kubectlProgram.minor}`);
    mkdirSync(dir);
    const list = kubectlProgram.minor < 21 ? "bases:" : "resources:";
    const text = overlay
      .replace("../deploy/kubernetes", path.relative(dir, base))
      .replace("resources:", list);
    writeFileSync(path.join(dir, "kustomization.yaml"), text);
    const rendered = await kubectl.ok(["kustomize", dir]);
    expect(rendered).toContain("PLINTH_ETCD_SERVERS: https://etcd-1.example.com:2379,https://etcd-2");
    expect(rendered).toContain("image: registry.example.com/plinth:0.1.0");
    expect(rendered.match(/plinth-flags-\w+/g)).toHaveLength(2);
  });

  it("pods of its Deployment are admitted, and pods with more rights are not", async () => {
    const { body } = await admin.get(`${collections["Deployment"]}/plinth`);
    const pod = { metadata: { name: "plinth" }, spec: body.spec.template.spec };
    const pods = "/api/v1/namespaces/plinth/pods?dryRun=All&fieldValidation=Strict";
    const { status, warnings, text } = await admin.post(pods, pod);
    expect([status, warnings], text).toEqual([201, []]);
    expect(pod.spec.containers[0].image).toBe("plinth:0.1.0");
    pod.spec.containers[0].securityContext.allowPrivilegeEscalation = true;
    expect((await admin.post(pods, pod)).status).toBe(403);
  });
});

interface Deployment {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly [Container] } };
  };
}
interface Container {
  readonly args: readonly string[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly scheme: string };
}

const title =
  etcdMissing === undefined ? "the arguments of the Deployment" : `the Deployment: skipped, ${etcdMissing}`;
describe.skipIf(etcdMissing !== undefined)(title, () => {
  const deployment = parse(readFileSync(path.join(base, "deployment.yaml"), "utf8")) as Deployment;
  const [container] = deployment.spec.template.spec.containers;
  const { configMapGenerator } = parse(readFileSync(path.join(base, "kustomization.yaml"), "utf8")) as {
    configMapGenerator: readonly [{ readonly literals: readonly string[] }];
  };
  const flags = configMapGenerator[0].literals.map((literal) => literal.split("=") as [string, string]);
  const replicas: ChildProcess[] = [];
  const dirs = ["first", "second"].map((name) => path.join(folder.path, name));
  const urls: string[] = [];
  let etcd: EtcdServer;

  beforeAll(async () => {
    const tls = makeCertificates(folder.path);
    etcd = await EtcdServer.start({ tls });
    const files = { "ca.crt": tls.caFile, "tls.crt": tls.certFile, "tls.key": tls.keyFile };
    const env = {
      PATH: process.env["PATH"],
      ...Object.fromEntries(flags),
      PLINTH_ETCD_SERVERS: etcd.endpoint,
    };
    for (const dir of dirs) {
      const port = await freePort();
      urls.push(`https://localhost:${port}`);
      let args = container.args.map((arg) =>
        arg.replace("=/data", `=${dir}`).replace("$(POD_IP)", "127.0.0.1"),
      );
      for (const [name, file] of Object.entries(files))
        args = args.map((arg) => arg.replace(`/etc/plinth/etcd/${name}`, file));
      args = args.map((arg) =>
        arg.replace("=6443", `=${port}`).replace(/(shutdown-delay-duration)=.*/, "$1=0s"),
      );
      replicas.push(spawn(process.execPath, [program, ...args], { env, stdio: "ignore" }));
    }
    for (const dir of dirs) {
      const words = [program, "ready", `--data-dir=${dir}`];
      const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
      expect([status, stderr]).toEqual([0, ""]);
    }
  });
  afterAll(async () => {
    for (const replica of replicas) replica.kill("SIGKILL");
    await etcd.dispose();
  });

  const kubeconfig = (dir: string) => path.join(dir, "admin.kubeconfig");

  it("start replicas that accept each other's client certificates and have one CA", async () => {
    expect(await readAsAdministrator(kubeconfig(dirs[0]!), "/api/v1/secrets", urls[1])).toBe(200);
    expect(await readAsAdministrator(kubeconfig(dirs[1]!), "/api/v1/secrets", urls[0])).toBe(200);
    const authorities = dirs.map((dir) => clusterOf(readFileSync(kubeconfig(dir), "utf8")).ca);
    expect(authorities[0]).toBe(authorities[1]);
  });

  it("answer the probes without credentials, and have a certificate for the Service", async () => {
    const { ca } = clusterOf(readFileSync(kubeconfig(dirs[0]!), "utf8"));
    const anonymous = async (file: string, servername: string): Promise<number> => {
      const sent = request(new URL(file, urls[1]), { ca, servername, agent: false }).end();
      const [response] = (await once(sent, "response")) as [{ statusCode: number; resume(): void }];
      response.resume();
      return response.statusCode;
    };
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
      expect(probe.httpGet.scheme).toBe("HTTPS");
      expect(await anonymous(probe.httpGet.path, "plinth.plinth.svc")).toBe(200);
    }
    expect(await anonymous("/api/v1/secrets", "plinth")).toBe(403);
  });

  it("end with exit code 0 when the pod is stopped, while the other replica serves", async () => {
    const ended = once(replicas[0]!, "exit");
    replicas[0]!.kill("SIGTERM");
    expect((await ended)[0]).toBe(0);
    expect(await readAsAdministrator(kubeconfig(dirs[0]!), "/readyz", urls[1])).toBe(200);
  });
});
