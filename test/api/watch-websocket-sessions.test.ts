import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { decodeCbor } from "../../src/base/cbor/decode-cbor.ts";
import { AuditedServer, everythingAt } from "../audit/support.ts";
import {
  closeSockets,
  eventsOf,
  handshake,
  normalClose,
  shownEvents,
  WatchSocket,
} from "../robustness/watch-socket.ts";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import {
  definition,
  definitions,
  group as shop,
  order,
  served,
  version,
} from "./custom-resources/support.ts";
import { configMap, grant, ManualClock, ok, settle, until } from "./support.ts";
import { createGrant } from "./views-support.ts";

const minutes = 60_000;
const maps = "/api/v1/namespaces/default/configmaps";
const watching = `${maps}?watch=true`;
const clock = new ManualClock();
const server = useServer({ clock, users: [{ name: "ann" }, { name: "nobody" }] });
beforeAll(() =>
  grant(server.admin, "ann", [{ verbs: ["list", "watch"], apiGroups: [""], resources: ["configmaps"] }]),
);
afterEach(closeSockets);
const versionNow = async () => (await ok(server.admin.get(maps))).body.metadata.resourceVersion as string;

describe("credentials of a WebSocket watch", () => {
  const protocols = (...names: readonly string[]) => `Sec-WebSocket-Protocol: ${names.join(", ")}`;
  const tokenProtocol = (token: string) =>
    `base64url.bearer.authorization.platform.io.${Buffer.from(token).toString("base64url")}`;
  const openWith = (lines: readonly string[], token = "") =>
    WatchSocket.open(server, watching, { token, headers: [...handshake, ...lines] });

  test.each([
    ["before another protocol", protocols(tokenProtocol("ann"), "json")],
    ["after another protocol", protocols("json", tokenProtocol("ann"))],
  ])("a token %s is enough, and isn't repeated in the response", async (_, line) => {
    const head = await (await openWith([line])).head();
    expect(head).toMatch(/^HTTP\/1\.1 101 [^]*\r\nSec-WebSocket-Protocol: json$/m);
    expect(head).not.toContain("bearer");
  });

  test("a token is enough for a page of another site, whose browser sends no client certificate", async () => {
    const origin = "Origin: https://dashboard.example.com";
    const socket = await openWith([protocols(tokenProtocol("ann"), "json"), origin]);
    expect(await socket.head()).toMatch(/^HTTP\/1\.1 101 /);
  });

  test.each([
    ["an unknown token", protocols(tokenProtocol("unknown"), "json")],
    ["a token alone", protocols(tokenProtocol("ann"))],
    ["two tokens", protocols(tokenProtocol("ann"), tokenProtocol("ann"), "json")],
    ["a token that isn't base64url", protocols("base64url.bearer.authorization.platform.io.a*", "json")],
  ])("%s is 401 without a reason", async (_, line) => {
    const [status, body] = await (await openWith([line])).refusal();
    expect([status, (JSON.parse(body) as { message: string }).message]).toEqual([401, "Unauthorized"]);
  });

  test("users who may not watch are 403, and a foreign page without a token", async () => {
    expect((await (await openWith([], "nobody")).refusal())[0]).toBe(403);
    expect((await (await openWith([])).refusal())[0]).toBe(403);
    expect((await (await openWith(["Origin: https://other.example.com"])).refusal())[0]).toBe(403);
  });

  test.each([
    ["no Origin", []],
    ["the Origin of the server", ["Origin: https://127.0.0.1:1"]],
    ["an Origin that is no URL", ["Origin: null"]],
  ])("a client with Authorization and %s is accepted", async (_, lines) => {
    expect(await (await openWith(lines, "ann")).head()).toMatch(/^HTTP\/1\.1 101 /);
  });
});

