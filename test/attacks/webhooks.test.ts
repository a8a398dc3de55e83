import { createServer, type Server } from "node:https";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { Configurations, hook, patched, reviewed, type Review } from "../admission/webhooks/support.ts";
import { TestServer } from "../support/api.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

/** A webhook whose responses are written by the test. */
let hostile: Server;
let client: object;
let write: (review: Review, response: ServerResponse) => void;
let server: TestServer;
let configurations: Configurations;
beforeAll(async () => {
  const { serving, caCertificate } = createServingCertificates(["127.0.0.1"]);
  hostile = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => write(JSON.parse(Buffer.concat(chunks).toString()) as Review, response));
    response.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => hostile.listen(0, "127.0.0.1", resolve));
  const { port } = hostile.address() as AddressInfo;
  client = { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(caCertificate).toString("base64") };
  server = await TestServer.start();
  configurations = new Configurations(server.admin);
});
afterAll(async () => {
  await server.close();
  hostile.closeAllConnections();
  await new Promise<void>((resolve) => hostile.close(() => resolve()));
});
afterEach(async () => {
  await configurations.clear();
  await server.admin.ask("DELETE", MAPS);
});

const map = (name: string, metadata: object = {}) => ({ metadata: { name, ...metadata }, data: { a: "1" } });
const failing = (changes: object = {}) =>
  configurations.mutating("hostile", hook(client, { timeoutSeconds: 1, failurePolicy: "Fail", ...changes }));
/** Only objects with the label are sent to the webhook. */
const marked = { objectSelector: { matchLabels: { sent: "yes" } } };
const sent = { labels: { sent: "yes" } };

