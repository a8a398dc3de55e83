import type { IncomingMessage, ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { FakeBackend, makePod, SilentServer } from "../support/backends.ts";
import { head, http2Session, portOf, RawConnection } from "../robustness/support.ts";
import { ManualClock, until } from "./support.ts";

const pods = "/api/v1/namespaces/default/pods";
const megabyte = 1024 * 1024;

/** Resolves with the next event of a name. */
const next = <T = unknown>(source: NodeJS.EventEmitter, event: string): Promise<T> =>
  new Promise((resolve) => source.once(event, resolve));

describe("bodies of proxied requests", () => {
  let server: TestServer;
  let backend: FakeBackend;
  let onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  beforeAll(async () => {
    backend = await FakeBackend.start((request, response) => onRequest(request, response));
    server = await TestServer.start({ connections: { allowLoopback: true } });
    await makePod(server.admin, "pod", { ip: "127.0.0.1", port: backend.port });
  });
  afterEach(() =>
    until(
      () => backend.sockets.size,
      (open) => open === 0,
    ),
  );
  afterAll(async () => {
    await server.close();
    await backend.close();
  });
  const path = `${pods}/pod/proxy/x`;

  /** A request whose body is not sent yet. */
  const upload = (headers: Record<string, string> = {}) => {
    const request = httpsRequest(`${server.server.url}${path}`, {
      method: "POST",
      ca: server.server.caCertificate!,
      headers: { Authorization: `Bearer ${server.server.adminToken}`, ...headers },
    });
    request.on("error", () => undefined);
    return request;
  };

  test("the response is forwarded as it is written", async () => {
    let end: () => void = () => undefined;
    onRequest = (_request, response) => {
      response.write("one");
      end = () => response.end("two");
    };
    const response = await server.admin.open("GET", path, {});
    expect(String(await next(response, "data"))).toBe("one");
    end();
    expect(String(await next(response, "data"))).toBe("two");
    await next(response, "end");
  });

  test("the request body is forwarded as it arrives, at the same time as the response", async () => {
    onRequest = (request, response) => {
      response.writeHead(200);
      request.on("data", (chunk) => response.write(`got ${chunk}`));
      request.on("end", () => response.end("done"));
    };
    const request = upload();
    request.write("one");
    const response = await next<IncomingMessage>(request, "response");
    expect(String(await next(response, "data"))).toBe("got one");
    request.write("two");
    expect(String(await next(response, "data"))).toBe("got two");
    request.end();
    expect(String(await next(response, "data"))).toBe("done");
    await next(response, "end");
  });

  test("a response is read from the backend no faster than the client reads it", async () => {
    let written = 0;
    let response: ServerResponse | undefined;
    const size = 256 * megabyte;
    onRequest = (_request, answer) => {
      response = answer;
      answer.writeHead(200, { "Content-Length": String(size) });
      const chunk = Buffer.alloc(megabyte, "x");
      const more = () => {
        while (written < size) {
          written += chunk.length;
          if (!answer.write(chunk)) return void answer.once("drain", more);
        }
        answer.end();
      };
      more();
    };
    const before = process.memoryUsage().rss;
    const answer = await server.admin.open("GET", path, {});
    answer.pause();
    await until(
      () => response!.writableNeedDrain,
      (full) => full,
    );
    let last = -1;
    // More is read until the buffers on the way are full.
    while (last !== written) {
      last = written;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(written).toBeLessThan(64 * megabyte);
    let got = 0;
    let most = 0;
    answer.on("data", (chunk: Buffer) => {
      got += chunk.length;
      most = Math.max(most, process.memoryUsage().rss);
    });
    answer.resume();
    await next(answer, "end");
    expect(got).toBe(size);
    expect(most - before).toBeLessThan(192 * megabyte);
  });

  test.each(["HTTP/1.1", "HTTP/2"])(
    "a large body is forwarded over %s no faster than the backend reads it",
    async (version) => {
      const size = 96 * megabyte;
      let got = 0;
      let resume: () => void = () => undefined;
      onRequest = (request, response) => {
        request.pause();
        resume = () => {
          request.on("data", (chunk: Buffer) => (got += chunk.length));
          request.on("end", () => response.end(String(got)));
          request.resume();
        };
      };
      const before = backend.requests.length;
      const session = http2Session(server);
      const authorization = `Bearer ${server.server.adminToken}`;
      const request =
        version === "HTTP/2"
          ? session.request({ ":method": "POST", ":path": path, authorization })
          : upload();
      const text = new Promise<string>((resolve) => {
        const read = (source: NodeJS.ReadableStream) => {
          let all = "";
          source.on("data", (chunk) => (all += String(chunk)));
          source.on("end", () => resolve(all));
        };
        if (version === "HTTP/2") read(request as unknown as NodeJS.ReadableStream);
        else request.on("response", read);
      });
      const chunk = Buffer.alloc(megabyte);
      let sent = 0;
      const more = () => {
        while (sent < size) {
          sent += chunk.length;
          if (!request.write(chunk)) return void request.once("drain", more);
        }
        request.end();
      };
      more();
      await until(
        () => backend.requests.length,
        (count) => count > before,
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(sent).toBeLessThan(48 * megabyte);
      resume();
      expect(await text).toBe(String(size));
      session.close();
    },
  );

  test("a response before the end of the request body is forwarded, and the rest of the body is discarded", async () => {
    onRequest = (request, response) => {
      response.writeHead(413, { Connection: "close" }).end("enough");
      request.resume();
    };
    const request = upload();
    request.write(Buffer.alloc(megabyte));
    const response = await next<IncomingMessage>(request, "response");
    expect(response.statusCode).toBe(413);
    request.end(Buffer.alloc(megabyte));
    expect(String(await next(response, "data"))).toBe("enough");
  });

  test("the backend request is closed when the client disconnects", async () => {
    let gone = false;
    onRequest = (request, response) => {
      response.write("one");
      request.once("close", () => (gone = true));
    };
    const response = await server.admin.open("GET", path, {});
    await next(response, "data");
    response.on("error", () => undefined);
    response.destroy();
    await until(
      () => gone,
      (is) => is,
    );
  });

  test("the backend request is aborted when the client disconnects within its body", async () => {
    let aborted = false;
    onRequest = (request) => {
      request.on("error", () => (aborted = true));
      request.resume();
    };
    const before = backend.requests.length;
    const request = upload({ "Content-Length": "100" });
    request.write("some");
    await until(
      () => backend.requests.length,
      (count) => count > before,
    );
    request.destroy();
    await until(
      () => aborted,
      (is) => is,
    );
  });

  test("the client's response is aborted when the backend's response is aborted", async () => {
    onRequest = (_request, response) => {
      response.write("one");
      setTimeout(() => response.socket!.destroy(), 20);
    };
    const response = await server.admin.open("GET", path, {});
    const failed = next<Error>(response, "error");
    response.resume();
    expect((await failed).message).toBe("aborted");
  });

  test("a backend that closes without a response is 503", async () => {
    onRequest = (request) => request.socket.destroy();
    const { status, body } = await server.admin.get(path);
    expect([status, body.reason]).toEqual([503, "ServiceUnavailable"]);
  });

  test.each([
    ["too large headers", `HTTP/1.1 200 OK\r\nA: ${"a".repeat(64_000)}\r\n\r\n`],
    ["no HTTP", "hello\r\n\r\n"],
    ["both framings", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a status that is none", "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n"],
    ["a status of its own making", "HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n"],
    ["an upgrade that nobody asked for", "HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhi"],
  ])("a backend that answers with %s is 503", async (_what, bytes) => {
    onRequest = (request) => void request.socket.end(bytes);
    const { status, body } = await server.admin.get(path);
    expect([status, body.reason]).toEqual([503, "ServiceUnavailable"]);
  });

  test.each([
    ["gzip, chunked", 400],
    ["identity", 400],
  ])(
    "a request body with the transfer encoding %s is rejected and not forwarded",
    async (encoding, status) => {
      onRequest = (_request, response) => response.end();
      const before = backend.requests.length;
      const connection = await RawConnection.open(portOf(server));
      connection.write(head(server, `POST ${path}`, `Transfer-Encoding: ${encoding}`)).write("0\r\n\r\n");
      expect(await connection.closes()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(backend.requests.length).toBe(before);
    },
  );

  test("a shutdown of the server waits for a short response", async () => {
    const other = await TestServer.start({ connections: { allowLoopback: true } });
    await makePod(other.admin, "pod", { ip: "127.0.0.1", port: backend.port });
    let end: () => void = () => undefined;
    onRequest = (_request, response) => {
      response.write("one");
      end = () => response.end("two");
    };
    const response = await other.admin.open("GET", path, {});
    await next(response, "data");
    const stopped = other.server.close();
    end();
    expect(String(await next(response, "data"))).toBe("two");
    await next(response, "end");
    await other.close();
    await stopped;
  });
});

describe("an unreachable backend", () => {
  test("is 504 when connecting takes longer than the timeout", async () => {
    const clock = new ManualClock();
    const silent = await SilentServer.start();
    const server = await TestServer.start({ clock, connections: { allowLoopback: true } });
    await makePod(server.admin, "pod", { ip: "127.0.0.1" });
    const asked = server.admin.get(`${pods}/https:pod:${silent.port}/proxy/`);
    await until(
      () => silent.sockets.size,
      (count) => count > 0,
    );
    await clock.advance(30_001);
    const { status, body } = await asked;
    expect([status, body.reason]).toEqual([504, "Timeout"]);
    expect(body.message).toBe(
      `error trying to reach https://127.0.0.1:${silent.port}: no answer within 30 s`,
    );
    await silent.close();
    await server.close();
  });
});
