import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authority, client, type CertificatePair } from "../authentication/pki.ts";
import { answerOf } from "../robustness/support.ts";
import { TestServer } from "../support/api.ts";
import { grant } from "../api/support.ts";

const proxies = authority();
const front = client(proxies, "front");
const folder = mkdtempSync(path.join(tmpdir(), "plinth-headers-"));
let server: TestServer;

beforeAll(async () => {
  const file = (name: string, text: string) => {
    const at = path.join(folder, name);
    writeFileSync(at, text);
    return at;
  };
  server = await TestServer.start({
    tokenAuthFile: file("tokens.csv", "gate,gate,1\n"),
    authentication: {
      proxy: {
        caFile: file("proxies.pem", proxies.certificate),
        usernameHeaders: ["X-Remote-User"],
        groupHeaders: ["X-Remote-Group"],
        extraHeaderPrefixes: ["X-Remote-Extra-"],
        allowedNames: ["front"],
      },
    },
  });
  // A gateway that impersonates its clients and has more permissions itself.
  await grant(server.admin, "gate", [
    { verbs: ["impersonate"], apiGroups: [""], resources: ["users", "groups"] },
    { verbs: ["list"], apiGroups: [""], resources: ["secrets"] },
  ]);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The user of an HTTP/1.1 request, taken from the message of the 403; otherwise the status. */
function done(pair: CertificatePair | undefined, ...lines: readonly string[]): Promise<string> {
  const { hostname: host, port } = new URL(server.server.url!);
  const tls = pair === undefined ? {} : { cert: pair.certificate, key: pair.key };
  return new Promise((resolve, reject) => {
    const options = { host, port: Number(port), ca: server.server.caCertificate!, ...tls };
    const socket = connect({ ...options, ALPNProtocols: ["http/1.1"] }, () => {
      const head = ["GET /api/v1/secrets HTTP/1.1", "Host: x", "Connection: close", ...lines, "", ""];
      socket.write(head.join("\r\n"), "latin1");
    });
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => (text += part));
    socket.once("error", reject);
    socket.once("end", () => resolve(named(Number(text.split(" ", 2)[1]), text)));
  });
}

const named = (status: number, text: string) =>
  status === 403 ? /User \\"((?:[^\\]|\\[^"])*)\\"/.exec(text)![1]! : String(status);

const many = (count: number) => Array.from({ length: count }, (_, at) => `a${at % 10}:`);

describe("headers of an authenticating proxy", () => {
  test.each([
    ["a name", ["X-Remote-User: ann"], "ann"],
    ["a name listed as one of the connection", ["X-Remote-User: ann", "Connection: X-Remote-User"], "ann"],
    ["a name with underscores for dashes", ["X_Remote_User: root"], "401"],
    ["a name of both spellings", ["X_Remote_User: root", "X-Remote-User: ann"], "ann"],
    ["two names", ["X-Remote-User: ann", "x-remote-user: root"], "401"],
    ["one name twice", ["X-Remote-User: ann", "X-Remote-User: ann"], "401"],
    ["a name with spaces around it", ["X-Remote-User: \t ann \t "], "ann"],
    ["names with a comma", ["X-Remote-User: ann, root"], "ann, root"],
    ["an empty name before", ["X-Remote-User:", "X-Remote-User: ann"], "ann"],
    ["a space before the colon", ["X-Remote-User : root"], "400"],
    ["a space before the name of the header", [" X-Remote-User: root"], "400"],
    ["a line that ends without a return", ["A: b\nX-Remote-User: root"], "400"],
    ["a return alone", ["A: b\rX-Remote-User: root"], "400"],
    ["a NUL in the name", ["X-Remote-User: ann\0root"], "400"],
    ["a name behind very many headers", [...many(4000), "X-Remote-User: ann"], "ann"],
  ])("with %s are interpreted in only one way", async (_what, lines, who) => {
    expect(await done(front, ...lines)).toBe(who);
  });

  test("a name with a folded line is one name, or 400", async () => {
    expect(["400", "ann root"]).toContain(await done(front, "X-Remote-User: ann", " root"));
  });

  test("of any other client are ignored, in any spelling", async () => {
    for (const name of ["X-Remote-User", "x-remote-user", "X_Remote_User"])
      expect(await done(undefined, `${name}: root`)).toBe("system:anonymous");
  });

  test("above the size limit over HTTP/2 are not read in part", async () => {
    const session = connectHttp2(server.server.url!, {
      ca: server.server.caCertificate!,
      cert: front.certificate,
      key: front.key,
    });
    session.on("error", () => undefined);
    const filler = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`a${at}`, "b"]));
    const stream = session.request({ ":path": "/api/v1/secrets", ...filler, "x-remote-user": "ann" });
    expect((await answerOf(stream)).status).toBe(0);
    session.destroy();
  });
});

describe("impersonation headers of a gateway", () => {
  const gate = "Authorization: Bearer gate";

  test.each([
    ["a user", ["Impersonate-User: ann"], "ann"],
    ["a user behind very many headers", [...many(4000), "Impersonate-User: ann"], "ann"],
    [
      "a user listed as one of the connection",
      ["Connection: Impersonate-User", "Impersonate-User: ann"],
      "ann",
    ],
    ["two users", ["Impersonate-User: ann", "Impersonate-User: root"], "ann"],
    ["groups without a user", ["Impersonate-Group: system:masters"], "400"],
    ["a header that isn't known", ["Impersonate-User: ann", "Impersonate-Groups: x"], "400"],
    ["a uid that it may not have", ["Impersonate-User: ann", "Impersonate-Uid: 1"], "gate"],
  ])("%s: are interpreted in only one way", async (_what, lines, who) => {
    expect(await done(undefined, gate, ...lines)).toBe(who);
  });

  test("above the size limit are rejected", async () => {
    const filler = Array.from({ length: 20_000 }, () => "a: b");
    expect(await done(undefined, gate, ...filler, "Impersonate-User: ann").catch(() => "closed")).toMatch(
      /^(431|closed|NaN)$/,
    );
  });
});
