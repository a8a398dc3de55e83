import { describe, expect, test } from "vitest";
import { ok } from "../api/support.ts";
import { useServer } from "../support/use-server.ts";

const core = "/api/v1/namespaces/default";
const secrets = `${core}/secrets`;
const accounts = `${core}/serviceaccounts`;
const annotation = "platform.io/service-account";

const server = useServer();

const account = (name: string) => ok(server.admin.post(accounts, { metadata: { name } }));
const secret = (name: string, of: string, annotations: object = {}) =>
  ok(
    server.admin.post(secrets, {
      metadata: { name, annotations: { [`${annotation}.name`]: of, ...annotations } },
      type: "platform.io/service-account-token",
    }),
  );
const read = async (name: string) => (await server.admin.get(`${secrets}/${name}`)).body;
const isThere = async (name: string) => (await server.admin.get(`${secrets}/${name}`)).status === 200;
const text = (base64: string) => Buffer.from(base64, "base64").toString();

/** The token of a Secret, as soon as it holds one. */
async function tokenOf(name: string): Promise<string> {
  await expect.poll(async () => (await read(name)).data?.token).toBeDefined();
  return text((await read(name)).data.token);
}

describe("the controller serviceaccount-token", () => {
  test("fills a Secret with a token of the account, its namespace and the server's CA certificate", async () => {
    const { uid } = (await account("robot")).body.metadata;
    await secret("robot-token", "robot");
    const token = await tokenOf("robot-token");
    const { data, metadata } = await read("robot-token");
    expect(text(data.namespace)).toBe("default");
    expect(text(data["ca.crt"])).toBe(server.server.caCertificate);
    expect(metadata.annotations[`${annotation}.uid`]).toBe(uid);
    const denied = await server.as(token).get(secrets);
    expect(denied.status).toBe(403);
    expect(denied.body.message).toContain('"system:serviceaccount:default:robot"');
    const claims = JSON.parse(text(token.split(".")[1]!));
    expect(claims).toEqual({
      iss: "platform/serviceaccount",
      sub: "system:serviceaccount:default:robot",
      "platform.io/serviceaccount/namespace": "default",
      "platform.io/serviceaccount/secret.name": "robot-token",
      "platform.io/serviceaccount/service-account.name": "robot",
      "platform.io/serviceaccount/service-account.uid": uid,
    });
  });

  test("restores removed or changed data and keeps other keys", async () => {
    await account("keeper");
    await secret("keeper-token", "keeper");
    await tokenOf("keeper-token");
    const extra = Buffer.from("mine").toString("base64");
    const changed = { data: { token: null, namespace: "AAAA", extra } };
    await ok(server.admin.patch(`${secrets}/keeper-token`, changed));
    await tokenOf("keeper-token");
    const { data } = await read("keeper-token");
    expect([text(data.namespace), data.extra]).toEqual(["default", extra]);
  });

  test("deletes the Secrets of a deleted account, and their tokens return 401", async () => {
    await account("leaver");
    for (const name of ["leaver-1", "leaver-2"]) await secret(name, "leaver");
    const token = await tokenOf("leaver-1");
    await tokenOf("leaver-2");
    await ok(server.admin.delete(`${accounts}/leaver`));
    for (const name of ["leaver-1", "leaver-2"]) await expect.poll(() => isThere(name)).toBe(false);
    expect((await server.as(token).get(secrets)).status).toBe(401);
  });

  test("deletes a token Secret when its account is missing or has another uid, and keeps other Secrets", async () => {
    await secret("nobody", "nobody");
    await expect.poll(() => isThere("nobody")).toBe(false);
    await account("again");
    await secret("other", "again", { [`${annotation}.uid`]: "another" });
    await expect.poll(() => isThere("other")).toBe(false);
    const metadata = { name: "plain", annotations: { [`${annotation}.name`]: "nobody" } };
    await ok(
      server.admin.post(secrets, { metadata, stringData: { a: "platform.io/service-account-token" } }),
    );
    await secret("probe", "nobody");
    await expect.poll(() => isThere("probe")).toBe(false);
    expect((await read("plain")).data).toHaveProperty("a");
  });
});
