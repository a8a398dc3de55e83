import { afterEach, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { useProviders } from "./authentication-configuration-support.ts";
import { AUTHN, ManualClock, ok, rejectionOf, until } from "./support.ts";

const { fixture, file, write } = useProviders();
const selfReviews = `${AUTHN}/selfsubjectreviews`;
const clock = new ManualClock();
const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(content: object, options: object = {}): Promise<TestServer> {
  write(content);
  const server = await TestServer.start({
    clock,
    runtimeConfig: "authentication.platform.io/v1alpha1",
    authentication: { configFile: file },
    ...options,
  });
  servers.push(server);
  return server;
}

const whoIs = (server: TestServer, token: string) => server.as(token).post(selfReviews, {});
const userOf = async (server: TestServer, token: string) =>
  (await ok(whoIs(server, token))).body.status.userInfo as Record<string, unknown>;
const now = () => clock.now();
const claimed = { username: { claim: "sub", prefix: "" } };

describe("a server with --authentication-config", () => {
  test("accepts the tokens of two issuers with their own mappings", async () => {
    const { one, two } = fixture;
    const server = await start({
      jwt: [
        {
          issuer: one.issuer(),
          claimMappings: {
            username: { claim: "sub", prefix: "one:" },
            groups: { claim: "roles", prefix: "one:" },
            uid: { claim: "id" },
          },
        },
        {
          issuer: two.issuer({ audiences: ["a", "b"], audienceMatchPolicy: "MatchAny" }),
          claimMappings: {
            username: { expression: '"two:" + claims.sub' },
            groups: { expression: 'claims.roles.split(",")' },
            uid: { expression: "string(claims.id)" },
            extra: [
              { key: "example.com/tenant", valueExpression: "claims.tenant" },
              { key: "example.com/none", valueExpression: 'claims.?absent.orValue("")' },
              { key: "example.com/levels", valueExpression: "claims.levels.map(one, string(one))" },
            ],
          },
        },
      ],
    });
    const own = "system:authenticated";
    expect(await userOf(server, one.token(now(), { roles: ["dev"], id: "7" }))).toEqual({
      username: "one:ann",
      groups: ["one:dev", own],
      uid: "7",
    });
    const claims = { aud: ["x", "b"], roles: "dev,ops", id: 8, tenant: "t", levels: [1, 2] };
    expect(await userOf(server, two.token(now(), claims))).toEqual({
      username: "two:ann",
      groups: ["dev", "ops", own],
      uid: "8",
      extra: { "example.com/tenant": ["t"], "example.com/levels": ["1", "2"] },
    });
    expect(await rejectionOf(server, two.token(now(), { ...claims, aud: "c" }))).toContain(
      "for another client",
    );
    expect(await rejectionOf(server, two.token(now(), { ...claims, iss: one.url }))).toContain("signature");
    expect(await rejectionOf(server, one.token(now(), { iss: "https://other.example" }))).toBe(
      "invalid bearer token",
    );
  });

  test("rejects claims and users for which a rule is false", async () => {
    const { one } = fixture;
    const server = await start({
      jwt: [
        {
          issuer: one.issuer(),
          claimValidationRules: [
            { claim: "hd", requiredValue: "example.com" },
            { expression: "claims.level >= 3", message: "the level is too low" },
            { expression: "has(claims.sub)" },
          ],
          claimMappings: claimed,
          userValidationRules: [{ expression: '!user.username.startsWith("system:")', message: "reserved" }],
        },
      ],
    });
    const token = (claims: object) => one.token(now(), { hd: "example.com", level: 3, ...claims });
    expect(await userOf(server, token({}))).toMatchObject({ username: "ann" });
    expect(await rejectionOf(server, token({ hd: "other" }))).toContain(
      '"hd" doesn\'t have the required value',
    );
    expect(await rejectionOf(server, token({ level: 2 }))).toContain("the level is too low");
    expect(await rejectionOf(server, token({ level: "x" }))).toContain(
      "jwt[0].claimValidationRules[1].expression",
    );
    expect(await rejectionOf(server, token({ sub: "system:admin" }))).toContain("reserved");
  });

  test("rejects mappings with a result of another type", async () => {
    const { one } = fixture;
    const expression = "claims.value";
    const mappings = [
      { username: { expression } },
      { ...claimed, groups: { expression } },
      { ...claimed, uid: { expression } },
      { ...claimed, extra: [{ key: "example.com/a", valueExpression: expression }] },
    ];
    for (const [index, claimMappings] of mappings.entries()) {
      const server = await start({ jwt: [{ issuer: one.issuer(), claimMappings }] });
      for (const value of [7, { a: "b" }, [1], true]) {
        expect(await rejectionOf(server, one.token(now(), { value }))).toContain(
          "the result must be a string",
        );
      }
      expect(await rejectionOf(server, one.token(now()))).toContain("no such key");
      const isList = index === 1 || index === 3;
      expect((await whoIs(server, one.token(now(), { value: ["a", ""] }))).status).toBe(isList ? 201 : 401);
    }
  });

  test("reads the discovery document at another URL", async () => {
    const { one } = fixture;
    const issuer = one.issuer({ discoveryURL: `${one.url}/elsewhere/configuration` });
    one.service.received.length = 0;
    const server = await start({ jwt: [{ issuer, claimMappings: claimed }] });
    expect(await userOf(server, one.token(now()))).toMatchObject({ username: "ann" });
    expect(one.service.received.map(({ path }) => path)).toContain("/elsewhere/configuration");
  });

  test("limits the cost of expressions and survives hostile claims", async () => {
    const { one } = fixture;
    const server = await start({
      jwt: [
        {
          issuer: one.issuer(),
          claimMappings: {
            username: { expression: "claims.sub" },
            groups: {
              expression: "claims.list.filter(a, claims.list.all(b, claims.list.all(c, c != a + b)))",
            },
          },
        },
      ],
    });
    const list = Array.from({ length: 300 }, (_, index) => `v${index}`);
    expect(await rejectionOf(server, one.token(now(), { list }))).toContain("cost limit exceeded");
    let deep: unknown = "x";
    for (let depth = 0; depth < 1500; depth++) deep = [deep];
    const hostile = [
      { list: deep },
      { list: "x".repeat(6000) },
      JSON.parse('{"list":["a"],"__proto__":{"sub":"root"},"constructor":"x"}') as object,
    ];
    for (const claims of hostile)
      expect((await whoIs(server, one.token(now(), claims))).status).toBeLessThan(500);
    expect(await userOf(server, one.token(now(), { list: [] }))).toMatchObject({ username: "ann" });
  });
});

test("all expressions for a token share a limit of their cost", async () => {
  const { one } = fixture;
  const costly = (index: number) => ({
    expression: `claims.list.all(a, claims.list.all(b, a + b != "${index}"))`,
  });
  const withRules = (count: number) =>
    start({
      jwt: [
        {
          issuer: one.issuer(),
          claimMappings: claimed,
          claimValidationRules: Array.from({ length: count }, (_, index) => costly(index)),
        },
      ],
    });
  const list = Array.from({ length: 300 }, (_, index) => `v${index}`);
  const token = one.token(now(), { list });
  expect(await userOf(await withRules(4), token)).toMatchObject({ username: "ann" });
  expect(await rejectionOf(await withRules(30), token)).toMatch(
    /claimValidationRules\[[1-9]\d*\].*cost limit exceeded/,
  );
});

describe("anonymous requests by --authentication-config", () => {
  /** The statuses of requests over one connection, one after another. */
  const statuses = async (server: TestServer) => {
    const nobody = server.as(undefined);
    const found: Record<string, number> = {};
    for (const path of ["/livez", "/readyz", "/version", "/api/v1/pods"]) {
      found[path] = (await nobody.get(path)).status;
    }
    return found;
  };

  test("are limited to the paths of the conditions", async () => {
    const server = await start({ jwt: [], anonymous: { enabled: true, conditions: [{ path: "/livez" }] } });
    expect(await statuses(server)).toEqual({
      "/livez": 200,
      "/readyz": 401,
      "/version": 401,
      "/api/v1/pods": 401,
    });
    expect((await server.as(undefined).get("/livez?verbose")).status).toBe(200);
    expect((await server.as(undefined).get("/livez/ping")).status).toBe(401);
  });

  test("can be turned off and on", async () => {
    const off = await start({ anonymous: { enabled: false } });
    expect(await statuses(off)).toEqual({
      "/livez": 401,
      "/readyz": 401,
      "/version": 401,
      "/api/v1/pods": 401,
    });
    const on = await start({ anonymous: { enabled: true } });
    expect(await statuses(on)).toEqual({
      "/livez": 200,
      "/readyz": 200,
      "/version": 200,
      "/api/v1/pods": 403,
    });
    const usual = await start({ jwt: [] });
    expect(await statuses(usual)).toMatchObject({ "/livez": 200, "/api/v1/pods": 403 });
  });

  test("can't be decided by --anonymous-auth too", async () => {
    await expect(start({ anonymous: { enabled: true } }, { anonymousAuth: true })).rejects.toThrow(
      `authentication.configFile ${file}: anonymous: can't be used together with anonymousAuth`,
    );
  });
});

describe("the file of --authentication-config", () => {
  const metric = async (server: TestServer, status: string) => {
    const { text } = await ok(server.admin.get("/metrics"));
    const name = "apiserver_authentication_config_controller_automatic_reloads_total";
    const line = text.split("\n").find((one) => one.startsWith(`${name}{status="${status}"`));
    return line === undefined ? 0 : Number(line.split(" ")[1]);
  };

  test("is used again when it changes; an invalid one is logged and counted, and the previous one stays", async () => {
    const { one, two } = fixture;
    const jwt = (provider: typeof one) => [{ issuer: provider.issuer(), claimMappings: claimed }];
    const errors: string[] = [];
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: ({ error }: { error?: unknown }) => void errors.push(String(error)),
    };
    const server = await start({ jwt: jwt(one), anonymous: { enabled: false } }, { log });
    expect(await userOf(server, one.token(now()))).toMatchObject({ username: "ann" });
    expect((await server.as(undefined).get("/livez")).status).toBe(401);
    write({ jwt: jwt(two) });
    await clock.advance(10_000);
    await until(
      () => metric(server, "success"),
      (count) => count === 1,
    );
    expect(await userOf(server, two.token(now()))).toMatchObject({ username: "ann" });
    expect(await rejectionOf(server, one.token(now()))).toBe("invalid bearer token");
    expect((await server.as(undefined).get("/livez")).status).toBe(200);
    write({ jwt: [{ issuer: { url: "http://x" } }] });
    await clock.advance(10_000);
    await until(
      () => metric(server, "failure"),
      (count) => count === 1,
    );
    expect(errors).toEqual([
      expect.stringContaining(`authentication.configFile ${file}: jwt[0].issuer.url: Invalid`),
    ]);
    expect(await userOf(server, two.token(now()))).toMatchObject({ username: "ann" });
    expect(await metric(server, "success")).toBe(1);
  });
});
