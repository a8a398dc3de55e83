import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { request as httpsRequest } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newRequest, type RequestContext } from "../../src/http/request/context.ts";
import { readFacts } from "../../src/http/request/facts.ts";
import type { HttpService } from "../../src/http/service.ts";
import { answerFailure } from "../../src/http/pipeline.ts";
import { HandlerGuard, type HttpExchange } from "../../src/http/transport/http-exchange.ts";
import { listen, type HttpListener } from "../../src/http/transport/listener.ts";
import { ResponseBacklogs } from "../../src/http/transport/response-backlog.ts";
import { startDeadline } from "../../src/http/verbs/deadline.ts";
import type { Engine } from "../../src/resources/engine/engine.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { StatusError } from "../../src/base/status-error.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";

/** A request with a query over one version of HTTP, which the test answers when it likes. */
interface Begun {
  readonly clock: ManualClock;
  readonly request: RequestContext;
  /** What the client sees: status and body, or that it was broken off. */
  readonly answer: Promise<string>;
}

describe.each(["HTTP/1.1", "HTTP/2"])("a request's timeout over %s", (protocol) => {
  let listener: HttpListener;
  let ca: string;
  let clock: ManualClock;
  const defects: string[] = [];
  let came: (request: RequestContext) => void = () => undefined;
  let session: ClientHttp2Session | undefined;

  beforeAll(async () => {
    const made = createServingCertificates(["127.0.0.1"]);
    ca = made.caCertificate;
    const tls = { cert: made.serving.certificate, key: made.serving.key, clientAuthorities: [] };
    const guard = new HandlerGuard((error) => defects.push(String(error)));
    const backlog = new ResponseBacklogs(() => defects.push("unread"));
    listener = await listen({ host: "127.0.0.1", port: 0, tls, guard, backlog }, (exchange) => {
      const request = newRequest(exchange, 0);
      request.facts = readFacts(exchange.method, exchange.url);
      startDeadline({ clock, guard, engine: { vocabulary: platform } as Engine }, request);
      came(request);
    });
    if (protocol === "HTTP/2") session = connectHttp2(`https://127.0.0.1:${listener.port}`, { ca });
  });
  afterAll(async () => {
    session?.destroy();
    await listener.close(0);
    expect(defects).toEqual([]);
  });

  async function begin(query: string): Promise<Begun> {
    clock = new ManualClock();
    const arrived = new Promise<RequestContext>((resolve) => (came = resolve));
    const answer = session === undefined ? over1(listener.port, ca, query) : over2(session, query);
    return { clock, request: await arrived, answer };
  }

  test("is 504 when the work takes longer; what it answers later is dropped", async () => {
    const { clock, request, answer } = await begin("timeout=1500ms");
    await clock.advance(1499);
    expect(request.exchange.answered).toBe(false);
    await clock.advance(1);
    request.exchange.send(200, [], Buffer.from("late"));
    expect(await answer).toMatch(/^504 .*did not complete within 1500 ms/);
    expect(request.exchange.status).toBe(504);
  });

  test("has no effect when the work ends in time", async () => {
    const { clock, request, answer } = await begin("timeout=2s");
    request.exchange.send(200, [], Buffer.from("in time"));
    request.deadline!.cancel();
    await clock.advance(5000);
    expect(await answer).toBe("200 in time");
  });

  test("cuts an answer off that has begun", async () => {
    const { clock, request, answer } = await begin("timeout=2s");
    request.exchange.stream(200, []).write(Buffer.from("a part"));
    await clock.advance(2000);
    expect(await answer).toBe("broken off");
  });

  test("drops a body that begins after it", async () => {
    const { clock, request, answer } = await begin("timeout=2s");
    await clock.advance(2000);
    const stream = request.exchange.stream(200, []);
    stream.write(Buffer.from("late"));
    await stream.end();
    expect([stream.closed, request.exchange.status]).toEqual([true, 504]);
    expect(await answer).toMatch(/^504 (?!.*late)/);
  });

  test.each([
    ["the server's own is the longest", "timeout=10m"],
    ["also beyond what timers can count", "timeout=2000000h"],
  ])("%s", async (_what, query) => {
    const { clock, answer } = await begin(query);
    await clock.advance(60_000);
    expect(await answer).toMatch(/^504 /);
  });

  test("0 and less give none", async () => {
    for (const query of ["timeout=0", "timeout=0s", "timeout=-5s", "timeout="]) {
      const { clock, request, answer } = await begin(query);
      await clock.advance(120_000);
      expect([request.deadline, request.exchange.answered]).toEqual([undefined, false]);
      request.exchange.send(200, [], Buffer.from("ever"));
      expect(await answer).toBe("200 ever");
    }
  });
});

function over1(port: number, ca: string, query: string): Promise<string> {
  return new Promise((resolve) => {
    const gone = () => resolve("broken off");
    const request = httpsRequest(
      { host: "127.0.0.1", port, ca, path: `/x?${query}`, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.once("end", () => resolve(`${response.statusCode} ${text}`));
        response.once("error", gone);
      },
    );
    request.once("error", gone);
    request.end();
  });
}

function over2(session: ClientHttp2Session, query: string): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request({ ":path": `/x?${query}` });
    let status = 0;
    let text = "";
    stream.once("response", (headers) => (status = Number(headers[":status"])));
    stream.setEncoding("utf8").on("data", (part: string) => (text += part));
    stream.once("error", () => undefined);
    stream.once("close", () => resolve(stream.rstCode === 0 ? `${status} ${text}` : "broken off"));
  });
}

test("a failure that comes after the timeout is dropped, a defect is still logged", () => {
  const logged: string[] = [];
  const log = {
    defect: (error: unknown) => logged.push(String(error)),
    cutOff: () => logged.push("cut off"),
  };
  const service = { log, engine: { vocabulary: platform } } as unknown as HttpService;
  const exchange = { method: "GET", url: "/x", auditId: "", expired: true, answered: true } as HttpExchange;
  answerFailure(service, newRequest(exchange, 0), new StatusError("Conflict", "late"));
  expect(logged).toEqual([]);
  answerFailure(service, newRequest(exchange, 0), new Error("a defect"));
  expect(logged).toEqual(["Error: a defect"]);
});

describe("timeout over the wire", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ enabledControllers: [] });
  });
  afterAll(() => server.close());
  const configMaps = "/api/v1/namespaces/default/configmaps";

  test.each(["5", "x", "5 s", "1d"])("%j is 400", async (text) => {
    const answer = await server.admin.get(`${configMaps}?timeout=${encodeURIComponent(text)}`);
    expect([answer.status, answer.body.reason]).toEqual([400, "BadRequest"]);
  });

  test("a watch doesn't read it", async () => {
    const watch = await server.admin.watch(`${configMaps}?timeout=x`);
    expect(watch.status).toBe(200);
    watch.close();
  });

  test("a body that doesn't come in time is 504", async () => {
    const { url, caCertificate, adminToken } = server.server;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpsRequest(
        `${url}${configMaps}?timeout=100ms`,
        {
          method: "POST",
          ca: caCertificate,
          headers: {
            authorization: `Bearer ${adminToken}`,
            "content-type": "application/json",
            "content-length": 100,
          },
        },
        (response) => {
          resolve(response.statusCode);
          request.destroy();
        },
      );
      request.once("error", reject);
      request.write("{");
    });
    expect(status).toBe(504);
  });

  test("a request that ends in time is answered as ever", async () => {
    expect((await server.admin.get(`${configMaps}?timeout=30s`)).status).toBe(200);
    expect((await server.admin.get(`${configMaps}/none?timeout=30s`)).status).toBe(404);
  });
});
