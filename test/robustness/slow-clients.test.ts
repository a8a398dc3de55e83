import { connect as connectTls } from "node:tls";
import { connect as connectHttp2 } from "node:http2";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../api/support.ts";
import { BodyBudget } from "../../src/http/transport/body-budget.ts";
import { ResponseBacklogs } from "../../src/http/transport/response-backlog.ts";
import { HandlerGuard } from "../../src/http/transport/http-exchange.ts";
import { connectionLimits } from "../../src/http/transport/connection-limits.ts";
import { listen, type HttpListener } from "../../src/http/transport/listener.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { Api } from "../support/api.ts";
import { RawConnection, answerOf } from "./support.ts";

describe("slow clients are disconnected", () => {
  /** Larger than the socket buffers of server and client. */
  const largeBytes = 32 * 1024 * 1024;
  const limits = {
    ...connectionLimits,
    handshakeTimeoutMs: 300,
    headersTimeoutMs: 300,
    requestTimeoutMs: 500,
    // Long enough to read the large response on a busy machine.
    answerTimeoutMs: 2000,
    keepAliveTimeoutMs: 300,
    checkIntervalMs: 50,
  };
  let listener: HttpListener;
  let ca: string;
  const outcomes: string[] = [];
  beforeEach(async () => {
    outcomes.length = 0;
    const made = createServingCertificates(["localhost", "127.0.0.1"]);
    ca = made.caCertificate;
    const tls = { cert: made.serving.certificate, key: made.serving.key, clientAuthorities: [] };
    const backlog = new ResponseBacklogs(() => outcomes.push("unread"), 5 * largeBytes);
    const guard = new HandlerGuard((error) => outcomes.push(String(error)));
    listener = await listen({ host: "127.0.0.1", port: 0, tls, limits, guard, backlog }, (exchange) => {
      if (exchange.url === "/large") {
        exchange.onClose(() => outcomes.push("gone"));
        exchange.send(200, [], Buffer.alloc(largeBytes));
        return;
      }
      Promise.resolve(exchange.readBody(1024, new BodyBudget(() => undefined).open(exchange))).then(
        (body) => exchange.send(200, [], body),
        (error: { code: number }) => {
          outcomes.push(String(error.code));
          exchange.send(error.code, [], Buffer.from("failed"));
        },
      );
    });
  });
  afterEach(() => listener.close(100));

  test("when they don't read the response, while other clients are served", async () => {
    const ask = async () =>
      (await RawConnection.open(listener.port)).write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    const stalled = await ask();
    stalled.socket.pause();
    await until(
      () => outcomes,
      (seen) => seen.includes("gone"),
    );
    expect(stalled.socket.bytesRead).toBeLessThan(largeBytes);
    stalled.destroy();
    const reading = await ask();
    const taken = () => reading.socket.bytesRead;
    await until(taken, (read) => read > largeBytes || reading.closed);
    expect(taken()).toBeGreaterThan(largeBytes);
    reading.destroy();
  });

  test("when their unread responses exceed a user's share over HTTP/1.1", async () => {
    const asked: RawConnection[] = [];
    while (!outcomes.includes("unread") && asked.length < 8) {
      const connection = await RawConnection.open(listener.port);
      connection.socket.pause();
      connection.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
      asked.push(connection);
    }
    await until(
      () => outcomes,
      (seen) => seen.includes("unread"),
    );
    for (const connection of asked) connection.destroy();
  });

  test("when they send nothing after the TLS handshake", async () => {
    const connection = await RawConnection.open(listener.port);
    await connection.closes();
  });

  test("when they never finish the TLS handshake", async () => {
    const { connect } = await import("node:net");
    const socket = connect(listener.port, "127.0.0.1");
    socket.on("error", () => undefined);
    await new Promise((resolve) => socket.once("close", resolve));
  });

  test("when they send headers slowly", async () => {
    const connection = await RawConnection.open(listener.port);
    connection.write("GET / HTTP/1.1\r\nHost: x\r\n");
    const drip = setInterval(() => !connection.closed && connection.write("A: b\r\n"), 20);
    expect(await connection.closes()).toMatch(/^(HTTP\/1\.1 408 |$)/);
    clearInterval(drip);
  });

  test("when their body never ends", async () => {
    const connection = await RawConnection.open(listener.port);
    connection.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
    const drip = setInterval(() => !connection.closed && connection.write("x"), 20);
    expect(await connection.closes()).toMatch(/^(HTTP\/1\.1 408 |$)/);
    clearInterval(drip);
    await until(
      () => outcomes.length,
      (count) => count > 0,
    );
  });

  test("when their body never ends, over HTTP/2", async () => {
    const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { ca });
    session.on("error", () => undefined);
    const stream = session.request({ ":method": "POST", ":path": "/" });
    stream.write("x");
    const answer = await answerOf(stream);
    expect(answer.status).toBe(504);
    session.destroy();
  });

  test("when their connection is idle, over HTTP/1.1 and HTTP/2", async () => {
    const connection = await RawConnection.open(listener.port);
    connection.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await connection.closes()).toMatch(/^HTTP\/1\.1 200 /);
    const session = connectHttp2(`https://127.0.0.1:${listener.port}`, { ca });
    session.on("error", () => undefined);
    const closed = new Promise((resolve) => session.once("close", resolve));
    const stream = session.request({ ":path": "/" });
    stream.end();
    expect((await answerOf(stream)).status).toBe(200);
    await closed;
  });

  test("when they speak plain HTTP or no supported protocol", async () => {
    const { connect } = await import("node:net");
    const plain = connect(listener.port, "127.0.0.1");
    plain.on("error", () => undefined);
    plain.resume();
    plain.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await new Promise((resolve) => plain.once("close", resolve));
    const old = connectTls({
      port: listener.port,
      host: "127.0.0.1",
      rejectUnauthorized: false,
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1.1",
      ciphers: "ALL:@SECLEVEL=0",
    });
    await new Promise((resolve) => old.once("error", resolve));
    const api = new Api(`https://127.0.0.1:${listener.port}`, ca, undefined);
    expect((await api.get("/")).status).toBe(200);
    api.close();
  });
});
