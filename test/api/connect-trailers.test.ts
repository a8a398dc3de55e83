import { request as httpsRequest } from "node:https";
import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeBackend, makePod } from "../support/backends.ts";
import { TestServer } from "../support/api.ts";
import { http2Session, portOf, RawConnection } from "../robustness/support.ts";

/** A response with its trailers. */
interface Trailed {
  readonly status: number;
  readonly announced: string | undefined;
  readonly text: string;
  readonly trailers: Readonly<Record<string, unknown>>;
}

describe("C-4.2-10 trailers of proxied responses", () => {
  let server: TestServer;
  let backend: FakeBackend;
  const path = (rest: string) => `/api/v1/namespaces/default/pods/echo/proxy${rest}`;
  const authorization = () => `Bearer ${server.server.adminToken}`;

  beforeAll(async () => {
    backend = await FakeBackend.start((request, response) => {
      if (request.url === "/plain") return void response.end("plain");
      if (request.method === "HEAD" || request.url === "/none") {
        const status = request.method === "HEAD" ? "200 OK" : "204 No Content";
        const head = [
          `HTTP/1.1 ${status}`,
          "Transfer-Encoding: chunked",
          "Trailer: X-Sum",
          "Connection: close",
        ];
        return void response.socket!.end(`${head.join("\r\n")}\r\n\r\n`);
      }
      const wants = request.headers["te"] ?? "";
      response.writeHead(200, { Trailer: "X-Sum, X-Wants" });
      response.write("body");
      response.addTrailers([
        ["X-Sum", "4"],
        ["X-Wants", wants],
        ["X-Twice", "1"],
        ["X-Twice", "2"],
        ["Keep-Alive", "timeout=9"],
        ["Host", "elsewhere"],
      ] as unknown as Record<string, string>);
      response.end();
    });
    server = await TestServer.start({ connections: { allowLoopback: true } });
    await makePod(server.admin, "echo", { ip: "127.0.0.1", port: backend.port });
  });
  afterAll(async () => {
    await server.close();
    await backend.close();
  });

  const overHttp1 = (method: string, rest: string) =>
    new Promise<Trailed>((resolve, reject) => {
      const headers = { authorization: authorization(), te: "trailers, deflate;q=0.5", connection: "TE" };
      const ca = server.server.caCertificate!;
      const take = (answer: IncomingMessage) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.once("end", () =>
          resolve({
            status: answer.statusCode!,
            announced: answer.headers.trailer,
            text,
            trailers: answer.trailers,
          }),
        );
      };
      httpsRequest(`${server.server.url!}${path(rest)}`, { method, headers, ca, agent: false }, take)
        .once("error", reject)
        .end();
    });

  test("an HTTP/1.0 client gets the body without trailers", async () => {
    const connection = await RawConnection.open(portOf(server));
    const head = [`GET ${path("/trailing")} HTTP/1.0`, `Authorization: ${authorization()}`, "", ""];
    connection.write(head.join("\r\n"));
    const text = await connection.closes();
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).toMatch(/\r\n\r\nbody$/);
    expect(text.toLowerCase()).not.toContain("x-sum");
  });

  const overHttp2 = (method: string, rest: string) =>
    new Promise<Trailed>((resolve, reject) => {
      const session = http2Session(server);
      const stream = session.request({
        ":method": method,
        ":path": path(rest),
        authorization: authorization(),
        te: "trailers",
      });
      let head: Record<string, unknown> = {};
      let trailers: Record<string, unknown> = {};
      let text = "";
      stream.once("response", (headers) => (head = headers));
      stream.once("trailers", (lines) => (trailers = Object.fromEntries(Object.entries(lines))));
      stream.setEncoding("utf8").on("data", (part: string) => (text += part));
      stream.once("error", reject);
      stream.once("close", () => {
        session.close();
        const announced = head["trailer"] as string | undefined;
        resolve({ status: Number(head[":status"]), announced, text, trailers });
      });
    });

  describe.each([
    ["HTTP/1.1", overHttp1],
    ["HTTP/2", overHttp2],
  ])("over %s", (_version, ask) => {
    test("are announced and forwarded, without connection-specific fields", async () => {
      expect(await ask("GET", "/trailing")).toEqual({
        status: 200,
        announced: "X-Sum, X-Wants",
        text: "body",
        trailers: { "x-sum": "4", "x-wants": "trailers", "x-twice": "1, 2" },
      });
    });

    test.each([
      ["GET", "/plain", 200, "plain"],
      ["GET", "/none", 204, ""],
      ["HEAD", "/trailing", 200, ""],
    ])("a response without trailers has none: %s %s", async (method, rest, status, text) => {
      const answer = await ask(method, rest);
      expect([answer.status, answer.text, answer.trailers]).toEqual([status, text, {}]);
    });
  });
});
