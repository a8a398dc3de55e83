import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HttpsService } from "../support/https-service.ts";
import { TestServer } from "../support/api.ts";
import { ok } from "./support.ts";

let server: TestServer;
let webhook: HttpsService;
const folder = mkdtempSync(path.join(tmpdir(), "plinth-credentials-"));
const encode = (text: string) => Buffer.from(text).toString("base64url");

beforeAll(async () => {
  webhook = await HttpsService.start(({ text }) => {
    const { apiVersion, spec } = JSON.parse(text) as { apiVersion: string; spec: { token: string } };
    const user = { username: `hook:${spec.token}` };
    const status = { authenticated: spec.token.startsWith("hook-"), user };
    return { body: { apiVersion, kind: "TokenReview", status } };
  });
  const tokens = path.join(folder, "tokens.csv");
  writeFileSync(tokens, "secret,ann,1\nother,bob,2\n");
  const configFile = path.join(folder, "webhook.json");
  const cluster = {
    server: webhook.url,
    "certificate-authority-data": Buffer.from(webhook.ca).toString("base64"),
  };
  const document = {
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(configFile, JSON.stringify(document));
  server = await TestServer.start({
    runtimeConfig: "authentication.platform.io/v1alpha1",
    tokenAuthFile: tokens,
    authentication: { tokenWebhook: { configFile, version: "v1", cacheMs: 120_000 }, bootstrapTokens: true },
  });
});
afterAll(async () => {
  await server.close();
  await webhook.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The response to one HTTP/1.1 request, sent byte for byte. */
function raw(...lines: readonly string[]): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname: host, port } = new URL(server.server.url!);
  return new Promise((resolve, reject) => {
    const options = {
      host,
      port: Number(port),
      ca: server.server.caCertificate!,
      ALPNProtocols: ["http/1.1"],
    };
    const socket = connect(options, () => {
      const head = ["GET /api/v1/namespaces HTTP/1.1", "Host: x", "Connection: close", ...lines, "", ""];
      socket.write(head.join("\r\n"), "latin1");
    });
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => (text += part));
    socket.once("error", reject);
    socket.once("end", () => resolve({ status: Number(text.split(" ", 2)[1]), text }));
  });
}
/** 403 has the caller's name: authenticated users may not list namespaces here. */
const callerOf = ({ text }: { text: string }) => /User \\"([^\\]+)\\"/.exec(text)?.[1];

describe("5.3 the header Authorization", () => {
  it.each([
    ["C-5.3-01 as it should be", "Authorization: Bearer secret", "ann"],
    ["with the scheme in capitals", "authorization: BEARER secret", "ann"],
    ["with spaces around it", "Authorization:    Bearer secret   ", "ann"],
    ["with something after the token", "Authorization: Bearer secret more", "ann"],
    ["with another scheme", "Authorization: Basic c2VjcmV0", "system:anonymous"],
    ["without a token", "Authorization: Bearer", "system:anonymous"],
    ["with two spaces before the token", "Authorization: Bearer  secret", "system:anonymous"],
    ["that is empty", "Authorization:", "system:anonymous"],
  ])("%s", async (_what, line, caller) => {
    const answer = await raw(line);
    expect([answer.status, callerOf(answer)]).toEqual([403, caller]);
  });

  it.each([
    ["a token in other case", "Authorization: Bearer SECRET"],
    ["a token in quotes", 'Authorization: Bearer "secret"'],
    ["a token with a comma", "Authorization: Bearer secret,other"],
    ["a token with a tab before it", "Authorization: Bearer \tsecret"],
    ["a token with bytes above ASCII", "Authorization: Bearer sécret"],
    ["an endless token", `Authorization: Bearer ${"a".repeat(20_000)}`],
    ["a token of dots", `Authorization: Bearer ${".".repeat(5000)}`],
    ["a token that is almost signed", `Authorization: Bearer ${encode("{}")}.${encode("{}")}.`],
    ["a token with a header that isn't JSON", `Authorization: Bearer e30x.${encode("{}")}.eA`],
    [
      "a token of nested lists",
      `Authorization: Bearer ${encode("[".repeat(9000))}.${encode("[".repeat(500))}.eA`,
    ],
  ])("C-5.9-02 %s is 401", async (_what, line) => {
    const { status, text } = await raw(line);
    expect(status).toBe(401);
    expect(text).toMatch(/www-authenticate: Bearer/i);
  });

  it("only the first of several Authorization headers is used, over HTTP/1.1 and HTTP/2", async () => {
    expect(callerOf(await raw("Authorization: Bearer secret", "Authorization: Bearer other"))).toBe("ann");
    expect((await raw("Authorization: Bearer wrong", "Authorization: Bearer other")).status).toBe(401);
    const basic = await raw("Authorization: Basic eA==", "Authorization: Bearer other");
    expect(callerOf(basic)).toBe("system:anonymous");
    const session = connectHttp2(server.server.url!, { ca: server.server.caCertificate! });
    try {
      const headers = { ":path": "/api/v1/namespaces", authorization: "Bearer secret" };
      const stream = session.request(headers);
      let text = "";
      for await (const part of stream.setEncoding("utf8")) text += String(part);
      expect(callerOf({ text })).toBe("ann");
    } finally {
      session.close();
    }
  });

  it("C-5-04 C-5-05 each authentication method accepts its own tokens, one after the other on one connection", async () => {
    const self = "/apis/authentication.platform.io/v1alpha1/selfsubjectreviews";
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await ok(server.admin.post(accounts, { metadata: { name: "robot" } }));
    const { body } = await ok(server.admin.post(`${accounts}/robot/token`, { spec: {} }));
    const api = server.as(undefined);
    const seen: unknown[] = [];
    for (const token of ["secret", body.status.token, "hook-1", "nobody", "other", "hook-1"]) {
      const answer = await api.post(self, {}, { headers: { authorization: `Bearer ${token}` } });
      seen.push(answer.body.status.userInfo?.username ?? answer.status);
      if (answer.status === 201) expect(answer.body.status.userInfo.groups).toContain("system:authenticated");
    }
    const account = "system:serviceaccount:default:robot";
    expect(seen).toEqual(["ann", account, "hook:hook-1", 401, "bob", "hook:hook-1"]);
    expect((await api.get("/version")).status).toBe(200);
  });
});

