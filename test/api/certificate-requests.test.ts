import { describe, expect, test } from "vitest";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { certificateRequest, newKeys } from "../support/certificate-request.ts";
import { base64, decide, requestObject, requestsPath } from "../controllers/certificate-support.ts";
import { causeFields, ok } from "./support.ts";

const server = useServer({ enabledControllers: [] });

const signerName = "example.com/own";
let made = 0;

/** Creates a CertificateSigningRequest with the fields of `spec` replaced. */
function create(spec: object) {
  const object = requestObject({ signerName });
  return server.admin.post(requestsPath, {
    ...object,
    metadata: { name: `field-${++made}` },
    spec: { ...object.spec, ...spec },
  });
}

async function expectInvalid(spec: object, field: string): Promise<void> {
  const answer = await create(spec);
  expect([answer.status, causeFields(answer)]).toEqual([422, [field]]);
}

test("the spec of a CertificateSigningRequest has no owner in managedFields, as no update changes it", async () => {
  const { body } = await ok(create({}));
  expect(body.metadata).not.toHaveProperty("managedFields");
  const changed = { ...body, metadata: { ...body.metadata, labels: { a: "b" } } };
  const after = await ok(server.admin.put(`${requestsPath}/${body.metadata.name}`, changed));
  const [{ fieldsV1 }] = after.body.metadata.managedFields;
  expect(Object.keys(fieldsV1)).toEqual(["f:metadata"]);
});

describe("2.6 the spec of a CertificateSigningRequest", () => {
  test("C-2.6-01 spec.request is required: a PEM PKCS#10 request, base64 in JSON or YAML", async () => {
    await expectInvalid({ request: undefined }, "spec.request");
    await expectInvalid({ request: base64("no request") }, "spec.request");
    const pem = certificateRequest("alice");
    expect((await create({ request: pem })).status).toBe(400);
    await ok(create({ request: base64(pem) }));
    const object = requestObject({ signerName, name: `field-${++made}` });
    const yaml = [
      `apiVersion: ${object.apiVersion}`,
      "kind: CertificateSigningRequest",
      `metadata: {name: ${object.metadata.name}}`,
      "spec:",
      `  request: ${object.spec.request}`,
      `  signerName: ${signerName}`,
      "  usages: [client auth]",
    ].join("\n");
    const contentType = "application/yaml";
    const answer = await ok(server.admin.post(requestsPath, undefined, { raw: yaml, contentType }));
    expect(answer.body.spec.request).toBe(object.spec.request);
  });

  test("C-2.6-02 spec.signerName is required in v1", async () => {
    await expectInvalid({ signerName: undefined }, "spec.signerName");
    await expectInvalid({ signerName: "" }, "spec.signerName");
  });

  test("C-2.6-03 spec.expirationSeconds is an optional integer; values below 600 return 422 and 600 is accepted", async () => {
    for (const expirationSeconds of [599, 0, -600])
      await expectInvalid({ expirationSeconds }, "spec.expirationSeconds");
    expect((await create({ expirationSeconds: 600.5 })).status).toBe(400);
    expect((await ok(create({ expirationSeconds: 600 }))).body.spec.expirationSeconds).toBe(600);
    expect((await ok(create({}))).body.spec).not.toHaveProperty("expirationSeconds");
  });

  test("C-2.6-04 spec.usages is required in v1", async () => {
    await expectInvalid({ usages: undefined }, "spec.usages");
    await expectInvalid({ usages: [] }, "spec.usages");
  });

  test("C-2.6-05 spec.usages with a duplicate or an unknown usage returns 422", async () => {
    await expectInvalid({ usages: ["client auth", "client auth"] }, "spec.usages[1]");
    await expectInvalid({ usages: ["client auth", "clientAuth"] }, "spec.usages[1]");
  });

  test("a request with a malformed subjectAltName extension returns 422", async () => {
    const bad = requestObject({ signerName, extensions: [Buffer.from("300c0603551d110405", "hex")] });
    expect((await server.admin.post(requestsPath, bad)).status).toBe(422);
  });
});

