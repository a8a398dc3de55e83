import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { requestedCertificate } from "../../src/base/certificates/certificate-request.ts";
import { issueRequested } from "../../src/base/certificates/issued-certificate.ts";
import { objectIdentifier, readElements, sequence } from "../../src/base/certificates/der.ts";
import { pemBlocks, pemOf } from "../../src/base/certificates/pem.ts";
import { createAuthority } from "../../src/base/certificates/serving-certificates.ts";
import { certificateRequest, newKeys } from "../support/certificate-request.ts";
import { useServer } from "../support/use-server.ts";
import { faultsIn, ok } from "./device-support.ts";

const group = "/apis/certificates.platform.io";
const bundles = `${group}/v1/clustertrustbundles`;
const requests = `${group}/v1/namespaces/default/podcertificaterequests`;
const server = useServer({ release: "1.37", runtimeConfig: "api/all=true", users: [{ name: "joe" }] });

const authority = createAuthority();
const other = createAuthority().certificate;
const keys = newKeys();
const pem = certificateRequest("pod", keys);
const derOf = (text: string) => pemBlocks(text)[0]!.content!.toString("base64");
const stub = derOf(pem);
const hourMs = 3_600_000;

/** Returns a certificate request (Base64) that names Ed25519 as the algorithm of its signature. */
function otherAlgorithm(request: string): string {
  const [outer] = readElements(Buffer.from(request, "base64"));
  const [info, , signature] = readElements(outer!.content);
  return sequence(info!.whole, sequence(objectIdentifier("1.3.101.112")), signature!.whole).toString(
    "base64",
  );
}

/** Returns a certificate for the pod's key. */
function issued(notBefore: number, notAfter: number, request = pem): string {
  const issuer = {
    certificate: new X509Certificate(authority.certificate),
    key: createPrivateKey(authority.key),
  };
  const facts = { usages: ["client auth"], notBefore, notAfter };
  return issueRequested(requestedCertificate(request), facts, issuer);
}

/** Returns a well-formed certificate whose key is no point of a curve. */
function withoutKey(certificate: string): string {
  const { content } = pemBlocks(certificate)[0]!;
  const key = new X509Certificate(content!).publicKey.export({ format: "der", type: "spki" });
  // The point is at the end: 0x04 and two coordinates of 32 bytes.
  content!.fill(0, content!.indexOf(key) + key.length - 65, content!.indexOf(key) + key.length);
  return pemOf("CERTIFICATE", content!);
}

async function faultsOf(path: string, object: object): Promise<string[]> {
  const { status, body } = await server.admin.post(`${path}?fieldValidation=Strict`, object);
  if (status === 201) return [];
  expect(status, JSON.stringify(body)).toBe(422);
  return faultsIn(body);
}

const bundle = (name: string, trustBundle: string, signerName?: string) => ({
  metadata: { name },
  spec: { trustBundle, ...(signerName !== undefined && { signerName }) },
});
const signer = "example.com/signer";
const longer = Buffer.concat([pemBlocks(other)[0]!.content!, Buffer.of(5, 0)]);

describe("a trust bundle", () => {
  test.each<[string, object, string[]]>([
    ["with two certificates", bundle("two", `text\n${authority.certificate}${other}`), []],
    ["of a signer", bundle("example.com:signer:a", other, signer), []],
    ["without certificates", bundle("b", "text"), ["spec.trustBundle Invalid"]],
    ["with equal certificates", bundle("b", other + other), ["spec.trustBundle Invalid"]],
    ["with a leaf certificate", bundle("b", issued(0, hourMs)), ["spec.trustBundle Invalid"]],
    [
      "with bytes after a certificate",
      bundle("b", pemOf("CERTIFICATE", longer)),
      ["spec.trustBundle Invalid"],
    ],
    ["with PEM in PEM", bundle("b", pemOf("CERTIFICATE", Buffer.from(other))), ["spec.trustBundle Invalid"]],
    ["with a key", bundle("b", authority.key), ["spec.trustBundle Invalid"]],
    ["of more than 1 MiB", bundle("b", "x".repeat(2 ** 20 + 1)), ["spec.trustBundle TooLong"]],
    ["of a signer without its prefix", bundle("b", other, signer), ["metadata.name Invalid"]],
    ["with the prefix of a signer", bundle("example.com:signer:c", other), ["metadata.name Invalid"]],
  ])("%s", async (_title, object, expected) => {
    expect(await faultsOf(bundles, object)).toEqual(expected);
  });

  test("keeps its signer", async () => {
    const path = `${bundles}/example.com:signer:kept`;
    await ok(server.admin.post(bundles, bundle("example.com:signer:kept", other, signer)));
    const { body } = await server.admin.patch(path, { spec: { signerName: null } });
    expect(faultsIn(body)).toContain("spec.signerName Invalid");
    const { items } = await ok(server.admin.get(`${bundles}?fieldSelector=spec.signerName=${signer}`));
    expect(items.length).toBeGreaterThan(0);
  });

  test("of a signer needs the verb attest", async () => {
    const rules = [{ apiGroups: ["certificates.platform.io"], resources: ["*"], verbs: ["create"] }];
    const rbac = "/apis/rbac.authorization.platform.io/v1";
    const role = (name: string, added: object[]) =>
      ok(server.admin.post(`${rbac}/clusterroles`, { metadata: { name }, rules: added }));
    const bind = (name: string) =>
      ok(
        server.admin.post(`${rbac}/clusterrolebindings`, {
          metadata: { name },
          roleRef: { apiGroup: "rbac.authorization.platform.io", kind: "ClusterRole", name },
          subjects: [{ apiGroup: "rbac.authorization.platform.io", kind: "User", name: "joe" }],
        }),
      );
    await role(
      "bundles",
      rules.map((rule) => ({ ...rule, resources: ["clustertrustbundles"] })),
    );
    await bind("bundles");
    const joe = server.as("joe");
    await ok(joe.post(bundles, bundle("joe", other)));
    const object = bundle("example.com:signer:joe", other, signer);
    expect((await joe.post(bundles, object)).status).toBe(403);
    await role("attest", [
      {
        apiGroups: ["certificates.platform.io"],
        resources: ["signers"],
        resourceNames: [signer],
        verbs: ["attest"],
      },
    ]);
    await bind("attest");
    await ok(joe.post(bundles, object));
  });
});

