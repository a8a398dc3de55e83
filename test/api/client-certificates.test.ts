import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import {
  createAuthority,
  createServingCertificates,
  issueClientCertificate,
} from "../../src/base/certificates/serving-certificates.ts";
import { TestServer } from "../support/api.ts";
import { AUTHN, ok } from "./support.ts";

test("a client certificate of a trusted CA authenticates with its common name and organizations", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-client-ca-"));
  const authority = createAuthority();
  writeFileSync(path.join(folder, "ca.pem"), authority.certificate);
  const known = await TestServer.start({
    clientCaFile: path.join(folder, "ca.pem"),
    runtimeConfig: "authentication.platform.io/v1alpha1",
  });
  rmSync(folder, { recursive: true });
  const facts = { commonName: "cert-user", organizations: ["team-x", "team-y"], days: 1 };
  const good = issueClientCertificate(authority, facts);
  const { body } = await ok(
    known.asCertificate(good.certificate, good.key).post(`${AUTHN}/selfsubjectreviews`, {}),
  );
  expect(body.status.userInfo).toEqual({
    username: "cert-user",
    groups: ["team-x", "team-y", "system:authenticated"],
  });
  const made = createServingCertificates(["localhost"]);
  const strange = issueClientCertificate({ certificate: made.caCertificate, key: made.caKey! }, facts);
  const refused = await known.asCertificate(strange.certificate, strange.key).get("/version");
  expect(refused.status).toBe(401);
  await known.close();
});

test.each([
  ["1.31", undefined],
  ["1.32", ["authentication.platform.io/credential-id"]],
] as const)("release %s: the user of a client certificate has the extra values %s", async (release, keys) => {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-client-ca-"));
  const authority = createAuthority();
  writeFileSync(path.join(folder, "ca.pem"), authority.certificate);
  const options = { release, clientCaFile: path.join(folder, "ca.pem"), enabledControllers: [] };
  const known = await TestServer.start(options).finally(() => rmSync(folder, { recursive: true }));
  try {
    const facts = { commonName: "cert-user", organizations: [], days: 1 };
    const { certificate, key } = issueClientCertificate(authority, facts);
    const reviews = "/apis/authentication.platform.io/v1/selfsubjectreviews";
    const { body } = await ok(known.asCertificate(certificate, key).post(reviews, {}));
    const { extra } = body.status.userInfo as { extra?: object };
    expect(extra && Object.keys(extra)).toEqual(keys);
  } finally {
    await known.close();
  }
});
