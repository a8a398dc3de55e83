import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AuditedServer, everythingAt, type Event } from "../audit/support.ts";
import { RawConnection, head, portOf } from "../robustness/support.ts";
import { TestServer, storeOf } from "../support/api.ts";
import { ExtensionServer } from "../support/extension-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { useServer } from "../support/use-server.ts";
import { right, useConversionWebhook } from "./custom-resources/conversion-support.ts";
import { definition, definitions, order, served } from "./custom-resources/support.ts";
import { ManualClock, configMap, namespace, ok, until } from "./support.ts";
import { Subscribed, shown, subscribe, type Message, subscriptionPath } from "./subscriptions-support.ts";

const minutes = 60_000;
const live = { sendInitialEvents: "false" };

describe("a subscription to custom resources", () => {
  const { fixture, endpoints } = useConversionWebhook();

  test("has their objects in the version that it names, in order with built-in ones", async () => {
    const { admin } = fixture.server;
    const made = await endpoints();
    const type = (version: string) => `shop.example.com/${version}/${made.plural}`;
    const stream = await subscribe(admin, [type("v1"), type("v2"), "configmaps"], live);
    await ok(admin.post(made.v1, made.inV1("e", "host:80")));
    await ok(admin.post("/api/v1/namespaces/default/configmaps", configMap("c")));
    const [one, two, three] = await stream.messages(3);
    expect([one, two, three].map((message) => shown(message!))).toEqual([
      "ADDED 0 e",
      "ADDED 1 e",
      "ADDED 2 c",
    ]);
    expect([one!.object.spec, two!.object.spec]).toEqual([
      { endpoint: "host:80" },
      { host: "host", port: 80 },
    ]);
    stream.close();
  });

  test("holds events back while earlier ones of another resource type are being converted", async () => {
    const { admin } = fixture.server;
    const made = await endpoints();
    const from = (await ok(admin.get("/api/v1/configmaps"))).body.metadata.resourceVersion as string;
    const watches = [`shop.example.com/v2/${made.plural}`, "configmaps"];
    const stream = await subscribe(admin, watches, { resourceVersion: from });
    const plain = await subscribe(admin, ["configmaps"], { resourceVersion: from });
    let convert: () => void = () => undefined;
    const isReleased = new Promise<void>((resolve) => (convert = resolve));
    fixture.answer = async (request) => {
      await isReleased;
      return right(request);
    };
    await ok(admin.post(made.v1, made.inV1("slow", "host:80")));
    await ok(admin.post("/api/v1/namespaces/default/configmaps", configMap("fast")));
    expect(shown(await plain.next())).toBe("ADDED 0 fast");
    await until(
      () => fixture.webhook.received.length,
      (count) => count > 0,
    );
    convert();
    expect((await stream.messages(2)).map(shown)).toEqual(["ADDED 0 slow", "ADDED 1 fast"]);
    stream.close();
    plain.close();
  });

  test("ends with an ERROR that names the watch whose objects can't be converted", async () => {
    const { admin } = fixture.server;
    const made = await endpoints();
    const stream = await subscribe(admin, ["configmaps", `shop.example.com/v2/${made.plural}`], live);
    await ok(admin.post(made.v1, made.inV1("good", "host:80")));
    await stream.next();
    fixture.answer = () => ({ status: 500, body: {} });
    await admin.post(made.v1, made.inV1("bad", "host:81"));
    const [error] = (await stream.toEnd()).slice(-1);
    expect(error).toMatchObject({ type: "ERROR", watch: 1, object: { kind: "Status", status: "Failure" } });
  });

  test("has their deletion when their definition is deleted, and then the end of the stream", async () => {
    const { admin } = fixture.server;
    const made = definition({}, "gones", "Gone");
    const path = await served(admin, made);
    await ok(admin.post(path, { ...order("g"), kind: "Gone" }));
    const stream = await subscribe(admin, ["shop.example.com/v1/gones", "configmaps"], live);
    await ok(admin.delete(`${definitions}/gones.shop.example.com`));
    expect(shown(await stream.next())).toBe("DELETED 0 g");
    const rest = (await stream.toEnd()) as Message[];
    expect(rest.map(({ type }) => type)).toEqual(rest.map(() => "BOOKMARK"));
  });
});

test("a subscription to the group version of an extension server is BadRequest", async () => {
  const server = await TestServer.start({ connections: { allowLoopback: true } });
  const extension = await ExtensionServer.start();
  try {
    await extension.register(server.admin);
    const path = subscriptionPath(["configmaps", `${extension.group}/v1/widgets`]);
    const { status, body } = await server.admin.refusal("GET", path);
    expect([status, body.message]).toEqual([
      400,
      expect.stringMatching(/^watches\[1\] \(widgets.example.com\/v1\/widgets\): an extension server serves/),
    ]);
  } finally {
    await server.close();
    await extension.close();
  }
});