let count = 0;
const request = (changes: object = {}) => ({
  metadata: { name: `r${count++}` },
  spec: {
    signerName: signer,
    podName: "p",
    podUID: "u",
    serviceAccountName: "s",
    serviceAccountUID: "u",
    nodeName: "n",
    nodeUID: "u",
    stubPKCS10Request: stub,
    ...changes,
  },
});

describe("a request of a pod", () => {
  test.each<[string, object, string[]]>([
    ["with a certificate request", {}, []],
    ["without key", { stubPKCS10Request: "" }, ["spec Invalid"]],
    ["with a malformed key", { stubPKCS10Request: "YWJj" }, ["spec.stubPKCS10Request Invalid"]],
    [
      "with another signature",
      { stubPKCS10Request: derOf(certificateRequest("pod", keys, { signer: newKeys().privateKey })) },
      ["spec.stubPKCS10Request Invalid"],
    ],
    [
      "with a signature for another type of key",
      { stubPKCS10Request: otherAlgorithm(stub) },
      ["spec.stubPKCS10Request Invalid"],
    ],
    ["for less than an hour", { maxExpirationSeconds: 3599 }, ["spec.maxExpirationSeconds Invalid"]],
    ["for more than 91 days", { maxExpirationSeconds: 7_862_401 }, ["spec.maxExpirationSeconds Invalid"]],
    [
      "for more than a day from a signer of the product",
      { signerName: "platform.io/s", maxExpirationSeconds: 86_401 },
      ["spec.maxExpirationSeconds Invalid"],
    ],
    ["without identifiers", { podUID: "", nodeUID: "" }, ["spec.nodeUID Invalid", "spec.podUID Invalid"]],
    ["with a long identifier", { podUID: "x".repeat(129) }, ["spec.podUID TooLong"]],
    [
      "with an annotation without domain",
      { unverifiedUserAnnotations: { a: "b" } },
      ["spec.unverifiedUserAnnotations Invalid"],
    ],
  ])("%s", async (_title, changes, expected) => {
    expect(await faultsOf(requests, request(changes))).toEqual(expected);
  });

  test("is issued once, for its key and its times", async () => {
    const { metadata, spec } = await ok(server.admin.post(requests, request()));
    expect(spec.maxExpirationSeconds).toBe(86_400);
    const begin = Math.floor(Date.now() / 1000) * 1000;
    const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
    const condition = (type: string) => [
      { type, status: "True", reason: "r", message: "", lastTransitionTime: time(begin) },
    ];
    const status = {
      conditions: condition("Issued"),
      certificateChain: issued(begin, begin + 2 * hourMs),
      notBefore: time(begin),
      notAfter: time(begin + 2 * hourMs),
      beginRefreshAt: time(begin + hourMs),
    };
    const write = async (value: object) => {
      const answer = await server.admin.patch(`${requests}/${metadata.name}/status`, { status: value });
      return answer.status === 200 ? [] : faultsIn(answer.body);
    };
    const foreign = issued(begin, begin + 2 * hourMs, certificateRequest("pod", newKeys()));
    const cases: [object, string][] = [
      [{ ...status, certificateChain: foreign }, "status.certificateChain Invalid"],
      [
        { ...status, certificateChain: withoutKey(status.certificateChain) },
        "status.certificateChain Invalid",
      ],
      [{ ...status, certificateChain: "" }, "status.certificateChain Invalid"],
      [{ ...status, notBefore: time(begin - hourMs) }, "status.notBefore Invalid"],
      [{ ...status, notAfter: time(begin + hourMs) }, "status.notAfter Invalid"],
      [{ ...status, beginRefreshAt: time(begin) }, "status.beginRefreshAt Invalid"],
      [{ ...status, conditions: condition("Denied") }, "status Invalid"],
      [{ ...status, conditions: condition("Other") }, "status.conditions[0].type NotSupported"],
    ];
    for (const [value, fault] of cases) expect(await write(value)).toEqual([fault]);
    expect(await write(status)).toEqual([]);
    expect(await write({ beginRefreshAt: time(begin + 1.5 * hourMs) })).toEqual(["status Invalid"]);
  });
});
