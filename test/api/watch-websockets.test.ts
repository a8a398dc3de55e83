import { afterEach, describe, expect, test } from "vitest";
import { closeSockets, eventsOf, handshake, normalClose, WatchSocket } from "../robustness/watch-socket.ts";
import type { TestServer } from "../support/api.ts";
import { configMap, ok, settle } from "./support.ts";
import { path, useWatchedNamespace } from "./watch-support.ts";

const { clock, server, versionNow } = useWatchedNamespace();
afterEach(closeSockets);
const Socket = {
  open: (to: TestServer, target: string, headers?: readonly string[]) =>
    WatchSocket.open(to, target, { headers }),
};

describe("a watch over a WebSocket", () => {
  test("C-4.6-01 is answered 101 and sends one text message for each event", async () => {
    const from = await versionNow();
    const socket = await Socket.open(server, `${path}?watch=true&resourceVersion=${from}`);
    expect(await socket.head()).toMatch(
      /^HTTP\/1\.1 101 [^]*\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/,
    );
    await settle();
    for (const name of ["w1", "w2"]) await ok(server.admin.post(path, configMap(name)));
    const large = { ...configMap("w3"), data: { text: "x".repeat(70_000) } };
    await ok(server.admin.post(path, large));
    const events = eventsOf(await socket.messages(3));
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      "ADDED w1",
      "ADDED w2",
      "ADDED w3",
    ]);
    expect(events[2].object.data).toEqual(large.data);
  });

  test.each([
    ["a legacy path", `/api/v1/watch/namespaces/watched/configmaps?`],
    ["a field selector", `${path}?watch=1&fieldSelector=metadata.name%3Dw1&`],
  ])("of %s sends the initial state and ends after timeoutSeconds with a close frame", async (_, target) => {
    const socket = await Socket.open(server, `${target}timeoutSeconds=5`);
    expect(eventsOf(await socket.messages(1))[0].type).toBe("ADDED");
    await clock.advance(6000);
    await settle();
    const messages = await socket.messages(2);
    expect(messages.at(-1)).toEqual(normalClose);
    socket.end();
    await socket.closed();
  });

  test("sends binary messages without a length if the client accepts the binary form", async () => {
    const accept = "Accept: application/vnd.platform.protobuf;stream=watch";
    const socket = await Socket.open(server, `${path}?watch=1`, [...handshake, accept]);
    const [first] = await socket.messages(3);
    expect(first!.opcode).toBe(2);
    // Field 1 is the type of the event.
    expect(first!.payload.subarray(0, 7).toString("latin1")).toBe("\x0a\x05ADDED");
  });

  test("sends tables, of which the first message has the columns", async () => {
    const accept = "Accept: application/json;as=Table;v=v1;g=meta.platform.io, application/json";
    const socket = await Socket.open(server, `${path}?watch=1`, [...handshake, accept]);
    const tables = eventsOf(await socket.messages(2)).map(({ object }) => object);
    expect(tables.slice(0, 2).map(({ kind }) => kind)).toEqual(["Table", "Table"]);
    expect([tables[0].columnDefinitions?.length > 0, tables[1].columnDefinitions ?? []]).toEqual([true, []]);
  });

  test("sends bookmarks", async () => {
    const target = `${path}?watch=1&allowWatchBookmarks=true&resourceVersion=${await versionNow()}`;
    const socket = await Socket.open(server, target);
    await socket.head();
    await settle();
    await ok(server.admin.post("/api/v1/namespaces/default/configmaps", configMap("elsewhere")));
    await clock.advance(61_000);
    expect(eventsOf(await socket.messages(1))[0]).toMatchObject({ type: "BOOKMARK" });
  });

  test("answers pings, ignores messages and returns the client's close frame", async () => {
    const socket = await Socket.open(server, `${path}?watch=1&resourceVersion=${await versionNow()}`);
    await socket.head();
    socket.send(1, "x".repeat(300));
    socket.send(9, "here?");
    expect(await socket.messages(1)).toEqual([{ opcode: 10, payload: Buffer.from("here?") }]);
    socket.send(8, "");
    expect((await socket.messages(2))[1]).toEqual(normalClose);
    socket.end();
    await socket.closed();
  });

  test("is closed with 1002 if a control frame is fragmented", async () => {
    const socket = await Socket.open(server, `${path}?watch=1&resourceVersion=${await versionNow()}`);
    await socket.head();
    socket.send(9, "part", 0);
    expect(await socket.messages(1)).toEqual([{ opcode: 8, payload: Buffer.from([0x03, 0xea]) }]);
  });

  test("leaves no open watch when its client disconnects", async () => {
    const socket = await Socket.open(server, `${path}?watch=1`);
    await socket.messages(1);
    socket.end();
    await socket.closed();
    const { text } = await server.admin.get("/metrics");
    expect(text).toMatch(/apiserver_longrunning_requests\{[^}]*resource="configmaps"[^}]*\} 0/);
  });
});

describe("the handshake of a WebSocket watch", () => {
  const withToken = (token: string, ...protocols: string[]) => [
    ...handshake,
    `Sec-WebSocket-Protocol: ${["base64url.bearer.authorization.platform.io." + token, ...protocols].join(", ")}`,
  ];

  test("selects the only subprotocol", async () => {
    const socket = await Socket.open(server, `${path}?watch=1`, [
      ...handshake,
      "Sec-WebSocket-Protocol: one.two",
    ]);
    expect(await socket.head()).toMatch(/\r\nSec-WebSocket-Protocol: one\.two(\r\n|$)/);
  });

  test("doesn't select a token", async () => {
    const token = Buffer.from("ignored").toString("base64url");
    const socket = await Socket.open(server, `${path}?watch=1`, withToken(token, "one.two"));
    expect(await socket.head()).toMatch(/\r\nSec-WebSocket-Protocol: one\.two(\r\n|$)/);
  });

  test.each([
    ["several subprotocols", [...handshake, "Sec-WebSocket-Protocol: a, b"]],
    ["no key", handshake.slice(0, 3)],
    ["another version", [...handshake.slice(0, 2), "Sec-WebSocket-Version: 8", handshake[3]!]],
  ])("is 400 with %s", async (_, headers) => {
    const socket = await Socket.open(server, `${path}?watch=1`, headers);
    expect(await socket.head()).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([
    [400, `${path}?watch=1&resourceVersion=x`],
    [404, `/apis/none.example/v1/things?watch=1`],
  ])("is a plain %i for %s", async (status, target) => {
    const socket = await Socket.open(server, target);
    const text = await socket.head();
    expect([status, text.slice(0, 12)]).toEqual([status, `HTTP/1.1 ${status}`]);
  });
});
