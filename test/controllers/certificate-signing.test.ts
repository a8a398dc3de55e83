import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import * as der from "../../src/base/certificates/der.ts";
import { extension } from "../../src/base/certificates/x509.ts";
import { ok, RBAC } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { certificateRequest, newKeys, subjectAltNames } from "../support/certificate-request.ts";
import { base64, decide, nodeClient, outcome, requestObject, requestsPath } from "./certificate-support.ts";
import {
  year,
  key,
  servingRequest,
  greedy,
  expectNoAuthority,
  expectLife,
  useSigner,
} from "./certificate-signing-support.ts";

const { folder, server, issued, failure, staysPending, rewriteSpec, expectLifetimes } = useSigner();

test.each([
  ["apiserver-client", {}],
  ["apiserver-client-agent", nodeClient],
  ["agent-serving", servingRequest],
])("the signer %s refuses a subject with the unique identifier of a user", async (_, request) => {
  expect((await failure({ ...request, uid: "u-1" })).message).toContain("unique identifier");
  await issued(request);
});

test("the request of a node agent with the unique identifier of a user isn't approved automatically", () =>
  staysPending({ ...nodeClient, uid: "u-1" }));

describe("the signer apiserver-client", () => {
  test("C-2.6-16 platform.io/apiserver-client: requests are not approved automatically", () =>
    staysPending({}));

  test("C-2.6-17 platform.io/apiserver-client: the signer has no subject restriction of its own (group system:masters is refused by a default admission plugin)", async () => {
    const { certificate } = await issued({ commonName: "anybody", organizations: ["a", "b"] });
    expect(certificate.subject).toBe("O=a\nO=b\nCN=anybody");
    const masters = requestObject({ organizations: ["system:masters"] });
    expect((await server.admin.post(requestsPath, masters)).status).toBe(403);
    const open = await TestServer.start({ disabledAdmissionPlugins: ["CertificateSubjectRestriction"] });
    try {
      await ok(open.admin.post(requestsPath, masters));
      const at = `${requestsPath}/${masters.metadata.name}`;
      await ok(decide(open.admin, at, "Approved"));
      expect((await outcome(open.admin, at)).issued?.certificate.subject).toContain("O=system:masters");
    } finally {
      await open.close();
    }
  });

  test("C-2.6-18 platform.io/apiserver-client: subjectAltName and key usage extensions are kept, other extensions are dropped", async () => {
    const names = subjectAltNames(
      "DNS:a.example.com",
      "IP:0a000001",
      "email:a@example.com",
      "URI:https://a/",
    );
    const usage = extension("2.5.29.15", true, der.namedBits(0, 2));
    const { certificate, extensions } = await issued({
      extensions: [names, usage, ...greedy],
      usages: ["digital signature", "key encipherment", "client auth"],
    });
    expect(certificate.subjectAltName?.split(", ").toSorted()).toEqual([
      "DNS:a.example.com",
      "IP Address:10.0.0.1",
      "URI:https://a/",
      "email:a@example.com",
    ]);
    expect(extensions.get(key.keyUsage)).toBe(der.namedBits(0, 2).toString("hex"));
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(extensions.has(key.odd)).toBe(false);
  });

  test("C-2.6-19 platform.io/apiserver-client: usages must include client auth", async () => {
    expect(await failure({ usages: ["digital signature"] })).toMatchObject({
      reason: "SignerValidationFailure",
      message: "missing required usage for a client certificate: client auth",
    });
    await issued({ usages: ["client auth"] });
  });

  test.each(["server auth", "any", "cert sign", "signing"])(
    "C-2.6-20 platform.io/apiserver-client: only digital signature, key encipherment and client auth are allowed as usages, not %s",
    async (usage) => {
      const allowed = ["digital signature", "key encipherment", "client auth"];
      expect((await failure({ usages: [...allowed, usage] })).message).toContain(usage);
      await issued({ usages: allowed });
    },
  );

  test("C-2.6-21 C-2.6-49 platform.io/apiserver-client: lifetime is the smaller of the default signing duration (1 year) and spec.expirationSeconds", () =>
    expectLifetimes({}));

  test("C-2.6-22 platform.io/apiserver-client: a CA certificate is not issued", async () =>
    expectNoAuthority((await issued({ extensions: greedy })).certificate));
});

