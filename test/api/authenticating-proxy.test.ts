import { connect } from "node:http2";
import { request as httpsRequest } from "node:https";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProxyOptions } from "../../src/server/options/option-types.ts";
import { authority, client, intermediate, type CertificatePair } from "../authentication/pki.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { echo, FakeBackend, makePod } from "../support/backends.ts";
import { RejectionLog } from "../support/rejection-log.ts";
import { AUTHN, ok } from "./support.ts";

const SELF = `${AUTHN}/selfsubjectreviews`;
const proxies = authority();
const clients = authority();
const folder = mkdtempSync(path.join(tmpdir(), "plinth-proxy-"));
const file = (name: string, text: string) => {
  const at = path.join(folder, name);
  writeFileSync(at, text);
  return at;
};
const choice: ProxyOptions = {
  caFile: file("proxies.pem", proxies.certificate),
  usernameHeaders: ["X-Remote-User", "X-Other-User"],
  groupHeaders: ["X-Remote-Group", "X-Team"],
  extraHeaderPrefixes: ["X-Remote-Extra-", "X-More-"],
  allowedNames: ["front", "front-2"],
};
const front = client(proxies, "front");
let server: TestServer;
const log = new RejectionLog();
beforeAll(async () => {
  server = await TestServer.start({
    runtimeConfig: "authentication.platform.io/v1alpha1",
    clientCaFile: file("clients.pem", clients.certificate),
    tokenAuthFile: file("tokens.csv", "secret,tok,7\n"),
    authentication: { proxy: choice },
    log,
  });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Sends one request with raw header lines on a new connection. */
function ask(
  pair: CertificatePair | undefined,
  headers: Headers,
  method = "POST",
  at = SELF,
  one = server,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const tls = pair === undefined ? {} : { cert: pair.certificate, key: pair.key };
    const options = { method, ...tls, ca: one.server.caCertificate, agent: false };
    const lines = { "content-type": "application/json", ...headers } as Record<string, string | string[]>;
    const request = httpsRequest(`${one.server.url}${at}`, { ...options, headers: lines }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () =>
        resolve({ status: response.statusCode!, text, body: JSON.parse(text) } as Answer),
      );
    });
    request.once("error", reject);
    // As bytes: a string would change the encoding of the headers sent with it.
    request.end(method === "POST" ? Buffer.from("{}") : undefined);
  });
}
const userOf = async (pair: CertificatePair | undefined, headers: Headers) =>
  (await ok(ask(pair, headers))).body.status.userInfo;

