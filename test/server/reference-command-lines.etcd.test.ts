import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import {
  createAuthority,
  createServingCertificates,
  issueClientCertificate,
} from "../../src/base/certificates/serving-certificates.ts";
import { Api } from "../support/api.ts";
import { freePort, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { etcdMissing, EtcdServer, makeCertificates } from "../storage/etcd-server.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function folder(): string {
  const made = temporaryFolder();
  ends.push(made.remove);
  return made.path;
}

/** Writes files into a folder that is made where it isn't there. */
function write(dir: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(dir, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(dir, name), text);
}

/** A pair of RSA keys in PEM. */
function rsaKeys(): { publicKey: string; privateKey: string } {
  return generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
}

const administrator = { commonName: "admin", organizations: ["system:masters"], days: 1 };

describe.skipIf(etcdMissing !== undefined)("command lines of the reference start the server", () => {
  test("of a test control plane", async () => {
    const etcd = await EtcdServer.start();
    ends.push(() => etcd.dispose());
    const dir = folder();
    const port = await freePort();
    const serving = createServingCertificates(["localhost", "127.0.0.1"], systemClock);
    const signer = createAuthority();
    const clients = createAuthority();
    write(dir, {
      "apiserver.crt": serving.serving.certificate,
      "apiserver.key": serving.serving.key,
      "sa-signer.crt": signer.certificate,
      "sa-signer.key": signer.key,
      "client-cert-auth-ca.crt": clients.certificate,
    });
    const server = await ServerProcess.start(
      folder(),
      "--vocabulary=kubernetes",
      "--allow-privileged=true",
      "--authorization-mode=RBAC",
      "--bind-address=127.0.0.1",
      `--cert-dir=${dir}`,
      `--client-ca-file=${dir}/client-cert-auth-ca.crt`,
      "--disable-admission-plugins=ServiceAccount",
      `--etcd-servers=${etcd.endpoint}`,
      "--insecure-port=0",
      `--secure-port=${port}`,
      `--service-account-issuer=https://127.0.0.1:${port}/`,
      `--service-account-key-file=${dir}/sa-signer.crt`,
      `--service-account-signing-key-file=${dir}/sa-signer.key`,
      "--service-cluster-ip-range=10.0.0.0/24",
    );
    ends.push(() => server.stop());
    const { certificate, key } = issueClientCertificate(clients, administrator, systemClock);
    const api = new Api(server.url, serving.caCertificate, undefined, { cert: certificate, key });
    ends.push(() => api.close());
    expect((await api.get("/healthz")).status).toBe(200);
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    expect((await api.post(accounts, { metadata: { name: "robot" } })).status).toBe(201);
    const token = await api.post(`${accounts}/robot/token`, {
      spec: { audiences: [] },
    });
    expect(token.status).toBe(201);
    const [, claims] = (token.body.status.token as string).split(".");
    expect(JSON.parse(Buffer.from(claims!, "base64url").toString())).toMatchObject({
      iss: `https://127.0.0.1:${port}/`,
    });
    expect(server.log()).not.toContain("has no effect here");
  });

  test("of a cluster's control plane", async () => {
    const pki = folder();
    const etcdTls = makeCertificates(folder());
    const etcd = await EtcdServer.start({ tls: etcdTls });
    ends.push(() => etcd.dispose());
    const serving = createServingCertificates(["127.0.0.1"], systemClock);
    const clients = createAuthority();
    const proxies = createAuthority();
    const signing = rsaKeys();
    const agents = issueClientCertificate(clients, { ...administrator, commonName: "agents" }, systemClock);
    const proxy = issueClientCertificate(proxies, { ...administrator, commonName: "proxy" }, systemClock);
    write(pki, {
      "apiserver.crt": serving.serving.certificate,
      "apiserver.key": serving.serving.key,
      "ca.crt": clients.certificate,
      "front-proxy-ca.crt": proxies.certificate,
      "front-proxy-client.crt": proxy.certificate,
      "front-proxy-client.key": proxy.key,
      "apiserver-kubelet-client.crt": agents.certificate,
      "apiserver-kubelet-client.key": agents.key,
      "sa.pub": signing.publicKey,
      "sa.key": signing.privateKey,
    });
    const server = await ServerProcess.start(
      folder(),
      "--vocabulary=kubernetes",
      "--advertise-address=192.0.2.10",
      "--allow-privileged=true",
      "--authorization-mode=Node,RBAC",
      `--client-ca-file=${pki}/ca.crt`,
      "--enable-admission-plugins=NodeRestriction",
      "--enable-bootstrap-token-auth=true",
      `--etcd-cafile=${etcdTls.caFile}`,
      `--etcd-certfile=${etcdTls.certFile}`,
      `--etcd-keyfile=${etcdTls.keyFile}`,
      `--etcd-servers=${etcd.endpoint}`,
      `--kubelet-client-certificate=${pki}/apiserver-kubelet-client.crt`,
      `--kubelet-client-key=${pki}/apiserver-kubelet-client.key`,
      "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
      `--proxy-client-cert-file=${pki}/front-proxy-client.crt`,
      `--proxy-client-key-file=${pki}/front-proxy-client.key`,
      "--requestheader-allowed-names=front-proxy-client",
      `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
      "--requestheader-extra-headers-prefix=X-Remote-Extra-",
      "--requestheader-group-headers=X-Remote-Group",
      "--requestheader-username-headers=X-Remote-User",
      "--secure-port=0",
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      `--service-account-key-file=${pki}/sa.pub`,
      `--service-account-signing-key-file=${pki}/sa.key`,
      "--service-cluster-ip-range=10.96.0.0/12",
      `--tls-cert-file=${pki}/apiserver.crt`,
      `--tls-private-key-file=${pki}/apiserver.key`,
      "--profiling=false",
      "-v=2",
    );
    ends.push(() => server.stop());
    const { certificate, key } = issueClientCertificate(clients, administrator, systemClock);
    const api = new Api(server.url, serving.caCertificate, undefined, { cert: certificate, key });
    ends.push(() => api.close());
    const endpoints = await api.get("/api/v1/namespaces/default/endpoints/kubernetes");
    expect(endpoints.body.subsets[0].addresses).toEqual([{ ip: "192.0.2.10" }]);
    const unused = [...server.log().matchAll(/(--[a-z-]+) has no effect here/g)].map((match) => match[1]);
    expect(unused).toEqual(["--v"]);
  });
});
