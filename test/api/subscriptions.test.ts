import { connect as connectHttp2 } from "node:http2";
import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { ManualClock, clusterRole, configMap, grant, namespace, ok, settle, until } from "./support.ts";
import {
  EventReader,
  shown,
  subscribe,
  subscriptionPath,
  type Message,
  type Subscribed,
} from "./subscriptions-support.ts";

const clock = new ManualClock();
const server = useServer({ users: [{ name: "reader" }, { name: "watcher" }], clock });
const configMaps = "/api/v1/namespaces/one/configmaps";
const roles = "/apis/rbac.authorization.platform.io/v1/clusterroles";
const roleType = "rbac.authorization.platform.io/v1/clusterroles";
const table = "as=Table;v=v1;g=meta.platform.io";
const versionNow = async () =>
  (await ok(server.admin.get(configMaps))).body.metadata.resourceVersion as string;

beforeAll(async () => {
  await ok(server.admin.post("/api/v1/namespaces", namespace("one")));
  await ok(server.admin.post("/api/v1/namespaces", namespace("two")));
  await ok(server.admin.post(configMaps, configMap("first", {}, { labels: { app: "web" } })));
});

/** Subscribes and skips the initial state. */
async function live(
  watches: readonly string[],
  parameters: Record<string, string> = {},
): Promise<Subscribed> {
  const stream = await subscribe(server.admin, watches, { sendInitialEvents: "false", ...parameters });
  expect(stream.status).toBe(200);
  return stream;
}

