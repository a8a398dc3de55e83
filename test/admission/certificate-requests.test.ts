import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as der from "../../src/base/certificates/der.ts";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import { ok, RBAC } from "../api/support.ts";
import { TestServer, type Api } from "../support/api.ts";
import { certificateRequest, newKeys } from "../support/certificate-request.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const CSRS = "/apis/certificates.platform.io/v1/certificatesigningrequests";
const group = "certificates.platform.io";
const signerName = "example.com/web";
const keys = newKeys();
const base64 = (text: string) => Buffer.from(text).toString("base64");
const certificate = base64(
  signCertificate(
    { commonName: "alice", use: "client", notBefore: 0, notAfter: 1e12 },
    keys.publicKey,
    keys.privateKey,
  ),
);

const folder = temporaryFolder();
let server: TestServer;
let made = 0;

beforeAll(async () => {
  const tokens = path.join(folder.path, "tokens");
  writeFileSync(tokens, ["ann", "bob", "cid"].map((name) => `${name},${name},${name}`).join("\n"));
  server = await TestServer.start({ tokenAuthFile: tokens });
  for (const user of ["ann", "bob", "cid"]) {
    await grant(user, `writes-${user}`, [
      {
        apiGroups: [group],
        resources: ["certificatesigningrequests"],
        verbs: ["create", "get", "list", "watch"],
      },
      {
        apiGroups: [group],
        resources: ["certificatesigningrequests/approval", "certificatesigningrequests/status"],
        verbs: ["update", "patch"],
      },
    ]);
  }
  const signers = (verb: string, name: string) => [
    { apiGroups: [group], resources: ["signers"], resourceNames: [name], verbs: [verb] },
  ];
  await grant("ann", "ann-approves", signers("approve", signerName));
  await grant("ann", "ann-signs", signers("sign", "example.com/*"));
  await grant("cid", "cid-approves", signers("approve", "example.com/*"));
  await grant("cid", "cid-signs", signers("sign", signerName));
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

async function grant(user: string, name: string, rules: object[]): Promise<void> {
  await ok(server.admin.post(`${RBAC}/clusterroles`, { metadata: { name }, rules }));
  await ok(
    server.admin.post(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.platform.io", kind: "ClusterRole", name },
      subjects: [{ apiGroup: "rbac.authorization.platform.io", kind: "User", name: user }],
    }),
  );
}

/** Creates a CertificateSigningRequest, and returns its path. */
async function newRequest(signer = signerName): Promise<string> {
  const name = `request-${made++}`;
  const spec = {
    request: base64(certificateRequest("alice", keys)),
    usages: ["client auth"],
    signerName: signer,
  };
  await ok(server.as("bob").post(CSRS, { metadata: { name }, spec }));
  return `${CSRS}/${name}`;
}

async function putStatus(api: Api, at: string, subresource: string, status: object) {
  const { body } = await ok(server.admin.get(at));
  return api.put(`${at}/${subresource}`, { ...body, status: { ...body.status, ...status } });
}
const condition = (type: string) => ({ type, status: "True", reason: "Test", message: "" });

describe("CertificateApproval", () => {
  test("C-4.13-20 C-4.13-21 is on by default, and an approval without the verb approve on the signer returns 403", async () => {
    const at = await newRequest();
    for (const type of ["Approved", "Denied"]) {
      const answer = await putStatus(server.as("bob"), at, "approval", { conditions: [condition(type)] });
      expect([answer.status, answer.body.reason]).toEqual([403, "Forbidden"]);
      expect(answer.body.message).toContain(
        `user not permitted to approve requests with signerName "${signerName}"`,
      );
      expect(answer.body.details).toMatchObject({
        name: at.split("/").at(-1),
        group,
        kind: "certificatesigningrequests",
      });
    }
    const patched = await server
      .as("bob")
      .patch(`${at}/approval`, { status: { conditions: [condition("Approved")] } });
    expect(patched.status).toBe(403);
    expect((await server.admin.get(at)).body.status).toEqual({});
  });

  test("allows a user with the verb approve on the signer's name or on its whole domain", async () => {
    for (const user of ["ann", "cid"]) {
      const at = await newRequest();
      await ok(putStatus(server.as(user), at, "approval", { conditions: [condition("Approved")] }));
    }
    const other = await newRequest("example.com/other");
    const answer = await putStatus(server.as("ann"), other, "approval", {
      conditions: [condition("Approved")],
    });
    expect(answer.status).toBe(403);
  });

  test("C-2.6-12 a condition type other than Approved, Denied and Failed returns 422 in approval and status", async () => {
    const at = await newRequest();
    const answer = await putStatus(server.as("ann"), at, "approval", { conditions: [condition("Reviewed")] });
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes).toMatchObject([
      { reason: "FieldValueNotSupported", field: "status.conditions[0].type" },
    ]);
    const status = { conditions: [condition("Reviewed")] };
    expect((await putStatus(server.as("ann"), at, "status", status)).status).toBe(422);
  });
});

