import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { afterEach, expect, test } from "vitest";
import { clientWaitMs } from "../../src/http/limits/fair-limiter.ts";
import { configMaps, queuing, rejecting, useFlowServer } from "../api/flow-support.ts";
import { configMap, ManualClock, ok, until } from "../api/support.ts";
import { closeSockets, shownEvents, WatchSocket } from "../robustness/watch-socket.ts";

const { flow, start, annsLevel, executing, waiting } = useFlowServer();
let session: ClientHttp2Session | undefined;
afterEach(() => {
  session?.destroy();
  closeSockets();
});

/** One seat for a level with one share: the default levels use 245 shares. */
const oneSeat = { maxReading: 200, maxChanging: 46 };
const subscription = "/subscriptions?watch=configmaps%3Fnamespace%3Ddefault";

/** A request whose response isn't read. */
type Unread = readonly [name: string, path: string, headers?: Readonly<Record<string, string>>];

/** Sends a request with ann's token on a connection that reads no response bodies; resolves with the status. */
function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const ca = flow.server.server.caCertificate!;
  session = connectHttp2(flow.server.server.url!, { ca, settings: { initialWindowSize: 0 } });
  session.on("error", () => undefined);
  const stream = session.request({ ":path": path, authorization: "Bearer ann", ...headers });
  stream.on("error", () => undefined);
  stream.end();
  return new Promise((resolve) => {
    stream.once("response", (response) => resolve(response[":status"]!));
  });
}

/**
 * Waits until another request gets the seat, while the clock advances by a few waits for clients: far less than the time after which the
 * server ends a connection that isn't read, or lends the level more seats.
 */
async function untilReleased(clock: ManualClock, isServed: () => Promise<boolean>): Promise<void> {
  let waits = 0;
  const attempt = async () => {
    if (++waits <= 8) await clock.advance(clientWaitMs);
    return isServed();
  };
  await until(attempt, (served) => served);
}

test.each<readonly [first: string, small: number, requests: readonly Unread[]]>([
  [
    "watches",
    1,
    [
      ["a watch", `${configMaps}?watch=1&resourceVersion=0`],
      ["a watch of a view", `${configMaps}?watch=1&view=mine`],
      ["a subscription", subscription],
      ["a subscription of a view", `${subscription}&view=mine`],
    ],
  ],
  [
    "lists",
    // More than a page of a list.
    600,
    [
      ["a list", configMaps],
      ["a compressed list", configMaps, { "accept-encoding": "gzip" }],
      ["a binary list", configMaps, { accept: "application/vnd.platform.protobuf" }],
      ["a table", configMaps, { accept: "application/json;as=Table;v=v1;g=meta.platform.io" }],
    ],
  ],
  [
    "single documents",
    1,
    [
      ["a get", `${configMaps}/large-0`],
      ["the OpenAPI document", "/openapi/v2"],
    ],
  ],
])("%s that their client doesn't read release their seat to other requests", async (_, small, requests) => {
  const clock = new ManualClock();
  await start({ flow: oneSeat, clock });
  // More than the buffers of a connection take.
  const data = { text: "x".repeat(200_000) };
  for (let n = 0; n < 8; n++) await ok(flow.admin.post(configMaps, { ...configMap(`large-${n}`), data }));
  const { client } = flow.server.server;
  const header = { apiVersion: "v1", kind: "ConfigMap" };
  for (let n = 0; n < small; n++)
    await client.create({ ...header, metadata: { name: `small-${n}`, namespace: "default" } });
  await annsLevel(rejecting("tight"));
  const other = () => flow.server.as("ann").get(`${configMaps}/small-0`);
  for (const [name, path, headers] of requests) {
    expect(await ask(path, headers), name).toBe(200);
    await executing("tight");
    expect((await other()).status, name).toBe(429);
    // A compressed response waits for its client only after the compressor's first bytes.
    await untilReleased(clock, async () => (await other()).status === 200);
    session!.destroy();
  }
});

test("a WebSocket watch that its client doesn't read releases its seat to other requests", async () => {
  const clock = new ManualClock();
  await start({ flow: oneSeat, clock });
  // More than the buffers of a connection take.
  const data = { text: "x".repeat(900_000) };
  for (let n = 0; n < 20; n++) await ok(flow.admin.post(configMaps, { ...configMap(`large-${n}`), data }));
  // A level that queues: the watch waits for the seat when it sends on, also while the other request has it.
  await annsLevel(queuing("lined-up"));
  const socket = await WatchSocket.open(flow.server, `${configMaps}?watch=1&resourceVersion=0`, {
    token: "ann",
  });
  socket.pause();
  await executing("lined-up");
  const other = flow.server.as("ann").get(`${configMaps}/none`);
  await waiting("lined-up");
  let status: number | undefined;
  const served = other.then((answer) => (status = answer.status));
  await untilReleased(clock, async () => status !== undefined);
  expect(await served).toBe(404);
  socket.resume();
  const events = shownEvents(await socket.messages(20));
  expect(events).toHaveLength(20);
});