describe("5.3 a bearer token in Sec-WebSocket-Protocol", () => {
  const prefix = "base64url.bearer.authorization.platform.io.";
  const socket = (protocols: string, ...more: readonly string[]) =>
    raw("Upgrade: websocket", `Sec-WebSocket-Protocol: ${protocols}`, ...more);

  it("authenticates like an Authorization header", async () => {
    expect(callerOf(await socket(`v4.channel, ${prefix}${encode("secret")}`))).toBe("ann");
    expect(callerOf(await socket(`${prefix}${encode("hook-2")},x`))).toBe("hook:hook-2");
    expect((await socket(`x, ${prefix}${encode("wrong")}`)).status).toBe(401);
    expect(callerOf(await socket("x"))).toBe("system:anonymous");
  });

  it("is used only for a WebSocket upgrade without an Authorization header", async () => {
    const protocols = `x, ${prefix}${encode("secret")}`;
    expect(callerOf(await raw(`Sec-WebSocket-Protocol: ${protocols}`))).toBe("system:anonymous");
    expect(callerOf(await socket(protocols, "Authorization: Bearer other"))).toBe("bob");
  });

  it.each([
    ["alone", `${prefix}${encode("secret")}`],
    ["twice", `x, ${prefix}${encode("secret")}, ${prefix}${encode("other")}`],
    ["not well encoded", `x, ${prefix}a+b`],
    ["empty", `x, ${prefix}`],
    ["that is no text", `x, ${prefix}${Buffer.from([0xff, 0xfe]).toString("base64url")}`],
  ])("%s is 401", async (_what, protocols) => {
    expect((await socket(protocols)).status).toBe(401);
  });
});

describe("authentication metrics", () => {
  it("count authenticated users, results and cached tokens", async () => {
    const text = async () => (await ok(server.admin.get("/metrics"))).text;
    const value = (page: string, line: string) =>
      Number(
        page
          .split("\n")
          .find((one) => one.startsWith(`${line} `))
          ?.slice(line.length + 1) ?? 0,
      );
    const before = await text();
    const token = "hook-figures";
    for (let n = 0; n < 3; n++) await server.as(token).get("/api");
    await server.as("nobody-knows").get("/api");
    await server.as("secret").get("/api");
    const after = await text();
    const grown = (line: string) => value(after, line) - value(before, line);
    expect(grown('authentication_attempts{result="success"}')).toBe(5);
    expect(grown('authentication_attempts{result="failure"}')).toBe(1);
    expect(grown('authenticated_user_requests{username="other"}')).toBe(4);
    expect(grown('authenticated_user_requests{username="admin"}')).toBe(1);
    expect(grown('authentication_token_cache_request_total{status="hit"}')).toBe(2);
    expect(grown('authentication_token_cache_request_total{status="miss"}')).toBe(2);
    expect(grown('authentication_duration_seconds_count{result="failure"}')).toBe(1);
    expect(after).not.toContain(token);
  });
});
