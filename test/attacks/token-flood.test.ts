import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requestLimits } from "../../src/authentication/token-webhook.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { TestServer } from "../support/api.ts";
import { clientConfiguration } from "../support/client-configuration.ts";
import { HttpsService, type Reply } from "../support/https-service.ts";
import { http2Session } from "../robustness/support.ts";

const group = "authentication.platform.io";
const self = `/apis/${group}/v1alpha1/selfsubjectreviews`;
/** Shorter than the wait of unknown tokens. */
const cacheMs = requestLimits.waitMs / 2;

let folder: string;
let service: HttpsService;
let server: TestServer;
let clock: ManualClock;
/** Pending responses of the service by token, oldest first; undefined when it responds immediately. */
let held: Map<string, () => void> | undefined;

beforeEach(async () => {
  held = undefined;
  folder = mkdtempSync(path.join(tmpdir(), "plinth-flood-"));
  service = await HttpsService.start(({ text }) => {
    const { token } = (JSON.parse(text) as { spec: { token: string } }).spec;
    const status = token.startsWith("good")
      ? { authenticated: true, user: { username: token } }
      : { authenticated: false };
    const reply: Reply = { body: { apiVersion: `${group}/v1`, kind: "TokenReview", status } };
    if (held === undefined) return reply;
    const waiting = held;
    return new Promise((resolve) => waiting.set(token, () => resolve(reply)));
  });
  clock = new ManualClock();
  server = await TestServer.start({
    runtimeConfig: `${group}/v1alpha1`,
    clock,
    authentication: {
      tokenWebhook: { configFile: clientConfiguration(folder, service), version: "v1", cacheMs },
    },
  });
});
afterEach(async () => {
  for (const release of held?.values() ?? []) release();
  held = undefined;
  await server.close();
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends a request on an open session; resolves with the status. */
async function statusOf(session: ClientHttp2Session, token: string): Promise<number> {
  const stream = session.request({
    ":method": "POST",
    ":path": self,
    "content-type": "application/json",
    authorization: `Bearer ${token}`,
  });
  stream.end("{}");
  const [headers] = (await once(stream, "response")) as [{ ":status": number }];
  stream.resume();
  return headers[":status"];
}

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
};

describe("a flood of unknown tokens", () => {
  const { runningPerSource, waitingPerSource } = requestLimits;
  const excess = 60;

  /** Uses one client network's share of reviews and of queue places, over four connections. */
  async function flood() {
    held = new Map();
    const sessions = Array.from({ length: 4 }, () => http2Session(server));
    const counts = new Map<number, number>();
    const count = (status: number) => counts.set(status, (counts.get(status) ?? 0) + 1);
    const total = runningPerSource + waitingPerSource + excess;
    const answers = Array.from({ length: total }, (_, n) =>
      statusOf(sessions[n % sessions.length]!, `bad-${n}`).then(count),
    );
    await until(() => counts.get(429) === excess && held!.size === runningPerSource);
    return { counts, end: () => Promise.all(answers), close: () => sessions.forEach((one) => one.close()) };
  }

  it("above the limit is 429 immediately, while a client of another connection is served soon", async () => {
    const { counts, end, close } = await flood();
    const asked = server.as("good-1").post(self, {});
    // One waiting request of the flood is rejected: the newest of the connection with the most.
    await until(() => counts.get(429) === excess + 1);
    for (let released = 0; !held!.has("good-1"); released++) {
      expect(released).toBeLessThan(10);
      const [[token, release]] = held!.entries() as unknown as [[string, () => void]];
      const before = service.received.length;
      held!.delete(token);
      release();
      await until(() => service.received.length > before);
    }
    held!.get("good-1")!();
    expect((await asked).status).toBe(201);
    const waiting = held!;
    held = undefined;
    for (const release of waiting.values()) release();
    await end();
    expect(counts.get(401)).toBe(runningPerSource + waitingPerSource - 1);
    close();
  });

  it("a token that was valid before is reviewed before all others when its cache entry expires", async () => {
    expect((await server.as("good-2").post(self, {})).status).toBe(201);
    const { close, end } = await flood();
    expect((await server.as("good-2").post(self, {})).status).toBe(201);
    await clock.advance(cacheMs);
    const asked = server.as("good-2").post(self, {});
    await until(() => held!.has("good-2"));
    held!.get("good-2")!();
    expect((await asked).status).toBe(201);
    const waiting = held!;
    held = undefined;
    for (const release of waiting.values()) release();
    await end();
    close();
  });
});
