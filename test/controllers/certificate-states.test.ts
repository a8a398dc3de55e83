import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createAuthority } from "../../src/base/certificates/serving-certificates.ts";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import type { CertificateSigningRequest } from "../../src/kinds/certificates/certificate-signing-request.ts";
import { createServer, type Server } from "../../src/index.ts";
import { grant, ManualClock, ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { newKeys, subjectAltNames } from "../support/certificate-request.ts";
import { describeKubectl, Kubectl } from "../support/kubectl.ts";
import {
  base64,
  decide,
  nodeClient,
  outcome,
  requestObject,
  requestsPath,
  seen,
} from "./certificate-support.ts";
import {
  minute,
  hour,
  certificates,
  certificatePem,
  useCertificateServer,
} from "./certificate-states-support.ts";

const { folder, lines, server, make, seenByControllers } = useCertificateServer();

describe("3.2 states", () => {
  test("C-3.2-01 a valid new CSR is pending (no Approved or Denied condition), C-2.6-06 its status.certificate is empty until signing completes", async () => {
    const at = await make();
    await seenByControllers();
    expect((await server.admin.get(at)).body.status).toEqual({});
    await ok(decide(server.admin, at, "Approved"));
    expect((await outcome(server.admin, at)).issued).toBeDefined();
  });

  test.each(["Approved", "Denied"] as const)(
    "C-3.2-02 C-3.2-03 an update of the approval sub-resource that adds condition Approved makes a pending CSR approved, Denied makes it denied: %s",
    async (type) => {
      const at = await make({ signerName: "example.com/own" });
      const answer = await ok(decide(server.admin, at, type));
      expect(answer.body.status.conditions).toMatchObject([{ type, status: "True" }]);
      const other = type === "Approved" ? "Denied" : "Approved";
      expect((await decide(server.admin, at, other)).status).toBe(422);
    },
  );

  test("C-3.2-04 a denied CSR is never signed by the built-in signers", async () => {
    const at = await make();
    await ok(decide(server.admin, at, "Denied"));
    const rules = [
      { apiGroups: [certificates], resources: ["certificatesigningrequests"], verbs: ["create"] },
    ];
    await grant(server.admin, "bootstrap", rules);
    const node = await make({ ...nodeClient, commonName: "system:node:denied" }, server.as("bootstrap"));
    await ok(decide(server.admin, node, "Denied"));
    await seenByControllers();
    for (const one of [at, node]) {
      const { status } = (await server.admin.get(one)).body;
      expect(status.conditions.map(({ type }: { type: string }) => type)).toEqual(["Denied"]);
      expect(status.certificate).toBeUndefined();
    }
  });

  test("C-3.2-05 C-2.6-48 a CSR with a custom signer name is left to its own signer, who issues it by an update of the status sub-resource with status.certificate, which clients then read as PEM", async () => {
    const at = await make({ signerName: "example.com/own" });
    await ok(decide(server.admin, at, "Approved"));
    await seenByControllers();
    const { body } = await server.admin.get(at);
    expect(body.status.certificate).toBeUndefined();
    const pem = certificatePem();
    await ok(
      server.admin.put(`${at}/status`, { ...body, status: { ...body.status, certificate: base64(pem) } }),
    );
    const read = (await server.admin.get(at)).body.status.certificate as string;
    expect(Buffer.from(read, "base64").toString()).toBe(pem);
  });

  test("C-3.2-06 C-2.6-47 an approved CSR that fails the signer's conditions is not issued (no certificate); it is reported in the controller log and, as ruled, by a Failed condition with a reason", async () => {
    const at = await make({ usages: ["server auth"] });
    await ok(decide(server.admin, at, "Approved"));
    const { failed } = await outcome(server.admin, at);
    expect(failed).toMatchObject({ reason: "SignerValidationFailure" });
    expect((await server.admin.get(at)).body.status.certificate).toBeUndefined();
    const name = at.split("/").at(-1)!;
    expect(lines.filter((line) => line.includes(name))).toEqual([
      `{"controller":"csrsigning","key":"${name}"} platform.io/apiserver-client doesn't sign: invalid usage for a client certificate: server auth`,
    ]);
    // It stays failed: the signer doesn't come back to it.
    await ok(server.admin.patch(at, { metadata: { labels: { a: "b" } } }));
    await seenByControllers();
    expect(lines.filter((line) => line.includes(name))).toHaveLength(1);
  });
});

describe("3.2 deletion", () => {
  let clock: ManualClock;
  let own: TestServer;
  afterEach(() => own.close());

  async function start(): Promise<void> {
    clock = new ManualClock();
    own = await TestServer.start({ clock, enabledControllers: ["csrsigning", "csrcleaner"] });
  }
  const makeOwn = async (asked: Parameters<typeof requestObject>[0] = {}) => {
    const object = requestObject(asked);
    await ok(own.admin.post(requestsPath, object));
    return `${requestsPath}/${object.metadata.name}`;
  };
  const isThere = async (at: string) => (await own.admin.get(at)).status === 200;
  /** It is there a minute before a time has passed since, and gone a minute after it. */
  async function expectGoneAfter(at: string, ms: number): Promise<void> {
    await clock.advance(ms - minute);
    expect(await isThere(at)).toBe(true);
    await clock.advance(2 * minute);
    await expect.poll(() => isThere(at)).toBe(false);
  }

  test("C-3.2-07 an approved CSR whose state does not change is deleted after 1 hour", async () => {
    await start();
    const at = await makeOwn({ signerName: "example.com/own" });
    await clock.advance(5 * hour);
    await ok(decide(own.admin, at, "Approved"));
    await expectGoneAfter(at, hour);
  });

  test("C-3.2-08 a denied CSR whose state does not change is deleted after 1 hour", async () => {
    await start();
    const at = await makeOwn();
    await clock.advance(5 * hour);
    await ok(decide(own.admin, at, "Denied"));
    await expectGoneAfter(at, hour);
  });

  test("C-3.2-09 a failed CSR whose state does not change is deleted after 1 hour", async () => {
    await start();
    const at = await makeOwn({ signerName: "example.com/own" });
    await ok(decide(own.admin, at, "Approved"));
    await clock.advance(30 * minute);
    const { body } = await own.admin.get(at);
    const failed = { type: "Failed", status: "True", reason: "Test", message: "" };
    const conditions = [...body.status.conditions, failed];
    await ok(own.admin.put(`${at}/status`, { ...body, status: { conditions } }));
    await expectGoneAfter(at, hour);
  });

  test("C-3.2-10 a pending CSR whose state does not change is deleted after 24 hours", async () => {
    await start();
    const at = await makeOwn();
    await expectGoneAfter(at, 24 * hour);
  });

  test("C-3.2-11 a CSR in any state is deleted after its issued certificate expires", async () => {
    await start();
    const at = await makeOwn({ expirationSeconds: 600 });
    await ok(decide(own.admin, at, "Approved"));
    expect((await outcome(own.admin, at)).issued).toBeDefined();
    await expectGoneAfter(at, 10 * minute);
    // A request that nobody decided may have a certificate too.
    const pending = await makeOwn({ signerName: "example.com/own" });
    const { body } = await own.admin.get(pending);
    const { publicKey, privateKey } = newKeys();
    const facts = {
      commonName: "a",
      use: "client",
      notBefore: 0,
      notAfter: clock.now() + 20 * minute,
    } as const;
    const certificate = base64(signCertificate(facts, publicKey, privateKey));
    await ok(own.admin.put(`${pending}/status`, { ...body, status: { certificate } }));
    await expectGoneAfter(pending, 20 * minute);
  });
});

describe("the signing CA", () => {
  const authority = createAuthority();
  const other = createAuthority();
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder.path, name), text);
    return path.join(folder.path, name);
  };
  const filesOf = (name: string, pair: typeof authority) => ({
    cert: file(`${name}.crt`, pair.certificate),
    key: file(`${name}.key`, pair.key),
  });
  const verifies = (ca: string, pem: string): boolean => {
    try {
      execFileSync("openssl", ["verify", "-CAfile", ca, file("one.crt", pem)], { stdio: "pipe" });
      return true;
    } catch {
      return false;
    }
  };
  let own: Server | undefined;
  afterEach(async () => {
    await own?.close();
    own = undefined;
  });

  const serving = {
    ...nodeClient,
    signerName: "platform.io/agent-serving",
    usages: ["key encipherment", "digital signature", "server auth"],
    extensions: [subjectAltNames("DNS:n1")],
  };

  async function issuedBy(of: Server, asked: Parameters<typeof requestObject>[0]): Promise<string> {
    const made = (await of.client.create(requestObject(asked) as never)) as CertificateSigningRequest;
    const { name } = made.metadata;
    const reference = { apiVersion: made.apiVersion, kind: made.kind, name: name! };
    const conditions = [{ type: "Approved", status: "True", reason: "R" }];
    await of.client.update({ ...made, status: { conditions } } as never, "approval");
    const read = async () =>
      ((await of.client.get(reference)) as CertificateSigningRequest).status?.certificate;
    await expect.poll(read).toBeDefined();
    return Buffer.from((await read())!, "base64").toString();
  }

  test("is read from --cluster-signing-cert-file and --cluster-signing-key-file, reloaded when they change, and signs for --cluster-signing-duration", async () => {
    const files = filesOf("all", authority);
    own = await createServer({ port: false, clusterSigning: { files, durationMs: hour } });
    const one = await issuedBy(own, {});
    expect(verifies(files.cert, one)).toBe(true);
    expect(seen(one).lifeSeconds).toBe(3600 + 300);
    filesOf("all", other);
    const next = await issuedBy(own, serving);
    expect(verifies(filesOf("other", other).cert, next)).toBe(true);
    expect(verifies(filesOf("first", authority).cert, next)).toBe(false);
  });

  test("is the signer's own one when the signer has its own files", async () => {
    const signers = { serving: filesOf("serving", authority), client: filesOf("client", other) };
    own = await createServer({ port: false, clusterSigning: { signers } });
    expect(verifies(signers.serving.cert, await issuedBy(own, serving))).toBe(true);
    expect(verifies(signers.client.cert, await issuedBy(own, {}))).toBe(true);
  });

  test("must exist and match its key, otherwise the server does not start", async () => {
    const files = { cert: filesOf("a", authority).cert, key: filesOf("b", other).key };
    await expect(createServer({ port: false, clusterSigning: { files } })).rejects.toThrow(
      /clusterSigning.files.cert, clusterSigning.files.key: .*b\.key is not the key of/,
    );
    await expect(
      createServer({
        port: false,
        clusterSigning: { signers: { nodeClient: { cert: "/nowhere", key: "/n" } } },
      }),
    ).rejects.toThrow(/clusterSigning.signers.nodeClient.cert.*nowhere doesn't exist/);
  });

  test("an approved request stays without a certificate and without a Failed condition when no signing CA is configured", async () => {
    own = await createServer({ port: false });
    const made = await own.client.create(requestObject(nodeClient) as never);
    const { name } = made.metadata;
    await new Promise((resolve) => setTimeout(resolve, 100));
    const read = (await own.client.get({ apiVersion: made.apiVersion!, kind: made.kind!, name: name! })) as {
      status?: object;
    };
    expect(read.status).toMatchObject({ conditions: [{ type: "Approved" }] });
    expect(read.status).not.toHaveProperty("certificate");
  });
});

describeKubectl("kubectl certificate", (program) => {
  test("approve issues a certificate, and deny sets the condition Denied", async () => {
    const own = await TestServer.start({ vocabulary: "kubernetes" });
    const kubectl = new Kubectl(program, own.server.kubeconfig());
    try {
      const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
      for (const name of ["yes", "no"]) {
        const object = requestObject({ name, signerName: "kubernetes.io/kube-apiserver-client" });
        await ok(own.admin.post(path, { ...object, apiVersion: "certificates.k8s.io/v1" }));
      }
      await kubectl.ok(["certificate", "approve", "yes"]);
      await kubectl.ok(["certificate", "deny", "no"]);
      expect((await outcome(own.admin, `${path}/yes`)).issued).toBeDefined();
      const { body } = await own.admin.get(`${path}/no`);
      expect(body.status.conditions).toMatchObject([{ type: "Denied", status: "True" }]);
    } finally {
      await kubectl.close();
      await own.close();
    }
  });
});
