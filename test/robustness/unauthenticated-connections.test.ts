import type { ClientHttp2Session } from "node:http2";
import { afterEach, expect, test } from "vitest";
import { TestServer, type TestServerOptions } from "../support/api.ts";
import { answerOf, http2Session } from "./support.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function connect(
  options: TestServerOptions,
): Promise<{ readonly server: TestServer; readonly session: ClientHttp2Session }> {
  const server = await TestServer.start({ enabledControllers: [], ...options });
  cleanups.push(() => server.close());
  const session = http2Session(server);
  cleanups.push(() => session.destroy());
  return { server, session };
}

/** Sends a request and returns its status, and whether the server has ended the connection when the next one is answered. */
async function ask(session: ClientHttp2Session, authorization?: string): Promise<readonly [number, boolean]> {
  const headers = { ":path": "/version", ...(authorization !== undefined && { authorization }) };
  const { status } = await answerOf(session.request(headers));
  // The server sends its acknowledgement of a ping after the end of a connection.
  if (!session.closed) await new Promise((resolve) => session.ping(resolve));
  return [status, session.closed];
}

test.each([
  ["an anonymous request", undefined, 200],
  ["a request with a wrong token", "Bearer wrong", 401],
])("%s ends its HTTP/2 connection from release 1.29 on", async (_name, authorization, status) => {
  const { session } = await connect({ release: "1.29" });
  expect(await ask(session, authorization)).toEqual([status, true]);
});

test("requests in progress on the connection are answered", async () => {
  const { server, session } = await connect({ release: "1.37" });
  const bearer = { authorization: `Bearer ${server.server.adminToken}` };
  const answers = await Promise.all([
    answerOf(session.request({ ":path": "/api/v1/namespaces", ...bearer })),
    answerOf(session.request({ ":path": "/version" })),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

test("an authenticated client keeps its connection, and an anonymous one where the gate is off", async () => {
  const { server, session } = await connect({ release: "1.37" });
  expect(await ask(session, `Bearer ${server.server.adminToken}`)).toEqual([200, false]);
  const earlier = await connect({ release: "1.28" });
  expect(await ask(earlier.session)).toEqual([200, false]);
  const off = await connect({
    release: "1.37",
    featureGates: "UnauthenticatedHTTP2DOSMitigation=false",
  });
  expect(await ask(off.session)).toEqual([200, false]);
});
