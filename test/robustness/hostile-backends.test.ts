import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { readFileSync } from "node:fs";
import { Agent, request as httpsRequest } from "node:https";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { RemoteClient } from "../../src/remote/remote-client.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { makeNode, makePod } from "../support/backends.ts";
import { effort } from "../support/effort.ts";
import { root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { RawBackend } from "../support/raw-backend.ts";
import { answerOf } from "./support.ts";

/** Heads of responses without the empty line; each is followed by a chunked body and trailers. */
const heads: readonly string[] = [
  "HTTP/1.1 200 OK",
  "HTTP/1.1 200 OK\r\nETag: a\r\nETag: b\r\nContent-Type: a/b\r\nContent-Type: c/d",
  "HTTP/1.1 200 OK\r\nLocation: /a\r\nLocation: /b\r\nRetry-After: 1\r\nRetry-After: 2\r\nAge: 1\r\nAge: 2",
  "HTTP/1.1 200 OK\r\nAccess-Control-Max-Age: 1\r\nAccess-Control-Max-Age: 2\r\nTK: 1\r\nTK: 2",
  "HTTP/1.1 200 OK\r\nX-Content-Type-Options: a\r\nX-Content-Type-Options: b\r\nDNT: 1\r\nDNT: 0",
  "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nDate: x\r\nDate: y",
  "HTTP/1.1 200 OK\r\nKeep-Alive: x\r\nProxy-Connection: x\r\nHTTP2-Settings: x\r\nTE: gzip",
  "HTTP/1.1 200 OK\r\nConnection: ETag, X-Own\r\nX-Own: 1\r\nETag: z",
  "HTTP/1.1 200 OK\r\nX-High: \u00ff\u0080\r\nX-Tab: a\tb\r\nX-Empty:",
  "HTTP/1.1 200 OK\r\nX-Control: a\u0001b",
  "HTTP/1.1 200 OK\r\n:status: 500\r\n:path: /",
  "HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\ntoString: z",
  "HTTP/1.1 200 OK\r\nTrailer: ETag, ETag, :status, \u00e9, a b, Content-Length",
  'HTTP/1.1 200 OK\r\nWarning: 299 - "a"\r\nWarning: 299 - "b"\r\nAudit-Id: x\r\nAudit-Id: y',
  "HTTP/1.1 200 \u0001\u00ff bad\u0000reason",
  "HTTP/1.1 200 ",
  "HTTP/1.1 100 Continue",
  "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\nETag: a\r\nETag: b\r\n\r\nHTTP/1.1 200 OK",
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: a\r\nUpgrade: b",
  "HTTP/1.1 199 x",
  "HTTP/1.1 204 None",
  "HTTP/1.1 205 Reset",
  "HTTP/1.1 304 Same\r\nTrailer: ETag",
  "HTTP/1.1 302 Found\r\nLocation: //[\r\nLocation: http://\u00ff/",
  "HTTP/1.1 600 x",
  "HTTP/1.1 999 x",
  "HTTP/1.1 000 x",
  "HTTP/1.1 99 x",
  "HTTP/9.9 200 OK",
  "nothing of the kind",
  "",
];

/** What a client of the server gets for each head with a whole body: the status of the backend, or 503 for a response that isn't HTTP. */
const forwarded: readonly number[] = [
  200, 200, 200, 200, 200, 200, 200, 200, 200, 503, 503, 200, 200, 200, 200, 200, 503, 200, 503, 503, 204,
  205, 304, 302, 503, 503, 503, 503, 503, 503, 503,
];

/** Bytes after the last chunk of a body. */
const tails: readonly string[] = [
  "",
  "ETag: a\r\nETag: b\r\n",
  "Content-Type: a/b\r\nContent-Type: c/d\r\nLocation: a\r\nLocation: b\r\n",
  ":status: 200\r\n",
  "Connection: close\r\nTransfer-Encoding: chunked\r\nUpgrade: x\r\nContent-Length: 5\r\n",
  "X-High: \u00ff\r\nX-Control: \u0001\r\n",
  "TE: gzip\r\nKeep-Alive: 1\r\nProxy-Connection: 1\r\nHTTP2-Settings: 1\r\n",
  "a b: c\r\n",
  "\u00e9: x\r\n",
  "X-Long: " + "x".repeat(40_000) + "\r\n",
  "Set-Cookie: a\r\nSet-Cookie: b\r\n__proto__: x\r\n",
  "not a trailer",
];

const framings = (head: string, tail: string): readonly string[] => [
  `${head}\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n${tail}\r\n`,
  `${head}\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\nzz\r\n${tail}\r\n`,
  `${head}\r\nContent-Length: 4\r\n\r\nbody${tail}`,
  `${head}\r\nContent-Length: 400\r\n\r\nbody`,
];

const combinations = heads.flatMap((head, index) =>
  framings(head, tails[(index * 5 + 1) % tails.length]!).slice(0, 2),
);

/** All heads with the simplest tail, all tails with the simplest head, and in the long form some other combinations. */
const answers: readonly string[] = [
  ...heads.flatMap((head) => framings(head, "")),
  ...tails.flatMap((tail) => framings(heads[0]!, tail)),
  ...effort([], combinations),
];

const answerAt = (url: string) => answers[Number(/(\d+)$/.exec(url.split("?", 1)[0]!)?.[1] ?? 0)]!;

describe("a server with hostile backends", () => {
  const folder = temporaryFolder();
  let server: ServerProcess;
  let pod: RawBackend;
  let agent: RawBackend;
  /** The agent's response to a log request. */
  let logAnswer = "";
  let session: ClientHttp2Session;
  let ca: string;
  const proxy = (index: number) => `/api/v1/namespaces/default/pods/hostile/proxy/${index}`;
  const log = "/api/v1/namespaces/default/pods/hostile/log";

  beforeAll(async () => {
    const tokens = path.join(root, "examples/organisation/tokens.csv");
    const { serving } = createServingCertificates(["127.0.0.1"]);
    pod = await RawBackend.start(answerAt);
    agent = await RawBackend.start(() => logAnswer, { cert: serving.certificate, key: serving.key });
    server = await ServerProcess.start(
      folder.path,
      `--token-auth-file=${tokens}`,
      "--allow-loopback-connections",
    );
    const admin = server.as("admin-token");
    await makeNode(admin, "node-1", { InternalIP: "127.0.0.1" }, agent.port);
    await makePod(admin, "hostile", { ip: "127.0.0.1", port: pod.port, node: "node-1" });
    ca = readFileSync(server.caFile, "utf8");
    session = connectHttp2(server.url, { ca });
    session.on("error", () => undefined);
  });
  afterAll(async () => {
    session.destroy();
    agent1.destroy();
    expect(await server.stop()).toBe(0);
    await pod.close();
    await agent.close();
    folder.remove();
  });

  /** Keeps connections: a handshake for each of the thousand requests would take most of the time. */
  const agent1 = new Agent({ keepAlive: true });
  const overHttp1 = (method: string, at: string, headers: Record<string, string> = {}) =>
    new Promise<number>((resolve) => {
      const asked = httpsRequest(
        `${server.url}${at}`,
        { method, ca, agent: agent1, headers: { ...headers, ...credentials } },
        (answer) => {
          answer.on("error", () => undefined);
          answer.once("close", () => resolve(answer.statusCode!));
          answer.resume();
        },
      );
      asked.on("upgrade", (_answer, socket) => {
        socket.on("error", () => undefined);
        socket.once("close", () => resolve(101));
        socket.resume();
      });
      asked.on("error", () => resolve(0));
      asked.end();
    });
  const credentials = { authorization: "Bearer admin-token" };
  const overHttp2 = async (method: string, at: string) => {
    const stream = session.request({ ":method": method, ":path": at, te: "trailers", ...credentials });
    stream.end();
    return (await answerOf(stream)).status;
  };

  /** Expects that the server still serves other requests and logged no internal error. */
  async function isWell(): Promise<void> {
    const other = server.as("admin-token");
    expect((await other.get("/api/v1/namespaces/default")).status).toBe(200);
    expect((await other.get("/metrics")).text).not.toMatch(/^platform_defects_total/m);
    expect(server.log()).not.toContain("a defect");
    expect(session.destroyed).toBe(false);
  }

  test("forwards or rejects each response of a pod over HTTP/2 and HTTP/1.1", async () => {
    const statuses: number[] = [];
    for (const [index] of answers.entries()) {
      const [got, head] = await Promise.all([
        overHttp2("GET", proxy(index)),
        overHttp2("HEAD", proxy(index)),
        overHttp1("GET", proxy(index), { te: "trailers" }),
        overHttp1("HEAD", proxy(index)),
        overHttp1("GET", proxy(index), { connection: "Upgrade", upgrade: "SPDY/3.1" }),
      ]);
      for (const status of [got, head]) expect([0, ...range(200, 599)]).toContain(status);
      statuses.push(got);
    }
    const whole = heads.map((head) => statuses[answers.indexOf(framings(head, "")[0]!)]);
    expect(whole).toEqual(forwarded);
    await isWell();
  });

  test("forwards a repeated trailer with one value once", async () => {
    const index = answers.indexOf(framings(heads[0]!, tails[1]!)[0]!);
    const stream = session.request({ ":path": proxy(index), ...credentials });
    const trailers = new Promise((resolve) => stream.once("trailers", resolve));
    stream.end();
    expect((await answerOf(stream)).text).toBe("body");
    expect(await trailers).toMatchObject({ etag: "a" });
  });

  test("forwards or rejects each response of a node agent to a log request", async () => {
    for (const answer of answers) {
      logAnswer = answer;
      await Promise.all([overHttp2("GET", log), overHttp1("GET", log)]);
    }
    await isWell();
  });

  test("gets a response or a RemoteFault from a service that it calls itself", async () => {
    const limits = { timeoutMs: 10_000, maxAnswerBytes: 1_000_000 };
    const client = new RemoteClient({}, limits, systemClock);
    try {
      const outcomes: string[] = [];
      for (const [index] of answers.entries()) {
        const url = new URL(`http://127.0.0.1:${pod.port}/${index}`);
        const outcome = await client.send(url, { method: "POST", body: "{}" }).then(
          ({ status }) => `status ${status}`,
          (error: Error) => error.name,
        );
        expect(outcome).toMatch(/^(?:status \d+|RemoteFault)$/);
        outcomes.push(outcome);
      }
      // A whole body, a malformed chunk, a body of its length, and one that is cut off.
      expect(outcomes.slice(0, 4)).toEqual(["status 200", "RemoteFault", "status 200", "RemoteFault"]);
    } finally {
      await client.close();
    }
  });
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