describe("the events of a subscription", () => {
  test("C-4.6-01 are those of all its resource types in the order of revisions, as stored", async () => {
    const from = await versionNow();
    const stream = await live(["configmaps?namespace=one", "namespaces", roleType], {
      resourceVersion: from,
    });
    const first = await ok(server.admin.post(configMaps, configMap("a")));
    const role = await ok(server.admin.post(roles, clusterRole("b")));
    await ok(server.admin.post("/api/v1/namespaces/two/configmaps", configMap("elsewhere")));
    await ok(server.admin.delete(`${configMaps}/a`));
    const messages = await stream.messages(3);
    expect(messages.map(shown)).toEqual(["ADDED 0 a", "ADDED 2 b", "DELETED 0 a"]);
    expect(messages[0]).toEqual({
      type: "ADDED",
      resumeAfter: first.body.metadata.resourceVersion,
      watch: 0,
      resource: "v1/configmaps",
      object: first.body,
    });
    expect(messages[1]).toMatchObject({ resource: roleType, object: role.body });
    await ok(server.admin.delete(`${roles}/b`));
    stream.close();
  });

  test("begin with the objects of all resource types at one revision and a bookmark", async () => {
    const from = await versionNow();
    const stream = await subscribe(server.admin, [
      "configmaps?namespace=one&labelSelector=app=web",
      "v1/namespaces",
    ]);
    const state = await stream.state();
    expect(state.filter(({ watch }) => watch === 0).map(shown)).toEqual(["ADDED 0 first"]);
    const spaces = state.filter(({ watch }) => watch === 1).map(({ object }) => object.metadata.name);
    expect(spaces).toEqual(expect.arrayContaining(["default", "one", "two"]));
    expect(state.slice(0, -1).some(({ resumeAfter }) => resumeAfter !== undefined)).toBe(false);
    expect(state.at(-1)).toEqual({ type: "BOOKMARK", resumeAfter: from, initialEventsEnd: true });
    await ok(server.admin.post(configMaps, configMap("later", {}, { labels: { app: "web" } })));
    expect(shown(await stream.next())).toBe("ADDED 0 later");
    stream.close();
  });

  test("of an object in two overlapping watches are sent for each, and only the last one can be resumed after", async () => {
    const from = await versionNow();
    const stream = await live(["configmaps?namespace=one", "configmaps"], { resourceVersion: from });
    await ok(server.admin.post(configMaps, configMap("twice")));
    const [one, two] = await stream.messages(2);
    expect([shown(one!), shown(two!)]).toEqual(["ADDED 0 twice", "ADDED 1 twice"]);
    expect(one!.resumeAfter).toBeUndefined();
    expect(two!.resumeAfter).toBe(two!.object.metadata.resourceVersion);
    stream.close();
  });

  test("C-4.6-04 continue after any resource version without loss or repetition", async () => {
    const from = await versionNow();
    const whole = await live(["configmaps", roleType], { resourceVersion: from });
    for (let index = 0; index < 10; index++) {
      await ok(server.admin.post(configMaps, configMap(`r${index}`)));
      await ok(server.admin.post(roles, clusterRole(`r${index}`)));
    }
    const all = await whole.messages(20);
    whole.close();
    for (const [index, { resumeAfter }] of all.entries()) {
      const rest = await live(["configmaps", roleType], { resourceVersion: resumeAfter! });
      expect(await rest.messages(all.length - index - 1)).toEqual(all.slice(index + 1));
      rest.close();
    }
  });

  test("are sent for the watches of a POST's body, with field selectors", async () => {
    const watches = [
      { resource: "configmaps", namespace: "one", fieldSelector: "metadata.name=chosen" },
      { group: "rbac.authorization.platform.io", version: "v1", resource: "clusterroles" },
    ];
    const at = `/subscriptions?resourceVersion=${await versionNow()}`;
    const response = await server.admin.open("POST", at, { body: { watches } });
    const events: Message[] = [];
    response.on("data", (bytes: Buffer) =>
      events.push(
        ...bytes
          .toString()
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as Message),
      ),
    );
    await ok(server.admin.post(configMaps, configMap("other")));
    await ok(server.admin.post(configMaps, configMap("chosen")));
    await until(
      () => events.length,
      (count) => count > 0,
    );
    expect(events.map(shown)).toEqual(["ADDED 0 chosen"]);
    response.destroy();
  });

  test("bookmarks have the revision that all resource types have reached; they can be turned off", async () => {
    const [stream, quiet] = [
      await live(["configmaps", roleType]),
      await live(["configmaps", roleType], { allowWatchBookmarks: "false" }),
    ];
    await ok(server.admin.post("/api/v1/namespaces/one/secrets", { metadata: { name: "unseen" } }));
    const now = await versionNow();
    await clock.advance(60_000);
    expect(await stream.next()).toEqual({ type: "BOOKMARK", resumeAfter: now });
    await ok(server.admin.post(configMaps, configMap("after-bookmark")));
    expect(shown(await quiet.next())).toBe("ADDED 0 after-bookmark");
    stream.close();
    quiet.close();
  });

  test("end after timeoutSeconds", async () => {
    const stream = await live(["configmaps"], { timeoutSeconds: "5", allowWatchBookmarks: "false" });
    await clock.advance(5000);
    expect(await stream.toEnd()).toEqual([]);
  });
});

describe("a subscription in tables", () => {
  test("has the columns of each resource type first, then rows without columns", async () => {
    const accept = { accept: `application/json;${table}` };
    const stream = await subscribe(
      server.admin,
      ["configmaps?namespace=one&labelSelector=app=web", roleType],
      {},
      accept,
    );
    const [maps, ofRoles, row] = await stream.messages(3);
    expect([maps, ofRoles].map((one) => [one!.type, one!.watch])).toEqual([
      ["COLUMNS", 0],
      ["COLUMNS", 1],
    ]);
    const names = (one: Message) => one.object.columnDefinitions.map(({ name }: { name: string }) => name);
    expect(names(maps!)).toEqual(["Name", "Data", "Age"]);
    expect(names(ofRoles!)).toEqual(["Name", "Created At"]);
    expect(row!.object).toMatchObject({
      kind: "Table",
      columnDefinitions: null,
      rows: [{ cells: ["first", 0, expect.any(String)], object: { metadata: { name: "first" } } }],
    });
    stream.close();
  });

  test("has the ages of the time of the request", async () => {
    const accept = { accept: `application/json;${table}` };
    const age = async () => {
      const stream = await subscribe(server.admin, ["namespaces"], {}, accept);
      const rows = (await stream.state()).flatMap(({ object }) => object?.rows ?? []);
      stream.close();
      return rows.find(({ cells }: { cells: string[] }) => cells[0] === "one").cells[2] as string;
    };
    const before = await age();
    await clock.advance(3600_000 * 30);
    expect(await age()).not.toBe(before);
  });
});