describe("CertificateSigning", () => {
  test("C-4.13-22 C-4.13-23 is on by default, and a certificate or condition Failed without the verb sign on the signer returns 403", async () => {
    const at = await newRequest();
    for (const status of [{ certificate }, { conditions: [condition("Failed")] }]) {
      const answer = await putStatus(server.as("bob"), at, "status", status);
      expect(answer.status).toBe(403);
      expect(answer.body.message).toContain(
        `user not permitted to sign requests with signerName "${signerName}"`,
      );
    }
    await ok(putStatus(server.as("bob"), at, "status", {}));
    expect((await server.admin.get(at)).body.status).toEqual({});
  });

  test("allows a user with the verb sign on the signer's name or on its whole domain", async () => {
    for (const user of ["ann", "cid"]) {
      const at = await newRequest();
      await ok(putStatus(server.as(user), at, "status", { certificate }));
    }
    const other = await newRequest("example.com/other");
    expect((await putStatus(server.as("cid"), other, "status", { certificate })).status).toBe(403);
  });
});

describe("CertificateSubjectRestriction", () => {
  const clients = "platform.io/apiserver-client";
  const masters = "system:masters";
  /** UTF-16 without a byte order mark, as a BMPString has it. */
  const utf16 = (text: string) => Buffer.from(text, "utf16le").swap16();
  const utf32 = (text: string) =>
    Buffer.concat([...text].map((one) => Buffer.from([0, 0, 0, one.charCodeAt(0)])));
  const create = (signer: string, ...organizations: Buffer[]) =>
    server.as("bob").post(CSRS, {
      metadata: { name: `request-${made++}` },
      spec: {
        request: base64(certificateRequest("alice", keys, { organizations })),
        usages: ["client auth"],
        signerName: signer,
      },
    });

  test.each<[string, Buffer[]]>([
    ["UTF8String", [der.utf8String(masters)]],
    ["PrintableString", [der.element(0x13, Buffer.from(masters))]],
    ["IA5String", [der.element(0x16, Buffer.from(masters))]],
    ["TeletexString", [der.element(0x14, Buffer.from(masters))]],
    ["BMPString", [der.element(0x1e, utf16(masters))]],
    [
      "UTF8String, the second of three organizations",
      [der.utf8String("a"), der.utf8String(masters), der.utf8String("b")],
    ],
  ])(
    "C-4.13-24 C-4.13-25 is on by default, and a request for the organization system:masters returns 403: %s",
    async (_, organizations) => {
      const answer = await create(clients, ...organizations);
      expect(answer.status).toBe(403);
      expect(answer.body.message).toContain(`use of ${clients} signer with ${masters} group is not allowed`);
    },
  );

  test.each<[string, Buffer]>([
    ["NumericString", der.element(0x12, Buffer.from(masters))],
    ["UniversalString", der.element(0x1c, utf32(masters))],
    ["VisibleString", der.element(0x1a, Buffer.from(masters))],
    ["OctetString", der.octetString(Buffer.from(masters))],
    ["BMPString with a terminator", der.element(0x1e, utf16(`${masters}\0`))],
    ["UTF8String that is not UTF-8", der.element(0x0c, Buffer.from("ff", "hex"))],
  ])(
    "C-2.6-01 C-4.13-25 create returns 422 when the organization system:masters is encoded as %s",
    async (_, organization) => {
      const answer = await create(clients, organization);
      expect(answer.status).toBe(422);
      expect(answer.body.details.causes).toMatchObject([
        {
          reason: "FieldValueInvalid",
          field: "spec.request",
          message: expect.stringContaining("attribute 0"),
        },
      ]);
    },
  );

  test("C-4.13-25 returns 403 when the request for system:masters follows another PEM request", async () => {
    const decoy = certificateRequest("alice", keys);
    const real = certificateRequest("alice", keys, { organizations: [der.utf8String(masters)] });
    const spec = {
      request: base64(`text ${decoy}${real}`),
      usages: ["client auth"],
      signerName: clients,
    };
    const answer = await server.as("bob").post(CSRS, { metadata: { name: `request-${made++}` }, spec });
    expect(answer.status).toBe(403);
  });

  test("accepts other organizations and other signers", async () => {
    await ok(create(clients, der.utf8String("system:master")));
    await ok(create(clients));
    await ok(create(signerName, der.utf8String(masters)));
  });
});

test("C-4.13-20 C-4.13-22 C-4.13-24 a server with the certificate plugins disabled accepts a request for system:masters", async () => {
  const names = ["CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction"];
  const tokens = path.join(folder.path, "tokens");
  const open = await TestServer.start({ tokenAuthFile: tokens, disabledAdmissionPlugins: names });
  try {
    const request = certificateRequest("a", keys, { organizations: [der.utf8String("system:masters")] });
    const spec = {
      request: base64(request),
      usages: ["client auth"],
      signerName: "platform.io/apiserver-client",
    };
    await ok(open.admin.post(CSRS, { metadata: { name: "a" }, spec }));
  } finally {
    await open.close();
  }
});