describe("the signer apiserver-client-agent", () => {
  test("C-2.6-23 platform.io/apiserver-client-agent: valid requests are approved automatically by the controller", async () => {
    const object = requestObject(nodeClient);
    await ok(server.admin.post(requestsPath, object));
    const at = `${requestsPath}/${object.metadata.name}`;
    expect((await outcome(server.admin, at)).issued).toBeDefined();
    const { body } = await server.admin.get(at);
    expect(body.status.conditions).toMatchObject([
      { type: "Approved", status: "True", reason: "AutoApproved" },
    ]);
  });

  test.each([[[]], [["other"]], [["system:nodes", "other"]], [["system:masters"]]])(
    "C-2.6-24 platform.io/apiserver-client-agent: organization must be system:nodes, not %j",
    async (organizations) => {
      await staysPending({ ...nodeClient, organizations });
      expect((await failure({ ...nodeClient, organizations })).message).toContain("organization");
    },
  );

  test("C-2.6-25 platform.io/apiserver-client-agent: user name (common name) must start with system:node:", async () => {
    await staysPending({ ...nodeClient, commonName: "system:nodes:n1" });
    expect((await failure({ ...nodeClient, commonName: "n1" })).message).toContain("common name");
  });

  test.each([
    "DNS:n1",
    "IP:0a000001",
    "email:n1@example.com",
    "URI:https://n1/",
    "otherName:06022a03a0030c0161",
    "directoryName:3000",
    "registeredID:2a03",
  ])("C-2.6-26 platform.io/apiserver-client-agent: a subjectAltName is forbidden: %s", async (name) => {
    const asked = { ...nodeClient, extensions: [subjectAltNames(name)] };
    await staysPending(asked);
    expect((await failure(asked)).message).toContain("subjectAltName");
  });

  test("C-2.6-27 platform.io/apiserver-client-agent: key usage extensions are kept and other extensions are dropped", async () => {
    const usage = extension("2.5.29.15", true, der.namedBits(0, 2));
    const { certificate, extensions } = await issued({ ...nodeClient, extensions: [usage, ...greedy] });
    expect(extensions.get(key.keyUsage)).toBe(der.namedBits(0, 2).toString("hex"));
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(extensions.has(key.odd)).toBe(false);
  });

  test.each([
    [["client auth"]],
    [["digital signature", "client auth"]],
    [["key encipherment", "digital signature", "server auth"]],
    [["key encipherment", "digital signature", "client auth", "server auth"]],
  ])(
    "C-2.6-28 platform.io/apiserver-client-agent: usages must be exactly key encipherment, digital signature, client auth, not %j",
    async (usages) => {
      await staysPending({ ...nodeClient, usages });
      expect((await failure({ ...nodeClient, usages })).message).toContain("usages must be exactly");
    },
  );

  test("C-2.6-29 platform.io/apiserver-client-agent: lifetime is the smaller of the default signing duration and spec.expirationSeconds", async () => {
    expectLife((await issued({ ...nodeClient, expirationSeconds: 600 })).certificate, 600);
    expect((await issued({ ...nodeClient, expirationSeconds: 2 * year })).lifeSeconds).toBe(year);
  });

  test("C-2.6-30 platform.io/apiserver-client-agent: a CA certificate is not issued", async () =>
    expectNoAuthority((await issued({ ...nodeClient, extensions: greedy })).certificate));
});

describe("a request that an older release stored", () => {
  const encodings: readonly [string, Buffer][] = [
    ["NumericString", der.element(0x12, Buffer.from("system:masters"))],
    ["UniversalString", der.element(0x1c, Buffer.from("0000006d", "hex"))],
    ["UTF8String", der.element(0x0c, Buffer.of(0xff))],
  ];

  test.each(encodings)(
    "C-3.2-06 the signer sets the condition Failed when an organization is an invalid %s",
    async (_, organization) => {
      const request = base64(
        certificateRequest("system:node:n1", newKeys(), { organizations: [organization] }),
      );
      for (const asked of [{}, nodeClient]) {
        const object = requestObject({ ...asked, organizations: ["team"] });
        const at = `${requestsPath}/${object.metadata.name}`;
        await ok(server.admin.post(requestsPath, object));
        await rewriteSpec(object.metadata.name, { request });
        await ok(decide(server.admin, at, "Approved"));
        const { failed } = await outcome(server.admin, at);
        expect(failed).toMatchObject({
          reason: "SignerValidationFailure",
          message: expect.stringContaining("attribute 0 of the subject"),
        });
      }
    },
  );
});

describe("openssl", () => {
  const keys: readonly [string, ReturnType<typeof newKeys>][] = [
    ["RSA", generateKeyPairSync("rsa", { modulusLength: 2048 })],
    ["ECDSA P-256", newKeys()],
    ["ECDSA P-384", generateKeyPairSync("ec", { namedCurve: "P-384" })],
    ["Ed25519", generateKeyPairSync("ed25519")],
  ];
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder.path, name), text);
    return path.join(folder.path, name);
  };
  const verify = (pem: string, purpose: string) =>
    execFileSync(
      "openssl",
      [
        "verify",
        "-x509_strict",
        "-purpose",
        purpose,
        "-CAfile",
        file("ca.crt", server.server.caCertificate!),
        file("issued.crt", pem),
      ],
      { encoding: "utf8", stdio: "pipe" },
    );

  test.each(keys)("verifies a certificate for a key of %s for its own purpose only", async (_, pair) => {
    const client = await issued({ ...nodeClient, keys: pair });
    expect(verify(client.pem, "sslclient")).toContain("OK");
    expect(() => verify(client.pem, "sslserver")).toThrow();
    const serving = await issued({ ...servingRequest, keys: pair });
    expect(verify(serving.pem, "sslserver")).toContain("OK");
    expect(() => verify(serving.pem, "sslclient")).toThrow();
  });

  test.each(keys)(
    "a certificate for a key of %s authenticates as the user and groups in its subject",
    async (_, pair) => {
      const { pem } = await issued({ commonName: "alice", organizations: ["team"], keys: pair });
      const secret = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
      const api = server.asCertificate(pem, secret);
      const denied = await api.get("/api/v1/nodes");
      expect(denied.body).toMatchObject({ code: 403 });
      expect(denied.body.message).toContain('User "alice"');
      const name = "team-reads-nodes";
      const apiGroup = "rbac.authorization.platform.io";
      const rules = [{ apiGroups: [""], resources: ["nodes"], verbs: ["list"] }];
      const subjects = [{ apiGroup, kind: "Group", name: "team" }];
      const roleRef = { apiGroup, kind: "ClusterRole", name };
      await ok(server.admin.post(`${RBAC}/clusterroles`, { metadata: { name }, rules }));
      await ok(server.admin.post(`${RBAC}/clusterrolebindings`, { metadata: { name }, subjects, roleRef }));
      await ok(api.get("/api/v1/nodes"));
      await ok(server.admin.delete(`${RBAC}/clusterrolebindings/${name}`));
      await ok(server.admin.delete(`${RBAC}/clusterroles/${name}`));
    },
  );
});
