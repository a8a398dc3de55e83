import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createLocalJWKSet, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import { ok } from "./support.ts";
import { serverOptionsOf } from "../../src/server/options/library-options.ts";
import { issuer, useTokenServer } from "./service-account-support.ts";

const { clock, server, makeAccount, tokenOf } = useTokenServer();

describe("5.5 signing keys of service account tokens", () => {
  it("clients with permission can verify tokens with the published discovery documents", async () => {
    await makeAccount("reader");
    const token = await tokenOf("reader", { audiences: ["api"] });
    const reader = server.as(token);
    const configuration = await ok(reader.get("/.well-known/openid-configuration"));
    expect(configuration.headers["content-type"]).toBe("application/json");
    expect(configuration.headers["cache-control"]).toBe("public, max-age=3600");
    expect(configuration.body).toEqual({
      issuer,
      jwks_uri: `${issuer}/openid/v1/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256", "RS256"],
    });
    const keys = await ok(reader.get("/openid/v1/jwks"));
    expect(keys.headers["content-type"]).toBe("application/jwk-set+json");
    expect(JSON.stringify(keys.body)).not.toContain('"d":');
    const set = createLocalJWKSet(JSON.parse(keys.text));
    const currentDate = new Date(clock.now());
    const { payload } = await jwtVerify(token, set, { issuer, audience: "api", currentDate });
    expect(payload.sub).toBe("system:serviceaccount:default:reader");
    expect((await server.as(undefined).get("/openid/v1/jwks")).status).toBe(403);
  });

  it("without key files the server generates a private key file and uses it again", async () => {
    const dataFolder = mkdtempSync(path.join(tmpdir(), "plinth-own-key-"));
    const { serviceAccountKeys } = await import("../../src/server/authentication/service-account-tokens.ts");
    const options = { ...serverOptionsOf({}), certificateFolder: dataFolder };
    try {
      const all = await Promise.all(Array.from({ length: 5 }, () => serviceAccountKeys(options)));
      all.push(await serviceAccountKeys(options));
      const ids = new Set(all.flatMap(({ keys }) => keys.map(({ id }) => id)));
      expect(ids.size).toBe(1);
      expect(statSync(path.join(dataFolder, "service-accounts.key")).mode & 0o777).toBe(0o600);
    } finally {
      rmSync(dataFolder, { recursive: true, force: true });
    }
  });

  it.each([
    [
      { keyFiles: ["/nowhere/x.pem"] },
      "authentication.serviceAccounts.keyFiles /nowhere/x.pem: the file doesn't exist",
    ],
    [{ signingKeyFile: "/nowhere/x.pem" }, "authentication.serviceAccounts.signingKeyFile /nowhere/x.pem"],
    [{ maxExpirationMs: 60_000 }, "authentication.serviceAccounts.maxExpirationMs"],
    [{ issuers: ["http://["] }, "authentication.serviceAccounts.issuers"],
    [{ jwksUri: "http://keys.example" }, "authentication.serviceAccounts.jwksUri"],
  ])("a start with %j is refused", async (serviceAccounts, message) => {
    await expect(TestServer.start({ authentication: { serviceAccounts } })).rejects.toThrow(message);
  });
});

describe("5.5 the issuer's documents", () => {
  it.each<[string, string[], string | undefined, string | number]>([
    [
      "below an issuer with a path",
      ["https://one.example/a/"],
      undefined,
      "https://one.example/a/openid/v1/jwks",
    ],
    ["elsewhere", ["https://one.example"], "https://keys.example/k", "https://keys.example/k"],
    ["nowhere for an issuer that is no URL", ["plain"], undefined, 404],
    ["nowhere for an issuer without TLS", ["http://one.example"], undefined, 404],
    ["nowhere for an issuer with a query", ["https://one.example?a"], undefined, 404],
  ])("locate the keys %s", async (_what, issuers, jwksUri, expected) => {
    const one = await TestServer.start({ authentication: { serviceAccounts: { issuers, jwksUri } } });
    try {
      const { status, body } = await one.admin.get("/.well-known/openid-configuration");
      expect(status === 200 ? body.jwks_uri : status).toBe(expected);
    } finally {
      await one.close();
    }
  });

  it("the server has a default issuer", async () => {
    const one = await TestServer.start({ vocabulary: "kubernetes" });
    try {
      const { body } = await ok(one.admin.get("/.well-known/openid-configuration"));
      expect(body.issuer).toBe("https://kubernetes.default.svc.cluster.local");
    } finally {
      await one.close();
    }
  });
});
