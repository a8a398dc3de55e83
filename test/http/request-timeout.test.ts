import { request as httpsRequest } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BodyStream, Exchange } from "../../src/http/exchange.ts";
import { Query } from "../../src/http/request-facts.ts";
import { withinTimeout } from "../../src/http/request-timeout.ts";
import type { HttpService } from "../../src/http/service.ts";
import { StatusError } from "../../src/base/status-error.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";

/** An exchange that remembers what it answered. */
class FakeExchange {
  statuses: number[] = [];
  destroyed = false;
  written = 0;
  header = () => undefined;
  get answered(): boolean {
    return this.statuses.length > 0;
  }
  send(status: number): void {
    this.statuses.push(status);
  }
  stream(status: number): BodyStream {
    this.statuses.push(status);
    const body = {
      write: () => ++this.written > 0,
      destroy: () => void (this.destroyed = true),
    };
    return body as unknown as BodyStream;
  }
}

/** A request with a query, whose work ends when the test says so. */
function begin(
  query: string,
  work: (exchange: Exchange) => void = (exchange) => exchange.send(200, [], Buffer.of()),
) {
  const clock = new ManualClock();
  const exchange = new FakeExchange();
  const service = { clock, engine: { vocabulary: platform } } as unknown as HttpService;
  let finish: (error?: Error) => void = () => undefined;
  const worked = new Promise<void>((resolve, reject) => {
    finish = (error) => (error === undefined ? resolve() : reject(error));
  });
  let seen: Exchange | undefined;
  const done = withinTimeout(service, exchange as unknown as Exchange, new Query(query), async (timed) => {
    seen = timed;
    await worked;
    work(timed);
  });
  return { clock, exchange, done: Promise.resolve(done), finish, timed: () => seen! };
}

describe("a request's timeout", () => {
  test("is 504 when the work takes longer; what it answers later is dropped", async () => {
    const { clock, exchange, done, finish } = begin("timeout=1500ms");
    await clock.advance(1499);
    expect(exchange.statuses).toEqual([]);
    await clock.advance(1);
    expect(exchange.statuses).toEqual([504]);
    finish();
    await done;
    expect(exchange.statuses).toEqual([504]);
  });

  test("has no effect when the work ends in time", async () => {
    const { clock, exchange, done, finish } = begin("timeout=2s");
    finish();
    await done;
    await clock.advance(5000);
    expect(exchange.statuses).toEqual([200]);
  });

  test("cuts an answer off that has begun", async () => {
    const { clock, exchange, done, finish, timed } = begin("timeout=2s", () => undefined);
    const stream = timed().stream(200, []);
    stream.write(Buffer.of(1));
    await clock.advance(2000);
    expect([exchange.statuses, exchange.destroyed]).toEqual([[200], true]);
    finish();
    await done;
  });

  test("drops a body that begins after it", async () => {
    const { clock, exchange, done, finish } = begin("timeout=2s", (late) => {
      const stream = late.stream(200, []);
      stream.write(Buffer.of(1));
      expect(stream.closed).toBe(true);
    });
    await clock.advance(2000);
    finish();
    await done;
    expect([exchange.statuses, exchange.written]).toEqual([[504], 0]);
  });

  test.each([
    ["the server's own is the longest", "timeout=10m"],
    ["also beyond what timers can count", "timeout=2000000h"],
  ])("%s", async (_what, query) => {
    const { clock, exchange, done, finish } = begin(query);
    await clock.advance(60_000);
    expect(exchange.statuses).toEqual([504]);
    finish();
    await done;
  });

  test("0 and less give none", async () => {
    for (const query of ["timeout=0", "timeout=0s", "timeout=-5s", "timeout="]) {
      const { clock, exchange, done, finish } = begin(query);
      await clock.advance(120_000);
      expect(exchange.statuses).toEqual([]);
      finish();
      await done;
    }
  });

  test("a failure that comes later is dropped, a defect is still told of", async () => {
    const refused = begin("timeout=1s");
    await refused.clock.advance(1000);
    refused.finish(new StatusError("Conflict", "late"));
    await refused.done;
    const broken = begin("timeout=1s");
    await broken.clock.advance(1000);
    broken.finish(new Error("a defect"));
    await expect(broken.done).rejects.toThrow("a defect");
  });
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
