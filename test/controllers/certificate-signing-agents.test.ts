import { describe, expect, test } from "vitest";
import * as der from "../../src/base/certificates/der.ts";
import { extension } from "../../src/base/certificates/x509.ts";
import { ok } from "../api/support.ts";
import { usageNames } from "../../src/kinds/certificates/request-rules.ts";
import { subjectAltNames } from "../support/certificate-request.ts";
import {
  decide,
  nodeClient,
  outcome,
  requestObject,
  requestsPath,
  type Asked,
} from "./certificate-support.ts";
import {
  year,
  key,
  servingRequest,
  greedy,
  expectNoAuthority,
  expectLife,
  useSigner,
} from "./certificate-signing-support.ts";

const { server, issued, failure, staysPending, rewriteSpec, expectLifetimes } = useSigner();

describe("the signer agent-serving", () => {
  test("C-2.6-31 platform.io/agent-serving: requests are not approved automatically", () =>
    staysPending(servingRequest));

  test("C-2.6-32 platform.io/agent-serving: organization must be system:nodes", async () => {
    for (const organizations of [[], ["other"], ["system:nodes", "other"]])
      expect((await failure({ ...servingRequest, organizations })).message).toContain("organization");
    await issued(servingRequest);
  });

  test("C-2.6-33 platform.io/agent-serving: user name (common name) must start with system:node:", async () => {
    expect((await failure({ ...servingRequest, commonName: "n1" })).message).toContain("common name");
  });

  test("C-2.6-34 platform.io/agent-serving: key usage, DNS SAN and IP SAN extensions are kept and other extensions are dropped", async () => {
    const extensions = [...servingRequest.extensions, ...greedy];
    const one = await issued({ ...servingRequest, extensions });
    expect(one.certificate.subjectAltName).toBe("DNS:n1.example.com, IP Address:10.0.0.1");
    expect(one.extensions.get(key.keyUsage)).toBe(der.namedBits(0, 2).toString("hex"));
    expect(one.certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(one.extensions.has(key.odd)).toBe(false);
  });

  test.each(["email:n1@example.com", "URI:https://n1/"])(
    "C-2.6-35 platform.io/agent-serving: email and URI subjectAltNames are forbidden: %s",
    async (name) => {
      const extensions = [subjectAltNames("DNS:n1", name)];
      expect((await failure({ ...servingRequest, extensions })).message).toContain("not allowed");
    },
  );

  test("C-2.6-36 platform.io/agent-serving: at least one DNS or IP subjectAltName is required", async () => {
    expect((await failure({ ...servingRequest, extensions: [] })).message).toContain("DNS or IP");
    for (const name of ["DNS:n1", "IP:0a000001"])
      await issued({ ...servingRequest, extensions: [subjectAltNames(name)] });
  });

  test.each([
    [["server auth"]],
    [["key encipherment", "digital signature", "client auth"]],
    [["key encipherment", "digital signature", "server auth", "client auth"]],
  ])(
    "C-2.6-37 platform.io/agent-serving: usages must be exactly key encipherment, digital signature, server auth, not %j",
    async (usages) => {
      expect((await failure({ ...servingRequest, usages })).message).toContain("usages must be exactly");
    },
  );

  test("C-2.6-38 platform.io/agent-serving: lifetime is the smaller of the default signing duration and spec.expirationSeconds", () =>
    expectLifetimes(servingRequest));

  test("C-2.6-39 platform.io/agent-serving: a CA certificate is not issued", async () =>
    expectNoAuthority(
      (await issued({ ...servingRequest, extensions: [...servingRequest.extensions, ...greedy] }))
        .certificate,
    ));
});

describe("the signer legacy-unknown", () => {
  /** Brings a request to the signer into the store, as an older release left it there: through the API none can be made. */
  async function legacy(asked: Asked): Promise<string> {
    const object = requestObject({ ...asked, signerName: "example.com/legacy-unknown" });
    await ok(server.admin.post(requestsPath, object));
    await rewriteSpec(object.metadata.name, { signerName: legacyName });
    return `${requestsPath}/${object.metadata.name}`;
  }
  const legacyName = "platform.io/legacy-unknown";

  async function issuedLegacy(asked: Asked) {
    const at = await legacy(asked);
    await ok(decide(server.admin, at, "Approved"));
    return (await outcome(server.admin, at)).issued!;
  }

  test("C-2.6-46 a CSR with signerName platform.io/legacy-unknown is refused on creation through v1", async () => {
    const answer = await server.admin.post(requestsPath, requestObject({ signerName: legacyName }));
    expect(answer.status).toBe(422);
    expect(answer.body.details.causes).toMatchObject([{ field: "spec.signerName" }]);
  });

  test("C-2.6-40 platform.io/legacy-unknown: requests are not approved automatically", async () => {
    const at = await legacy({ ...nodeClient });
    await issued({});
    expect((await server.admin.get(at)).body).toMatchObject({ spec: { signerName: legacyName }, status: {} });
  });

  test("C-2.6-41 platform.io/legacy-unknown: any subject is accepted by the signer", async () => {
    const { certificate } = await issuedLegacy({ commonName: "", organizations: ["system:masters"] });
    expect(certificate.subject).toContain("O=system:masters");
  });

  test("C-2.6-42 platform.io/legacy-unknown: subjectAltName and key usage extensions are allowed", async () => {
    const names = subjectAltNames("DNS:a", "IP:0a000001", "email:a@example.com", "URI:https://a/");
    const usage = extension("2.5.29.15", true, der.namedBits(0, 2));
    const usages = ["digital signature", "key encipherment"];
    const { certificate, extensions } = await issuedLegacy({ extensions: [names, usage, ...greedy], usages });
    expect(certificate.subjectAltName?.split(", ").toSorted()).toEqual([
      "DNS:a",
      "IP Address:10.0.0.1",
      "URI:https://a/",
      "email:a@example.com",
    ]);
    expect(extensions.get(key.keyUsage)).toBe(der.namedBits(0, 2).toString("hex"));
    expect(extensions.has(key.odd)).toBe(false);
  });

  test("C-2.6-43 platform.io/legacy-unknown: any key usage is allowed", async () => {
    const { certificate, extensions } = await issuedLegacy({ usages: usageNames });
    expect(extensions.get(key.keyUsage)).toBe(der.namedBits(0, 1, 2, 3, 4, 5, 6, 7, 8).toString("hex"));
    expect(certificate.keyUsage).toHaveLength(12);
  });

  test("C-2.6-44 platform.io/legacy-unknown: lifetime is the smaller of the default signing duration and spec.expirationSeconds", async () => {
    expectLife((await issuedLegacy({ expirationSeconds: 600 })).certificate, 600);
    expect((await issuedLegacy({ expirationSeconds: 2 * year })).lifeSeconds).toBe(year);
    expect((await issuedLegacy({})).lifeSeconds).toBe(year);
  });

  test("C-2.6-45 platform.io/legacy-unknown: a CA certificate is not issued", async () =>
    expectNoAuthority((await issuedLegacy({ extensions: greedy, usages: ["cert sign"] })).certificate));
});