describe("5.8 request headers of an authenticating proxy", () => {
  it("C-5.8-01 C-5.8-05 name the user, case-insensitively", async () => {
    const own = { username: "ann", groups: ["system:authenticated"] };
    expect(await userOf(front, { "x-ReMoTe-uSeR": "ann" })).toEqual(own);
    expect(await userOf(front, { "X-Other-User": "ann" })).toEqual(own);
    expect(await userOf(front, { "X-Other-User": "bob", "X-Remote-User": "ann" })).toEqual(own);
    expect(await userOf(front, { "X-Other-User": "ann", "X-Remote-User": "" })).toEqual(own);
  });

  it("C-5.8-02 add a group for each value of each group header", async () => {
    const headers = { "X-Remote-User": "ann", "X-Team": "t", "X-Remote-Group": ["dev, ops", "qa", ""] };
    expect((await userOf(front, headers)).groups).toEqual(["dev, ops", "qa", "t", "system:authenticated"]);
  });

  it("C-5.8-03 C-5.8-04 add extra values under decoded keys in lower case", async () => {
    const headers = {
      "X-Remote-User": "ann",
      "X-Remote-Extra-Scopes": ["openid", "profile"],
      "X-Remote-Extra-Example.com%2fTeam": "a",
      "x-more-scopes": "third",
      "X-Remote-Extra-bad%zz": "b",
      "X-Remote-Extra-": "nothing",
      "X-Remote-Extra-__proto__": "p",
    };
    const { extra } = await userOf(front, headers);
    expect(Object.entries(extra).toSorted()).toEqual([
      ["__proto__", ["p"]],
      ["bad%zz", ["b"]],
      ["example.com/team", ["a"]],
      ["scopes", ["openid", "profile", "third"]],
    ]);
  });

  it("have the uid of the user from release 1.33 on", async () => {
    const uidHeaders = ["X-Remote-Uid", "X-Uid"];
    const proxy = { ...choice, uidHeaders };
    const later = await TestServer.start({ release: "1.33", authentication: { proxy } });
    try {
      const at = "/apis/authentication.platform.io/v1/selfsubjectreviews";
      const uidOf = async (headers: Headers) => {
        const lines = { "X-Remote-User": "ann", ...headers };
        return (await ok(ask(front, lines, "POST", at, later))).body.status.userInfo.uid;
      };
      expect(await uidOf({ "X-Remote-Uid": "7" })).toBe("7");
      expect(await uidOf({ "X-Uid": "8", "X-Remote-Uid": "" })).toBe("8");
      expect(await uidOf({ "X-Uid": "8", "X-Remote-Uid": "7" })).toBe("7");
      expect(await uidOf({})).toBeUndefined();
      const configMaps = "/api/v1/namespaces/platform-system/configmaps";
      const published = await ok(later.admin.get(`${configMaps}/extension-apiserver-authentication`));
      expect(published.body.data["requestheader-uid-headers"]).toBe('["X-Remote-Uid","X-Uid"]');
      const several = await ask(
        front,
        { "X-Remote-User": "ann", "X-Remote-Uid": ["7", "8"] },
        "POST",
        at,
        later,
      );
      expect(several.status).toBe(401);
    } finally {
      await later.close();
    }
    const gate = { featureGates: "RemoteRequestHeaderUID=false" };
    for (const [options, message] of [
      [
        {},
        "authentication.proxy.uidHeaders: X-Remote-Uid, X-Uid needs the feature gate RemoteRequestHeaderUID",
      ],
      [{ release: "1.37" as const, ...gate }, "needs the feature gate RemoteRequestHeaderUID"],
    ] as const)
      await expect(TestServer.start({ authentication: { proxy }, ...options })).rejects.toThrow(message);
    const other = { ...choice, uidHeaders: ["X-Uid"] };
    await expect(TestServer.start({ release: "1.37", authentication: { proxy: other } })).rejects.toThrow(
      "must have X-Remote-Uid, which extension servers get; got X-Uid",
    );
  });

  it("are decoded as UTF-8", async () => {
    const latin1 = Buffer.from("zoë").toString("latin1");
    expect((await userOf(front, { "X-Remote-User": latin1 })).username).toBe("zoë");
    expect((await ask(front, { "X-Remote-User": "zo\u00eb" })).status).toBe(401);
  });

  it("take precedence over other methods, for each request of a connection", async () => {
    const bearer = { authorization: "Bearer secret" };
    expect((await userOf(front, { ...bearer, "X-Remote-User": "ann" })).username).toBe("ann");
    const api = server.asCertificate(front.certificate, front.key);
    const names: string[] = [];
    for (const headers of [
      { ...bearer },
      { ...bearer, "X-Remote-User": "ann" },
      { ...bearer, "X-Remote-User": "bob" },
      { ...bearer },
    ]) {
      const answer = await api.post(SELF, {}, { headers });
      names.push(answer.status === 201 ? answer.body.status.userInfo.username : String(answer.status));
    }
    expect(names).toEqual(["tok", "ann", "bob", "tok"]);
  });

  it("authenticate the user over HTTP/2 too", async () => {
    const session = connect(server.server.url!, {
      ca: server.server.caCertificate!,
      cert: front.certificate,
      key: front.key,
    });
    try {
      const stream = session.request({
        ":method": "POST",
        ":path": SELF,
        "x-remote-user": "ann",
        "content-type": "application/json",
      });
      stream.end("{}");
      let text = "";
      for await (const part of stream.setEncoding("utf8")) text += String(part);
      expect(JSON.parse(text).status.userInfo.username).toBe("ann");
    } finally {
      session.close();
    }
  });
});

describe("5.8 the headers of an authenticating proxy are only for this server", () => {
  it("are not forwarded to pods", async () => {
    const backend = await FakeBackend.start(echo);
    const told = await TestServer.start({
      connections: { allowLoopback: true },
      authentication: { proxy: choice },
    });
    try {
      await makePod(told.admin, "echo", { ip: "127.0.0.1", port: backend.port });
      const { certificate, key } = front;
      const headers = {
        "X-Remote-User": "ann",
        "X-Remote-Group": "system:masters",
        "X-Remote-Extra-Scope": "all",
        "X-Remote-Other": "stays",
      };
      const api = told.asCertificate(certificate, key);
      const { status } = await api.get("/api/v1/namespaces/default/pods/echo/proxy/x", { headers });
      expect(status).toBe(200);
      const names = Object.keys(backend.requests.at(-1)!.headers);
      expect(names.filter((name) => name.startsWith("x-remote"))).toEqual(["x-remote-other"]);
    } finally {
      await told.close();
      await backend.close();
    }
  });

  it("the ConfigMap extension-apiserver-authentication publishes the proxy's CA and header names", async () => {
    const at = "/api/v1/namespaces/platform-system/configmaps/extension-apiserver-authentication";
    const { body } = await ok(server.admin.get(at));
    expect(body.data).toEqual({
      "client-ca-file": `${server.server.caCertificate!.trim()}\n${clients.certificate.trim()}\n`,
      "requestheader-client-ca-file": `${proxies.certificate.trim()}\n`,
      "requestheader-username-headers": '["X-Remote-User","X-Other-User"]',
      "requestheader-group-headers": '["X-Remote-Group","X-Team"]',
      "requestheader-extra-headers-prefix": '["X-Remote-Extra-","X-More-"]',
      "requestheader-allowed-names": '["front","front-2"]',
    });
    const plain = await TestServer.start();
    try {
      expect(Object.keys((await ok(plain.admin.get(at))).body.data)).toEqual(["client-ca-file"]);
    } finally {
      await plain.close();
    }
  });
});