describe("C-7-04 a subscription after a resource version before the retained history", () => {
  const maps = "/api/v1/namespaces/default/configmaps";
  const clock = new ManualClock();
  const server = useServer({ clock });

  test("is rejected with Expired", async () => {
    const old = (await ok(server.admin.post(maps, configMap("a")))).body.metadata.resourceVersion as string;
    for (let index = 0; index < 4; index++) {
      await ok(server.admin.patch(`${maps}/a`, { data: { index: `${index}` } }));
      await clock.advance(4 * minutes);
    }
    const path = subscriptionPath(["configmaps", "pods"], { resourceVersion: old });
    const { status, body } = await server.admin.refusal("GET", path);
    expect([status, body.reason]).toEqual([410, "Expired"]);
    expect(body.message).toContain("too old resource version");
  });

  test("ends with an ERROR of the reason Expired when the history expires while the client reads it", async () => {
    const folder = temporaryFolder();
    const embedded = await TestServer.start({ storage: { engine: "embedded", dir: folder.path } });
    const { admin } = embedded;
    try {
      const old = (await ok(admin.post(maps, configMap("a")))).body.metadata.resourceVersion as string;
      const text = "x".repeat(900_000);
      const versions = 40;
      for (let index = 0; index < versions; index++) {
        await ok(admin.put(`${maps}/a`, configMap("a", { text, index: `${index}` })));
      }
      const path = subscriptionPath(["pods", "configmaps"], { resourceVersion: old });
      // The client doesn't read yet, so the server has sent a part of the history at most.
      const response = await admin.open("GET", path, {});
      await storeOf(embedded).compact(Date.now() + minutes);
      const messages = await new Subscribed(response).toEnd();
      expect(messages.length).toBeLessThan(versions);
      expect(messages.at(-1)).toMatchObject({
        type: "ERROR",
        watch: 1,
        resource: "v1/configmaps",
        object: { reason: "Expired", code: 410 },
      });
    } finally {
      await embedded.close();
      folder.remove();
    }
  });
});

describe("the audit of a subscription", () => {
  let server: AuditedServer;
  beforeAll(async () => (server = await AuditedServer.start(everythingAt("Metadata"))));
  afterAll(() => server.close());
  const paths = ({ stage, verb, requestURI, objectRef, responseStatus }: Event) => ({
    stage,
    verb,
    path: requestURI.split("?")[0],
    resource: objectRef?.resource,
    code: responseStatus?.code,
  });

  test("has its own events and those of a watch for each resource type, until its end", async () => {
    const stream = await subscribe(server.api.admin, ["configmaps?namespace=default", "pods"], live);
    const id = stream.headers["audit-id"];
    const before = (await server.events(id)).map(paths);
    const started = { stage: "ResponseStarted", path: "/subscriptions", code: 200 };
    expect(before).toEqual(
      expect.arrayContaining([
        { ...started, verb: "get", resource: undefined },
        { ...started, verb: "watch", resource: "configmaps" },
        { ...started, verb: "watch", resource: "pods" },
      ]),
    );
    expect(before.some(({ stage }) => stage === "ResponseComplete")).toBe(false);
    stream.close();
    const complete = await until(
      async () => (await server.events(id)).filter(({ stage }) => stage === "ResponseComplete"),
      (events) => events.length === 3,
    );
    expect(complete.map(({ objectRef }) => objectRef?.namespace)).toEqual(
      expect.arrayContaining(["default"]),
    );
  });

  test("has the failure in the events of each resource type", async () => {
    const answer = await server.api.admin.refusal("GET", subscriptionPath(["pods", "unknown"]));
    const events = await server.events(answer.headers["audit-id"]);
    const complete = events.filter(({ stage }) => stage === "ResponseComplete").map(paths);
    expect(complete.map(({ verb, resource, code }) => [verb, resource, code])).toEqual(
      expect.arrayContaining([
        ["get", undefined, 404],
        ["watch", "pods", 404],
        ["watch", "unknown", 404],
      ]),
    );
  });
});

test("a subscriber that never reads is disconnected when its backlog is full; others get every event", async () => {
  const cutOff: string[] = [];
  const server = await TestServer.start({
    log: {
      info: () => undefined,
      warn: (_facts, message) => void cutOff.push(message),
      error: () => undefined,
    },
  });
  try {
    const maps = "/api/v1/namespaces/busy/configmaps";
    await ok(server.admin.post("/api/v1/namespaces", namespace("busy")));
    await ok(server.admin.post(maps, configMap("big")));
    const stalled = await RawConnection.open(portOf(server));
    stalled.write(head(server, `GET ${subscriptionPath(["configmaps", "pods"])}`));
    await stalled.receives(/HTTP\/1\.1 200 /);
    stalled.socket.pause();
    const reading = await subscribe(server.admin, ["configmaps?namespace=busy", "pods"], live);
    const big = "x".repeat(700 * 1024);
    for (let index = 0; index < 120 && cutOff.length === 0; index++) {
      await ok(server.admin.put(`${maps}/big`, configMap("big", { big: `${index}${big}` })));
      expect((await reading.next()).object.data.big.startsWith(`${index}x`)).toBe(true);
    }
    expect(cutOff).toEqual(["watcher too slow: its backlog is full"]);
    stalled.socket.resume();
    await stalled.closes();
    reading.close();
  } finally {
    await server.close();
  }
});

test("the events of a subscription are counted by resource type, and the request as a long-running one", async () => {
  const server = await TestServer.start();
  try {
    const metric = async (name: string) => {
      const { text } = await ok(server.admin.get("/metrics"));
      return text.split("\n").filter((line) => line.startsWith(name));
    };
    const stream = await subscribe(server.admin, ["configmaps", "pods"], live);
    await ok(server.admin.post("/api/v1/namespaces/default/configmaps", configMap("counted")));
    await stream.next();
    expect(await metric("apiserver_watch_events_total")).toContain(
      'apiserver_watch_events_total{group="",version="v1",kind="ConfigMap"} 1',
    );
    const running = (await metric("apiserver_longrunning_requests")).filter((line) =>
      line.includes("/subscriptions"),
    );
    expect(running).toEqual([expect.stringMatching(/verb="WATCH".* 1$/)]);
    stream.close();
    await until(
      async () =>
        (await metric("apiserver_longrunning_requests")).find((line) => line.includes("/subscriptions")),
      (line) => line?.endsWith(" 0") === true,
    );
  } finally {
    await server.close();
  }
});
