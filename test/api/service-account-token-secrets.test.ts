import { describe, expect, it } from "vitest";
import { jwt, publicPem } from "../authentication/jwt-support.ts";
import { TestServer } from "../support/api.ts";
import { ok } from "./support.ts";
import { older, accounts, secretsPath, REVIEWS, useTokenServer } from "./service-account-support.ts";

const { fileWith, server, makeAccount, whoIs, review } = useTokenServer();

describe("5.5 tokens stored in Secrets", () => {
  const legacy = (uid: string, changes: object = {}) =>
    jwt(
      { alg: "RS256" },
      {
        iss: "platform/serviceaccount",
        sub: "system:serviceaccount:default:elder",
        "platform.io/serviceaccount/namespace": "default",
        "platform.io/serviceaccount/secret.name": "elder-token",
        "platform.io/serviceaccount/service-account.name": "elder",
        "platform.io/serviceaccount/service-account.uid": uid,
        ...changes,
      },
      older.privateKey,
    );
  const keep = (token: string) =>
    server.admin.post(secretsPath, {
      metadata: { name: "elder-token", annotations: { "platform.io/service-account.name": "elder" } },
      type: "platform.io/service-account-token",
      stringData: { token },
    });

  it("C-5.5-04 are valid while the Secret has them and the account exists", async () => {
    const uid = await makeAccount("elder");
    const token = legacy(uid);
    expect((await whoIs(token)).status).toBe(401);
    await ok(keep(token));
    const { body } = await ok(whoIs(token));
    expect(body.status.userInfo).toEqual({
      username: "system:serviceaccount:default:elder",
      uid,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
    expect(await review(token)).toMatchObject({ authenticated: true, audiences: ["api", "api-2"] });
    expect((await review(token, ["vault"])).authenticated).toBeUndefined();
    const stringData = { token: "another" };
    await ok(server.admin.patch(`${secretsPath}/elder-token`, { stringData }));
    expect((await whoIs(token)).status).toBe(401);
    await ok(server.admin.patch(`${secretsPath}/elder-token`, { stringData: { token } }));
    expect((await whoIs(token)).status).toBe(201);
    await ok(server.admin.delete(`${accounts}/elder`));
    expect((await whoIs(token)).status).toBe(401);
    await makeAccount("elder");
    expect((await whoIs(token)).status).toBe(401);
    await ok(server.admin.delete(`${secretsPath}/elder-token`));
    expect((await whoIs(token)).status).toBe(401);
  });

  it.each([
    ["no namespace", { "platform.io/serviceaccount/namespace": undefined }],
    ["no Secret", { "platform.io/serviceaccount/secret.name": "" }],
    ["another subject", { sub: "system:serviceaccount:default:robot" }],
  ])("with %s are refused", async (_what, changes) => {
    const { body } = await server.admin.get(`${accounts}/elder`);
    expect((await whoIs(legacy(body.metadata.uid, changes))).status).toBe(401);
  });

  it("C-5.5-04 are valid without their Secret when lookup is off", async () => {
    const keyFiles = [fileWith("older-2.pem", publicPem(older.publicKey))];
    const lax = await TestServer.start({
      authentication: { serviceAccounts: { lookup: false, keyFiles } },
    });
    try {
      const status = await lax.admin.post(REVIEWS, { spec: { token: legacy("any") } });
      expect(status.body.status).toMatchObject({ authenticated: true, user: { uid: "any" } });
    } finally {
      await lax.close();
    }
  });
});