describe("5.8 proxy headers of a client that isn't an authenticating proxy", () => {
  const claim = { "X-Remote-User": "admin", "X-Remote-Group": "system:masters" };

  it("C-5.8-05 are ignored without a client certificate", async () => {
    expect((await ask(undefined, claim)).status).toBe(403);
    expect((await ask(undefined, claim)).body.message).toContain("system:anonymous");
    const token = await userOf(undefined, { ...claim, authorization: "Bearer secret" });
    expect(token).toEqual({ username: "tok", uid: "7", groups: ["system:authenticated"] });
  });

  it("C-5.8-05 are ignored with the certificate of a client CA", async () => {
    expect(await userOf(client(clients, "carol", "dev"), claim)).toEqual({
      username: "carol",
      groups: ["dev", "system:authenticated"],
    });
    const named = client(clients, "front");
    expect((await userOf(named, claim)).username).toBe("front");
  });

  it.each<[string, () => CertificatePair]>([
    ["of an authority that nobody knows", () => client(authority(), "front")],
    ["C-5.8-06 of a name that isn't allowed", () => client(proxies, "back")],
    ["C-5.8-06 of no name", () => client(proxies, "")],
    ["C-5.8-06 of almost an allowed name", () => client(proxies, "Front")],
    [
      "by a certificate that is no authority",
      () => {
        const false_ = intermediate(proxies, "false", "client");
        const made = client(authority(), "front");
        return { certificate: `${made.certificate}\n${false_.certificate}`, key: made.key };
      },
    ],
  ])("C-5.8-05 are answered 401 with a certificate %s", async (_what, pair) => {
    expect((await ask(pair(), claim)).status).toBe(401);
  });

  it("C-5.8-05 a proxy whose certificate is signed by an intermediate CA is accepted", async () => {
    const below = intermediate(proxies, "below");
    const made = client(below, "front-2");
    const pair = { certificate: `${made.certificate}\n${below.certificate}`, key: made.key };
    expect((await userOf(pair, { "X-Remote-User": "ann" })).username).toBe("ann");
  });

  it("a proxy request without a user is 401, not the user of the proxy's certificate", async () => {
    expect((await ask(front, {})).status).toBe(401);
    expect((await ask(front, { "X-Remote-User": "" })).status).toBe(401);
    expect((await ask(front, { "X-Remote-Group": "system:masters" })).status).toBe(401);
    expect((await ask(front, { X_Remote_User: "ann" })).status).toBe(401);
    expect((await ask(front, { authorization: "Bearer wrong" })).status).toBe(401);
  });

  it("several values of the user header are 401", async () => {
    log.reasons.length = 0;
    for (const values of [
      ["admin", "ann"],
      ["ann", "ann"],
    ]) {
      const { status, body } = await ask(front, { "X-Remote-User": values });
      expect([status, body.message]).toEqual([401, "Unauthorized"]);
      expect(log.reasons.splice(0)).toEqual([expect.stringContaining("several values")]);
    }
  });
});

describe("5.8 flags", () => {
  it.each<[string, Partial<ProxyOptions>, string]>([
    [
      "C-5.8-05 a file that isn't there",
      { caFile: "/nowhere.pem" },
      "authentication.proxy.caFile /nowhere.pem",
    ],
    [
      "C-5.8-05 a file without certificates",
      { caFile: file("empty.pem", "x") },
      "holds no certificate in PEM",
    ],
    ["C-5.8-01 no header for the user", { usernameHeaders: [] }, "authentication.proxy.usernameHeaders"],
    ["C-5.8-01 what is no header", { usernameHeaders: ["X User"] }, "authentication.proxy.usernameHeaders"],
    ["C-5.8-02 what is no header", { groupHeaders: [""] }, "authentication.proxy.groupHeaders"],
    [
      "C-5.8-03 what is no prefix",
      { extraHeaderPrefixes: ["X:"] },
      "authentication.proxy.extraHeaderPrefixes",
    ],
  ])("a start with %s is refused", async (_what, changes, message) => {
    await expect(TestServer.start({ authentication: { proxy: { ...choice, ...changes } } })).rejects.toThrow(
      message,
    );
  });

  it("C-5.8-06 every certificate of the proxy CA is accepted when there are no allowed names", async () => {
    const { allowedNames: _, ...all } = choice;
    const open = await TestServer.start({
      runtimeConfig: "authentication.platform.io/v1alpha1",
      authentication: { proxy: all },
    });
    try {
      const { certificate, key } = client(proxies, "any");
      const answer = await open
        .asCertificate(certificate, key)
        .post(SELF, {}, { headers: { "X-Remote-User": "ann" } });
      expect(answer.body.status.userInfo.username).toBe("ann");
    } finally {
      await open.close();
    }
  });
});