describe("a hostile webhook", () => {
  it("that answers byte by byte is aborted at its timeout", async () => {
    const timers: NodeJS.Timeout[] = [];
    write = (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      timers.push(setInterval(() => response.write(" "), 20));
    };
    await failing();
    const start = performance.now();
    const { status, body } = await server.admin.post(MAPS, map("a"));
    expect([status, body.message]).toEqual([500, expect.stringContaining("did not answer within 1000 ms")]);
    // The answer never ends; a busy machine may be late.
    expect(performance.now() - start).toBeLessThan(20_000);
    for (const timer of timers) clearInterval(timer);
  });

  it("that answers 100 MB is aborted without using that memory", async () => {
    let written = 0;
    write = (_, response) => {
      const chunk = Buffer.alloc(1024 * 1024, " ");
      const more = () => {
        while (written < 100 && !response.destroyed) {
          written++;
          if (!response.write(chunk)) return void response.once("drain", more);
        }
      };
      more();
    };
    await failing({ timeoutSeconds: 20 });
    const { status, body } = await server.admin.post(MAPS, map("a"));
    expect([status, body.message]).toEqual([500, expect.stringContaining("answers more than")]);
    expect(written).toBeLessThan(40);
  });

  it("that drops its connections fails the request, with no response or half of one", async () => {
    let half = false;
    write = (_, response) => {
      half = !half;
      if (half) response.write('{"kind":"Adm');
      setImmediate(() => response.destroy());
    };
    await failing();
    for (const name of ["a", "b"]) {
      expect((await server.admin.post(MAPS, map(name))).status).toBe(500);
      expect((await server.admin.get(`${MAPS}/${name}`)).status).toBe(404);
    }
  });

  it("that never answers doesn't delay requests that don't match it", async () => {
    const unanswered: ServerResponse[] = [];
    write = (_, response) => void unanswered.push(response);
    // No request ends by this timeout, also on a busy machine.
    await failing({ timeoutSeconds: 30, ...marked });
    const held = Array.from({ length: 60 }, (_, index) =>
      server.admin.post(MAPS, map(`held-${index}`, sent)),
    );
    let ended = 0;
    for (const request of held) void request.finally(() => ended++);
    for (let index = 0; index < 20; index++) {
      expect((await server.admin.post(MAPS, map(`free-${index}`))).status).toBe(201);
    }
    expect(ended).toBe(0);
    write = (_, response) => response.destroy();
    for (const response of unanswered) response.destroy();
    expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([500]));
  });

  it("that writes the same object during its call doesn't block it", async () => {
    await server.admin.post(MAPS, map("a"));
    let depth = 0;
    write = (review, response) => {
      const answer = () => response.end(JSON.stringify(reviewed(review, { allowed: true })));
      if (depth++ > 0) return answer();
      void server.admin.patch(`${MAPS}/a`, { data: { inner: "yes" } }).then(answer);
    };
    await failing({ timeoutSeconds: 10 });
    const { status, body } = await server.admin.patch(`${MAPS}/a`, { data: { outer: "yes" } });
    // The inner write came first, so the outer one was retried on top of it.
    expect([status, body.data]).toEqual([200, { a: "1", inner: "yes", outer: "yes" }]);
    expect(depth).toBe(3);
  });

  it("that calls itself endlessly through the server is stopped by its timeout", async () => {
    await server.admin.post(MAPS, map("a"));
    write = (review, response) => {
      const answer = () => response.end(JSON.stringify(reviewed(review, { allowed: true })));
      void server.admin.patch(`${MAPS}/a`, { data: { again: "yes" } }).then(answer, () => undefined);
    };
    await failing();
    expect((await server.admin.patch(`${MAPS}/a`, { data: { b: "2" } })).status).toBe(500);
    await configurations.clear();
    expect((await server.admin.patch(`${MAPS}/a`, { data: { b: "3" } })).status).toBe(200);
  });

  it("that fails at random leaves no partial write", async () => {
    const ways: ((review: Review, response: ServerResponse) => void)[] = [
      (review, response) =>
        response.end(JSON.stringify(reviewed(review, patched({ op: "add", path: "/data/b", value: "2" })))),
      (review, response) => response.end(JSON.stringify(reviewed(review, { allowed: false }))),
      (_, response) => response.destroy(),
      (_, response) => response.end("[["),
      (_, response) => response.writeHead(503).end(),
      (review, response) =>
        response.end(JSON.stringify(reviewed(review, patched({ op: "remove", path: "/x" })))),
    ];
    let turn = 0;
    write = (review, response) => ways[(turn++ * 7 + 3) % ways.length]!(review, response);
    await failing({ timeoutSeconds: 30 });
    const names = Array.from({ length: 60 }, (_, index) => `m${index}`);
    const answers = await Promise.all(names.map((name) => server.admin.post(MAPS, map(name))));
    await configurations.clear();
    const { body } = await server.admin.get(MAPS);
    const stored = (body.items as { metadata: { name: string }; data: object }[]).map(
      ({ metadata, data }) => [metadata.name, data],
    );
    const made = names.filter((_, index) => answers[index]!.status === 201);
    expect(made.length).toBeGreaterThan(0);
    expect(made.length).toBeLessThan(60);
    expect(stored.toSorted()).toEqual(made.map((name) => [name, { a: "1", b: "2" }]).toSorted());
  });

  it("that answers with a deeply nested patch or members like __proto__ changes nothing else", async () => {
    write = (review, response) => {
      const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
      const patch = Buffer.from(`[{"op":"add","path":"/data/b","value":${deep}}]`).toString("base64");
      response.end(JSON.stringify(reviewed(review, { allowed: true, patchType: "JSONPatch", patch })));
    };
    await failing();
    expect((await server.admin.post(MAPS, map("a"))).status).toBe(500);
    write = (review, response) =>
      response.end(
        JSON.stringify(
          reviewed(
            review,
            patched(
              { op: "add", path: "/data/__proto__", value: "x" },
              { op: "add", path: "/__proto__", value: { polluted: true } },
            ),
          ),
        ),
      );
    await server.admin.post(MAPS, map("b"));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect((await server.admin.get("/healthz")).status).toBe(200);
  });
});