describe("2.6 the status of a CertificateSigningRequest", () => {
  const keys = newKeys();
  const facts = { commonName: "a", use: "client", notBefore: 0, notAfter: 1e12 } as const;
  const pem = signCertificate(facts, keys.publicKey, keys.privateKey);
  const block = (label: string, content: string, headers = "") =>
    `-----BEGIN ${label}-----\n${headers}${content}\n-----END ${label}-----\n`;
  const content = pem.split("\n").slice(1, -2).join("\n");

  async function writeStatus(status: object) {
    const { body } = await ok(create({}));
    return server.admin.put(`${requestsPath}/${body.metadata.name}/status`, { ...body, status });
  }
  const issue = (text: string) => writeStatus({ certificate: base64(text) });
  async function expectInvalidStatus(status: object, field: string): Promise<void> {
    const answer = await writeStatus(status);
    expect([answer.status, causeFields(answer)]).toEqual([422, [field]]);
  }
  const expectInvalidCertificate = (text: string) =>
    expectInvalidStatus({ certificate: base64(text) }, "status.certificate");

  test("C-2.6-07 status.certificate without PEM blocks or with a block other than CERTIFICATE returns 422", async () => {
    await ok(issue(pem));
    await expectInvalidCertificate("no block");
    await expectInvalidCertificate(block("X509 CRL", content));
    await expectInvalidCertificate(pem + block("PRIVATE KEY", content));
  });

  test("C-2.6-08 a PEM block with headers in status.certificate returns 422", async () => {
    await expectInvalidCertificate(block("CERTIFICATE", content, "Proc-Type: 4,ENCRYPTED\n\n"));
    await expectInvalidCertificate(pem + block("CERTIFICATE", content, "Note: x\n\n"));
  });

  test("C-2.6-09 a PEM block in status.certificate without a BER-encoded certificate returns 422", async () => {
    await expectInvalidCertificate(block("CERTIFICATE", Buffer.from("hello").toString("base64")));
    await expectInvalidCertificate(
      pem + block("CERTIFICATE", Buffer.from("3003020101", "hex").toString("base64")),
    );
    const der = Buffer.from(content, "base64");
    for (const rest of ["00", "0500", "hello"]) {
      const bytes = Buffer.concat([der, Buffer.from(rest, rest === "hello" ? "utf8" : "hex")]);
      await expectInvalidCertificate(block("CERTIFICATE", bytes.toString("base64")));
    }
  });

  test("C-2.6-10 text outside the PEM blocks of status.certificate is accepted and not validated", async () => {
    const text = `before -----\n${pem}between \u0000\n${pem}after`;
    const { body } = await ok(issue(text));
    expect(Buffer.from(body.status.certificate, "base64").toString()).toBe(text);
  });

  test("C-2.6-11 status.certificate may hold several certificates", async () => {
    const other = newKeys();
    const issuer = signCertificate({ ...facts, use: "authority" }, other.publicKey, other.privateKey);
    const { body } = await ok(issue(pem + issuer));
    expect(Buffer.from(body.status.certificate, "base64").toString()).toBe(pem + issuer);
    const der = Buffer.from(content, "base64");
    await ok(issue(block("CERTIFICATE", Buffer.concat([der, der]).toString("base64"))));
  });

  const condition = { type: "Failed", status: "True" };

  test("C-2.6-12 a condition type that is missing or other than Approved, Denied and Failed returns 422 in both subresources", async () => {
    await expectInvalidStatus({ conditions: [{ status: "True" }] }, "status.conditions[0].type");
    for (const type of ["Approved", "Denied"] as const) {
      const { body } = await ok(create({}));
      await ok(decide(server.admin, `${requestsPath}/${body.metadata.name}`, type));
    }
    const { body } = await ok(create({}));
    const at = `${requestsPath}/${body.metadata.name}/approval`;
    const other = { ...condition, type: "Ready" };
    const answer = await server.admin.put(at, { ...body, status: { conditions: [other] } });
    expect([answer.status, causeFields(answer)]).toEqual([422, ["status.conditions[0].type"]]);
    await expectInvalidStatus({ conditions: [other] }, "status.conditions[0].type");
    await ok(writeStatus({ conditions: [condition] }));
  });

  test("C-2.6-13 status.conditions with two entries of the same type return 422", async () => {
    await expectInvalidStatus({ conditions: [condition, condition] }, "status.conditions[1].type");
    const { body } = await ok(create({}));
    const at = `${requestsPath}/${body.metadata.name}/approval`;
    const approved = { type: "Approved", status: "True" };
    const answer = await server.admin.put(at, { ...body, status: { conditions: [approved, approved] } });
    expect([answer.status, causeFields(answer)]).toEqual([
      422,
      expect.arrayContaining(["status.conditions[1].type"]),
    ]);
  });

  test("C-2.6-14 a condition without status returns 422", () =>
    expectInvalidStatus({ conditions: [{ type: "Failed" }] }, "status.conditions[0].status"));

  test("C-2.6-12 approval returns 422 when it adds or changes the condition Failed", async () => {
    const { body } = await ok(create({}));
    const at = `${requestsPath}/${body.metadata.name}`;
    const added = await server.admin.put(`${at}/approval`, { ...body, status: { conditions: [condition] } });
    expect([added.status, causeFields(added)]).toEqual([422, ["status.conditions"]]);
    const failed = await ok(
      server.admin.put(`${at}/status`, { ...body, status: { conditions: [condition] } }),
    );
    const conditions = [{ ...failed.body.status.conditions[0], reason: "Other" }];
    const changed = await server.admin.put(`${at}/approval`, { ...failed.body, status: { conditions } });
    expect([changed.status, causeFields(changed)]).toEqual([422, ["status.conditions"]]);
    const approved = [...failed.body.status.conditions, { type: "Approved", status: "True" }];
    await ok(server.admin.put(`${at}/approval`, { ...failed.body, status: { conditions: approved } }));
  });

  test("conditions of other types are accepted through both subresources when the vocabulary is kubernetes", async () => {
    const reference = await TestServer.start({ vocabulary: "kubernetes" });
    try {
      const object = {
        ...requestObject({ signerName: "example.com/web" }),
        apiVersion: "certificates.k8s.io/v1",
      };
      const all = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
      const { body } = await ok(reference.admin.post(all, object));
      const at = `${all}/${body.metadata.name}`;
      const other = { type: "Ready", status: "Unknown" };
      const reviewed = { type: "Reviewed", status: "True" };
      const first = await ok(
        reference.admin.put(`${at}/status`, { ...body, status: { conditions: [other] } }),
      );
      const conditions = [...first.body.status.conditions, reviewed];
      const second = await ok(
        reference.admin.put(`${at}/approval`, { ...first.body, status: { conditions } }),
      );
      expect(second.body.status.conditions).toMatchObject([other, reviewed]);
      // The approval subresource is also required for Approved and Denied with this vocabulary.
      const denied = {
        ...second.body,
        status: { conditions: [...conditions, { ...reviewed, type: "Denied" }] },
      };
      expect((await reference.admin.put(`${at}/status`, denied)).status).toBe(422);
      const failed = { ...second.body, status: { conditions: [...conditions, condition] } };
      expect((await reference.admin.put(`${at}/approval`, failed)).status).toBe(422);
    } finally {
      await reference.close();
    }
  });

  test("C-2.6-15 conditions carry optional strings reason and message and the timestamps lastUpdateTime and lastTransitionTime", async () => {
    const times = { lastUpdateTime: "2024-01-01T00:00:00Z", lastTransitionTime: "2024-01-02T00:00:00Z" };
    const full = { ...condition, reason: "Reason", message: "some words", ...times };
    const { body } = await ok(writeStatus({ conditions: [full] }));
    expect(body.status.conditions).toEqual([full]);
    const stamped = (await ok(writeStatus({ conditions: [condition] }))).body.status.conditions[0];
    expect(stamped).toEqual({
      ...condition,
      lastUpdateTime: expect.stringMatching(/^\d{4}-.*Z$/),
      lastTransitionTime: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    for (const wrong of [{ reason: 1 }, { message: {} }, { lastUpdateTime: "yesterday" }])
      expect((await writeStatus({ conditions: [{ ...condition, ...wrong }] })).status).toBe(400);
  });
});

describe("4.12 the resource certificatesigningrequests", () => {
  test("C-4.12-01 certificatesigningrequests of certificates.platform.io/v1 is cluster scoped and supports the standard verbs", async () => {
    const { body } = await server.admin.get("/apis/certificates.platform.io/v1");
    const found = body.resources.find(({ name }: { name: string }) => name === "certificatesigningrequests");
    expect(found).toMatchObject({ namespaced: false, kind: "CertificateSigningRequest" });
    const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    expect(found.verbs.toSorted()).toEqual(verbs);
    const one = (await ok(create({}))).body;
    const at = `${requestsPath}/${one.metadata.name}`;
    await ok(server.admin.get(at));
    expect((await ok(server.admin.get(requestsPath))).body.items.length).toBeGreaterThan(0);
    const watching = await server.admin.watch(
      `${requestsPath}?resourceVersion=${one.metadata.resourceVersion}`,
    );
    await ok(server.admin.patch(at, { metadata: { labels: { a: "b" } } }));
    expect(await watching.next()).toMatchObject({ type: "MODIFIED" });
    watching.close();
    const { body: live } = await ok(server.admin.get(at));
    await ok(server.admin.put(at, { ...live, metadata: { ...live.metadata, labels: { a: "c" } } }));
    await ok(server.admin.delete(at));
    await ok(server.admin.delete(`${requestsPath}?labelSelector=none=such`));
  });
});
