import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeBackend, makePod } from "../support/backends.ts";
import { TestServer } from "../support/api.ts";

const pods = "/api/v1/namespaces/default/pods";
const proxy = `${pods}/page/proxy`;

function answer(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, {
    "Content-Type": "text/html",
    "Content-Security-Policy": "default-src 'self'; sandbox allow-scripts allow-same-origin",
    "Service-Worker-Allowed": "/",
    "Clear-Site-Data": '"*"',
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Credentials": "true",
    "Set-Cookie": [
      "all=1; Path=/",
      "domain=1; Domain=example.com",
      `sibling=1; Path=${proxy}-other`,
      `last=1; Path=${proxy}/; path=/`,
      `own=1; Path=${proxy}/deep; HttpOnly`,
      "none=1; Secure",
    ],
    "X-Own": "kept",
  });
  response.end("<p>page</p>");
}

describe("a page behind the proxy of a pod", () => {
  let server: TestServer;
  let backend: FakeBackend;
  beforeAll(async () => {
    backend = await FakeBackend.start(answer);
    server = await TestServer.start({ connections: { allowLoopback: true } });
    await makePod(server.admin, "page", { ip: "127.0.0.1", port: backend.port });
    await makePod(server.admin, "page-other", { ip: "127.0.0.1", port: backend.port });
  });
  afterAll(async () => {
    await server.close();
    await backend.close();
  });

  test("is sandboxed, and loses headers and cookies that act on other paths", async () => {
    const { headers, text } = await server.admin.get(`${proxy}/deep/page.html`);
    expect(text).toBe("<p>page</p>");
    expect(headers["content-security-policy"]).toMatch(/, sandbox$/);
    expect(Object.keys(headers)).not.toContain("service-worker-allowed");
    expect(Object.keys(headers)).not.toContain("clear-site-data");
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
    expect(headers["x-own"]).toBe("kept");
    expect(headers["set-cookie"]).toEqual([
      `own=1; Path=${proxy}/deep; HttpOnly`,
      `none=1; Secure; Path=${proxy}`,
    ]);
  });

  const asked = async (path: string, headers: Record<string, string>) =>
    (await server.admin.get(path, { headers })).status;

  test.each(["same-origin", undefined])(
    "sends no requests to other paths with Sec-Fetch-Site %s",
    async (site) => {
      for (const page of [`${proxy}/`, `${pods}/page/%70roxy/x`, "/api/v1/nodes/a/proxy/x"]) {
        const headers = {
          referer: `${server.server.url!}${page}?x=1`,
          ...(site === undefined ? {} : { "sec-fetch-site": site }),
        };
        expect(await asked("/api/v1/secrets", headers)).toBe(403);
        expect(await asked("/version", headers)).toBe(403);
        expect(await asked(`${pods}/page-other/proxy/`, headers)).toBe(403);
        const write = await server.admin.ask("POST", "/api/v1/namespaces", { body: {}, headers });
        expect(write.status).toBe(403);
      }
    },
  );

  test("may read its own path, and link to other pages", async () => {
    const referer = `${server.server.url!}${proxy}/`;
    expect(await asked(`${proxy}/image.png`, { referer })).toBe(200);
    const link = { referer, "sec-fetch-dest": "document", "sec-fetch-mode": "navigate" };
    expect(await asked("/version", link)).toBe(200);
  });

  test("has no service worker", async () => {
    expect(await asked(`${proxy}/worker.js`, { "service-worker": "script" })).toBe(403);
  });
});
