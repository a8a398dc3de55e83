import { describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import { RejectionLog } from "../support/rejection-log.ts";
import { useServer } from "../support/use-server.ts";
import { AUTHN, ManualClock, ok } from "./support.ts";

const clock = new ManualClock();
const SELF = `${AUTHN}/selfsubjectreviews`;
const runtimeConfig = "authentication.platform.io/v1alpha1";
const secret = "0123456789abcdef";

const log = new RejectionLog();
const server = useServer({ clock, runtimeConfig, log, authentication: { bootstrapTokens: true } });

interface Changes {
  readonly data?: Readonly<Record<string, string | undefined>>;
  readonly type?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly finalizers?: readonly string[];
}

/** Stores a bootstrap token with this id and the given changes. */
const store = (id: string, changes: Changes = {}, on = server) =>
  ok(
    on.admin.post(`/api/v1/namespaces/${changes.namespace ?? "platform-system"}/secrets`, {
      metadata: { name: changes.name ?? `bootstrap-token-${id}`, finalizers: changes.finalizers },
      type: changes.type ?? "bootstrap.platform.io/token",
      stringData: {
        "token-id": id,
        "token-secret": secret,
        "usage-bootstrap-authentication": "true",
        ...changes.data,
      },
    }),
  );
const whoIs = (token: string, on = server) => on.as(token).post(SELF, {});
const inSeconds = (seconds: number) => new Date(clock.now() + seconds * 1000).toISOString();

describe("5.4 bootstrap tokens", () => {
  it("C-2.7-01 C-2.7-02 C-5.4-01 C-5.4-04 C-5.4-05 a token authenticates as system:bootstrap:<id>", async () => {
    await store("abcde1");
    const { body } = await ok(whoIs(`abcde1.${secret}`));
    expect(body.status.userInfo).toEqual({
      username: "system:bootstrap:abcde1",
      groups: ["system:bootstrappers", "system:authenticated"],
    });
  });

  it("C-2.7-07 auth-extra-groups adds groups", async () => {
    const groups = "system:bootstrappers:workers,system:bootstrappers:a:b-1";
    await store("groups", { data: { "auth-extra-groups": groups } });
    const { body } = await ok(whoIs(`groups.${secret}`));
    expect(body.status.userInfo.groups).toEqual([
      "system:bootstrappers",
      "system:bootstrappers:a:b-1",
      "system:bootstrappers:workers",
      "system:authenticated",
    ]);
  });

  it("C-2.7-05 a token is valid until exactly its expiration", async () => {
    await store("timed1", { data: { expiration: inSeconds(60) } });
    await clock.advance(59_000);
    expect((await whoIs(`timed1.${secret}`)).status).toBe(201);
    await clock.advance(1000);
    const { status, body } = await whoIs(`timed1.${secret}`);
    expect([status, body.message]).toEqual([401, "Unauthorized"]);
    expect(log.reasons).toContain("bootstrap token: the token has expired");
  });

  it.each<[string, string, Changes]>([
    ["C-2.7-02 of another type", "type01", { type: "Opaque" }],
    ["C-2.7-02 in another namespace", "place1", { namespace: "default" }],
    ["C-2.7-02 under another name", "name01", { name: "bootstrap-token-namex1" }],
    ["that says another id", "idabc1", { data: { "token-id": "idabc2" } }],
    ["without an id", "idabc3", { data: { "token-id": undefined } }],
    ["without a secret", "empty1", { data: { "token-secret": "" } }],
    ["C-2.7-03 not meant for this", "usage1", { data: { "usage-bootstrap-authentication": "false" } }],
    ["C-2.7-03 not said to be meant for this", "usage2", { data: { "usage-bootstrap-authentication": "" } }],
    ["C-2.7-03 almost meant for this", "usage3", { data: { "usage-bootstrap-authentication": "True" } }],
    ["C-2.7-05 that has expired", "exp001", { data: { expiration: "2020-01-01T00:00:00Z" } }],
    ["C-2.7-05 that expires at no time that can be read", "exp002", { data: { expiration: "tomorrow" } }],
    ["C-2.7-05 that expires on a day only", "exp003", { data: { expiration: "2999-01-01" } }],
    ["C-2.7-07 with a group of others", "group1", { data: { "auth-extra-groups": "system:masters" } }],
    [
      "C-2.7-07 with a group of others beside a good one",
      "group2",
      { data: { "auth-extra-groups": "system:bootstrappers:a,system:masters" } },
    ],
    [
      "C-2.7-07 with a group by a similar name",
      "group3",
      { data: { "auth-extra-groups": "system:bootstrappersx" } },
    ],
    [
      "C-2.7-07 with a group without an end",
      "group4",
      { data: { "auth-extra-groups": "system:bootstrappers:" } },
    ],
    [
      "C-2.7-07 with a group in capitals",
      "group5",
      { data: { "auth-extra-groups": "system:bootstrappers:A" } },
    ],
    ["C-2.7-07 with an empty group", "group6", { data: { "auth-extra-groups": "system:bootstrappers:a," } }],
  ])("%s: the token of the Secret is rejected", async (_what, id, changes) => {
    await store(id, changes);
    expect((await whoIs(`${id}.${secret}`)).status).toBe(401);
  });

  it.each([
    ["a wrong secret", `form01.${secret.replace("0", "1")}`],
    ["an unknown id", `form02.${secret}`],
    ["capitals", `FORM01.${secret}`],
    ["a short secret", `form01.${secret.slice(1)}`],
    ["a long secret", `form01.${secret}0`],
    ["a longer id", `xform01.${secret}`],
    ["no secret", "form01."],
    ["no dot", `form01${secret}`],
    ["something after it", `form01.${secret}.x`],
  ])("C-2.7-01 a token with %s is refused", async (what, token) => {
    if (what === "a wrong secret") await store("form01");
    const { status, body } = await whoIs(token);
    expect([status, body.message]).toEqual([401, "Unauthorized"]);
  });

  it("a token is rejected once its Secret is being deleted, even with finalizers", async () => {
    await store("gone01", { finalizers: ["example.com/wait"] });
    expect((await whoIs(`gone01.${secret}`)).status).toBe(201);
    await ok(server.admin.delete("/api/v1/namespaces/platform-system/secrets/bootstrap-token-gone01"));
    expect((await whoIs(`gone01.${secret}`)).status).toBe(401);
  });

  it("C-5.4-01 tokens are rejected when the flag is not set", async () => {
    const off = await TestServer.start({ runtimeConfig });
    try {
      await store("abcde1", {}, off);
      expect((await whoIs(`abcde1.${secret}`, off)).status).toBe(401);
    } finally {
      await off.close();
    }
  });
});