describe("a subscription in server-sent events", () => {
  const accept = "text/event-stream";
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const response = await server.admin.open("GET", path, { accept, headers });
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, accept]);
    return new EventReader(response);
  };

  test("has a message in each event; its id resumes the stream in Last-Event-ID", async () => {
    const watches = ["configmaps?namespace=one&labelSelector=sse", roleType];
    const reader = await read(subscriptionPath(watches, { sendInitialEvents: "true" }));
    await until(
      () => reader.events,
      (seen) => seen.at(-1)?.data.includes("initialEventsEnd") === true,
    );
    const initial = reader.events.splice(0);
    expect(new Set(initial.slice(0, -1).map((one) => `${one.event} ${one.lastEventId}`))).toEqual(
      new Set(["ADDED "]),
    );
    const text = "line\nbreak\r and\u2028separator";
    await ok(server.admin.post(configMaps, configMap("sse-1", { text }, { labels: { sse: "" } })));
    await ok(server.admin.post(roles, clusterRole("sse-2")));
    await until(
      () => reader.events.length,
      (count) => count === 2,
    );
    const [map, role] = reader.events.map((one) => JSON.parse(one.data) as Message);
    expect(reader.events.map(({ event, lastEventId }) => [event, lastEventId])).toEqual([
      ["ADDED", map!.resumeAfter],
      ["ADDED", role!.resumeAfter],
    ]);
    expect(map!.object.data).toEqual({ text });
    reader.close();
    await ok(server.admin.delete(`${roles}/sse-2`));
    const again = await read(subscriptionPath(watches, { sendInitialEvents: "true" }), {
      "last-event-id": map!.resumeAfter!,
    });
    await until(
      () => again.events.length,
      (count) => count === 2,
    );
    expect(again.events.map(({ data }) => shown(JSON.parse(data) as Message))).toEqual([
      "ADDED 1 sse-2",
      "DELETED 1 sse-2",
    ]);
    again.close();
  });

  test("has comments while nothing happens", async () => {
    const reader = await read(subscriptionPath(["secrets?namespace=two"]));
    await until(
      () => reader.events.length,
      (count) => count === 1,
    );
    await clock.advance(30_000);
    await until(
      () => reader.comments.length,
      (count) => count === 1,
    );
    reader.close();
  });

  test("is served over HTTP/2 too", async () => {
    const session = connectHttp2(server.server.url!, { rejectUnauthorized: false });
    const stream = session.request({
      ":path": subscriptionPath(["secrets?namespace=two"]),
      accept,
      authorization: "Bearer admin-token",
    });
    const status = await new Promise((resolve) =>
      stream.once("response", (headers) => resolve(headers[":status"])),
    );
    expect(status).toBe(401);
    stream.close();
    session.close();
  });
});

describe("authorization of a subscription", () => {
  const attempt = async (as: string, watches: readonly string[], parameters: Record<string, string> = {}) => {
    const answer = await server.as(as).refusal("GET", subscriptionPath(watches, parameters));
    return [answer.status, answer.body?.message as string | undefined];
  };

  test("each resource type needs the right to watch it, and to list it for the initial state", async () => {
    await grant(server.admin, "watcher", [{ verbs: ["watch"], apiGroups: [""], resources: ["configmaps"] }]);
    expect(await attempt("watcher", ["configmaps", "secrets"], { sendInitialEvents: "false" })).toEqual([
      403,
      expect.stringMatching(
        /^watches\[1\] \(v1\/secrets\): secrets is forbidden: User "watcher" cannot watch/,
      ),
    ]);
    expect(await attempt("watcher", ["configmaps"])).toEqual([
      403,
      expect.stringMatching(
        /^watches\[0\] \(v1\/configmaps\): configmaps is forbidden: User "watcher" cannot list/,
      ),
    ]);
    const stream = await subscribe(server.as("watcher"), ["configmaps"], { sendInitialEvents: "false" });
    expect(stream.status).toBe(200);
    stream.close();
  });

  test("an anonymous user needs a right to the path", async () => {
    const { status, body } = await server.as(undefined).refusal("GET", subscriptionPath(["configmaps"]));
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining('cannot get path "/subscriptions"'),
    ]);
  });
});