describe("the end of a WebSocket watch", () => {
  test("is a close frame when the server stops", async () => {
    const stopped = await TestServer.start();
    const socket = await WatchSocket.open(stopped, `${watching}&resourceVersion=0`);
    await socket.head();
    const closing = stopped.close();
    expect(await socket.messages(1)).toEqual([normalClose]);
    socket.end();
    await socket.closed();
    await closing;
  });

  test("is an ERROR event of 410 and a close frame when the watch loses its history", async () => {
    server.server.faults.add({
      on: { verbs: ["watch"], resource: "configmaps" },
      times: 1,
      effect: { endWatch: "expired" },
    });
    const socket = await WatchSocket.open(server, `${watching}&resourceVersion=${await versionNow()}`);
    await socket.head();
    await settle();
    await ok(server.admin.post(maps, configMap("lost")));
    const messages = await socket.messages(2);
    server.server.faults.clear();
    expect(eventsOf(messages)).toEqual([
      { type: "ERROR", object: expect.objectContaining({ kind: "Status", code: 410, reason: "Expired" }) },
    ]);
    expect(messages.at(-1)).toEqual(normalClose);
  });

  test("is a plain 410 for a resource version before the retained history", async () => {
    const old = await versionNow();
    for (const value of ["1", "2"]) {
      await ok(server.admin.put(`${maps}/lost`, configMap("lost", { value })));
      await clock.advance(7 * minutes);
    }
    const socket = await WatchSocket.open(server, `${watching}&resourceVersion=${old}`);
    const [status, body] = await socket.refusal();
    expect([status, (JSON.parse(body) as { reason: string }).reason]).toEqual([410, "Expired"]);
  });

  test("is a close frame when the definition of the kind changes", async () => {
    const orders = await served(server.admin, definition());
    await ok(server.admin.post(orders, order("one")));
    const socket = await WatchSocket.open(server, `${orders}?watch=true`);
    expect(eventsOf(await socket.messages(1))).toMatchObject([
      { type: "ADDED", object: { apiVersion: `${shop}/v1`, kind: "Order", spec: { size: 1 } } },
    ]);
    await ok(server.admin.post(orders, order("two", { size: 2 })));
    expect(shownEvents(await socket.messages(2))).toEqual(["ADDED one", "ADDED two"]);
    const schema = { openAPIV3Schema: { type: "object", "x-platform-preserve-unknown-fields": true } };
    const versions = [version("v1", { schema })];
    await ok(server.admin.patch(`${definitions}/orders.${shop}`, { spec: { versions } }));
    expect((await socket.messages(3)).at(-1)).toEqual(normalClose);
  });
});

test("a WebSocket watch with view=mine follows the grants of its user", async () => {
  const viewer = await TestServer.start({ users: [{ name: "bob" }] });
  try {
    for (const name of ["one", "two"]) await ok(viewer.admin.post(maps, configMap(name)));
    const socket = await WatchSocket.open(viewer, `${watching}&view=mine`, { token: "bob" });
    await socket.head();
    const [binding] = await createGrant(viewer.admin, {
      name: "bob",
      namespace: "default",
      kind: "Role",
      rules: [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["two"] }],
      subject: { kind: "User", apiGroup: "rbac.authorization.platform.io", name: "bob" },
    }).then((paths) => paths.toReversed());
    expect(shownEvents(await socket.messages(1))).toEqual(["ADDED two"]);
    await ok(viewer.admin.delete(binding!));
    expect(shownEvents(await socket.messages(2))).toEqual(["ADDED two", "DELETED two"]);
  } finally {
    await viewer.close();
  }
});

test("a WebSocket watch has the audit events of a watch, with code 101", async () => {
  const audited = await AuditedServer.start(everythingAt("Metadata"));
  try {
    const socket = await WatchSocket.open(audited.api, `${watching}&resourceVersion=0`);
    const id = /^audit-id: (.*)$/im.exec(await socket.head())![1]!.trim();
    const stages = async () =>
      (await audited.events(id)).map(({ stage, responseStatus }) => [stage, responseStatus?.code]);
    expect(await stages()).toEqual([
      ["RequestReceived", undefined],
      ["ResponseStarted", 101],
    ]);
    socket.send(8, "");
    socket.end();
    await socket.closed();
    const all = await until(stages, ({ length }) => length === 3);
    expect(all[2]).toEqual(["ResponseComplete", 101]);
    const [event] = await audited.events(id);
    expect(event).toMatchObject({ verb: "watch", objectRef: { resource: "configmaps" } });
  } finally {
    await audited.close();
  }
});

test("a WebSocket watch in CBOR has one item in each binary message", async () => {
  const cbor = await TestServer.start({ release: "1.37", featureGates: "CBORServingAndStorage=true" });
  try {
    await ok(cbor.admin.post(maps, configMap("one")));
    const headers = [...handshake, "Accept: application/cbor"];
    const socket = await WatchSocket.open(cbor, `${watching}&fieldSelector=metadata.name%3Done`, { headers });
    const [{ opcode, payload }] = (await socket.messages(1)) as [{ opcode: number; payload: Buffer }];
    expect(opcode).toBe(2);
    expect(decodeCbor(payload)).toMatchObject({ type: "ADDED", object: { metadata: { name: "one" } } });
  } finally {
    await cbor.close();
  }
});