describe("invalid subscriptions", () => {
  const many = Array.from({ length: 65 }, () => "pods");
  test.each([
    [[], {}, 400, "parameter watch: is required"],
    [many, {}, 400, "parameter watch: has 65 values; at most 64 are allowed"],
    [["a/b/c/d"], {}, 400, "must begin with RESOURCE"],
    [["/pods"], {}, 400, "must begin with RESOURCE"],
    [["pods?name=x"], {}, 400, 'unknown field "name"'],
    [["pods?namespace=a/pods/b"], {}, 400, "a character that is not allowed"],
    [["pods?labelSelector=a=b=c"], {}, 400, "watches[0] (v1/pods)"],
    [["pods?fieldSelector=spec.x=1"], {}, 400, "field label not supported"],
    [["namespaces?namespace=one"], {}, 400, "cluster-scoped"],
    [["pods", "unknown"], {}, 404, "watches[1] (v1/unknown)"],
    [["componentstatuses"], {}, 405, "can't be watched"],
    [["pods"], { view: "all" }, 400, 'parameter view: "all"'],
    [["pods"], { other: "1" }, 400, "parameter other is not supported"],
    [["pods"], { timeoutSeconds: "-1" }, 422, "timeoutSeconds"],
    [["pods"], { resourceVersion: "x" }, 400, "parameter resourceVersion"],
  ])("%j %j are %i: %s", async (watches, parameters, status, message) => {
    const answer = await server.admin.refusal(
      "GET",
      subscriptionPath(watches, parameters as Record<string, string>),
    );
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
  });

  test.each([
    ["[]", "the body: must be an object"],
    ["{", "the body can't be read"],
    ['{"watches":{}}', "watches: must be a list"],
    ['{"watches":[]}', "watches: is required"],
    ['{"watches":[1]}', "watches[0]: must be an object"],
    ['{"watches":[{"resource":"pods"}],"more":1}', 'the body: unknown field "more"'],
    ['{"watches":[{"resource":"pods","name":"x"}]}', 'watches[0]: unknown field "name"'],
    ['{"watches":[{"group":"apps","resource":"deployments"}]}', "watches[0].version: is required"],
    ['{"watches":[{"resource":1}]}', "watches[0].resource: must be a string"],
  ])("a body %s is BadRequest: %s", async (raw, message) => {
    const answer = await server.admin.refusal("POST", "/subscriptions", { raw });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test("a wrong Last-Event-ID, media type, method or size is refused", async () => {
    const path = subscriptionPath(["pods"]);
    const wrong = await server.admin.refusal("GET", path, { headers: { "last-event-id": "x" } });
    expect([wrong.status, wrong.body.message]).toEqual([
      400,
      expect.stringContaining("header Last-Event-ID"),
    ]);
    expect((await server.admin.refusal("GET", path, { accept: "application/yaml" })).status).toBe(406);
    expect(
      (await server.admin.refusal("POST", "/subscriptions", { raw: "a: b", contentType: "application/yaml" }))
        .status,
    ).toBe(415);
    expect((await server.admin.refusal("PUT", path)).status).toBe(405);
    expect((await server.admin.refusal("POST", path, { body: { watches: [] } })).status).toBe(400);
    const large = { watches: [{ resource: "pods", labelSelector: "x".repeat(300_000) }] };
    expect((await server.admin.refusal("POST", "/subscriptions", { body: large })).status).toBe(413);
    await settle();
  });
});
