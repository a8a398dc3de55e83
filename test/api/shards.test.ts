import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { releases } from "../../src/base/releases.ts";
import { structInRelease } from "../../src/schema/kind-in-release.ts";
import { ListMeta } from "../../src/schema/object-meta.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { openEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { struct } from "../../src/schema/meta.ts";
import { field } from "../../src/schema/types.ts";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { configMap, namespace, ok, until } from "./support.ts";
import { shown, subscribe, subscriptionPath } from "./subscriptions-support.ts";

const server = useServer({ release: "1.37", featureGates: "ShardedListAndWatch=true" });
const [zero, middle, top] = ["0x0000000000000000", "0x8000000000000000", "0x10000000000000000"];
const range = (start: string, end: string, of = "uid") =>
  `shardRange(object.metadata.${of}, '${start}', '${end}')`;
const lower = range(zero, middle);
const upper = range(middle, top);
const all = "/api/v1/configmaps";
const ours = "labelSelector=sharded";
const inShard = (selector: string, path = all) =>
  `${path}?${ours}&shardSelector=${encodeURIComponent(selector)}`;
interface ListAnswer {
  readonly body: { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
}
const namesIn = ({ body }: ListAnswer): string[] => body.items.map(({ metadata }) => metadata.name);
const sharded = (name: string) => configMap(name, {}, { labels: { sharded: "" } });

beforeAll(async () => {
  for (const space of ["a", "foobar"]) {
    await ok(server.admin.post("/api/v1/namespaces", namespace(space)));
    for (let index = 0; index < 20; index++) {
      await ok(server.admin.post(`/api/v1/namespaces/${space}/configmaps`, sharded(`${space}-${index}`)));
    }
  }
});

describe("shardSelector", () => {
  test("splits a collection by the hash of the uid into parts without common objects", async () => {
    const [first, second] = [
      await ok(server.admin.get(inShard(lower))),
      await ok(server.admin.get(inShard(upper))),
    ];
    expect(first.body.metadata.shardInfo).toEqual({ selector: lower });
    const [names, others] = [namesIn(first), namesIn(second)];
    expect(names.length).toBeGreaterThan(5);
    expect(others.length).toBeGreaterThan(5);
    const whole = await ok(server.admin.get(`${all}?${ours}`));
    expect(whole.body.metadata).not.toHaveProperty("shardInfo");
    expect([...names, ...others].toSorted()).toEqual(namesIn(whole).toSorted());
    const both = await ok(server.admin.get(inShard(` ${upper}||${lower}`)));
    expect(namesIn(both)).toEqual(namesIn(whole));
    expect(both.body.metadata.shardInfo).toEqual({ selector: `${upper} || ${lower}` });
  });

  test("hashes as FNV-1a with 64 bits, with an inclusive start and an exclusive end", async () => {
    // The hash of "a" is af63dc4c8601ec8c, that of "foobar" 85944171f73967e8.
    const from = async (start: string, end: string) => {
      const found = namesIn(await ok(server.admin.get(inShard(range(start, end, "namespace")))));
      return [...new Set(found.map((name) => name.split("-")[0]))];
    };
    expect(await from("0xaf63dc4c8601ec8c", "0xaf63dc4c8601ec8d")).toEqual(["a"]);
    expect(await from("0x85944171f73967e8", "0xaf63dc4c8601ec8c")).toEqual(["foobar"]);
    expect(await from("0x85944171f73967e9", "0xaf63dc4c8601ec8c")).toEqual([]);
    expect(await from(zero, top)).toEqual(["a", "foobar"]);
  });

  test("limits chunks, sorted and searched lists", async () => {
    const expected = namesIn(await ok(server.admin.get(inShard(lower))));
    const chunk = await ok(server.admin.get(`${inShard(lower)}&limit=3`));
    expect(namesIn(chunk)).toEqual(expected.slice(0, 3));
    expect(chunk.body.metadata.shardInfo).toEqual({ selector: lower });
    expect(chunk.body.metadata).not.toHaveProperty("remainingItemCount");
    const rest = await ok(
      server.admin.get(`${inShard(lower)}&continue=${encodeURIComponent(chunk.body.metadata.continue)}`),
    );
    expect(namesIn(rest)).toEqual(expected.slice(3));
    const sorted = await ok(server.admin.get(`${inShard(lower)}&sort=-metadata.name&search=foo`));
    expect(namesIn(sorted)).toEqual(
      expected
        .filter((name) => name.startsWith("foo"))
        .toSorted()
        .toReversed(),
    );
    expect(sorted.body.metadata.shardInfo).toEqual({ selector: lower });
  });

  test("limits the initial objects and the changes of a watch", async () => {
    const path = inShard(range(zero, "0xa000000000000000", "namespace"));
    const watching = await server.admin.watch(`${path}&watch=true`);
    for (let index = 0; index < 20; index++) {
      expect((await watching.next()).object.metadata.namespace).toBe("foobar");
    }
    await ok(server.admin.post("/api/v1/namespaces/a/configmaps", sharded("a-later")));
    await ok(server.admin.post("/api/v1/namespaces/foobar/configmaps", sharded("foobar-later")));
    const { type, object } = await watching.next();
    expect([type, object.metadata.name]).toEqual(["ADDED", "foobar-later"]);
    await ok(server.admin.delete("/api/v1/namespaces/a/configmaps/a-later"));
    await ok(server.admin.delete("/api/v1/namespaces/foobar/configmaps/foobar-later"));
    const last = await watching.next();
    expect([last.type, last.object.metadata.name]).toEqual(["DELETED", "foobar-later"]);
    watching.close();
  });

  test("limits the deletion of a collection", async () => {
    const path = "/api/v1/namespaces/foobar/configmaps";
    const kept = namesIn(await ok(server.admin.get(inShard(upper, path))));
    const { body } = await ok(server.admin.delete(inShard(lower, path)));
    expect(body.metadata).not.toHaveProperty("shardInfo");
    expect(namesIn(await ok(server.admin.get(`${path}?${ours}`)))).toEqual(kept);
  });

  test("is in the metadata of binary lists", async () => {
    const type = "application/vnd.platform.protobuf";
    const { bytes } = await server.admin.ask("GET", inShard(upper), { accept: type });
    const newest = structInRelease(ListMeta, releases.at(-1)!);
    const list = struct("List", "A list.", { metadata: field(1, newest, "Metadata.") });
    const { message } = openEnvelope(bytes as Buffer);
    expect(decodeMessage(list, message)).toHaveProperty("metadata.shardInfo", { selector: upper });
  });

  test.each([
    [" ", /is empty/],
    ["shardRange(", /is not an expression/],
    ["true", /must be calls of shardRange\(\), joined by \|\|/],
    [`${lower} && ${upper}`, /must be calls of shardRange/],
    ["shardRange(object.metadata.uid)", /with 1 arguments/],
    [range(zero, middle, "name"), /must use the field object.metadata.uid or object.metadata.namespace/],
    [`${lower} || ${range(middle, top, "namespace")}`, /all ranges must be of the same field/],
    [range("0x0", middle), /an invalid start of a range/],
    [range(zero, "0x8000000000000000f"), /an invalid end of a range/],
    [range(zero, "0xFFFFFFFFFFFFFFFF"), /an invalid end of a range/],
    [range(middle, middle), /is not less than its end/],
  ])("%j is refused, by lists and watches", async (selector, message) => {
    for (const path of [inShard(selector), `${inShard(selector)}&watch=true`]) {
      const { status, body } = await server.admin.get(path);
      expect([status, body.reason]).toEqual([400, "BadRequest"]);
      expect(body.message).toMatch(/^parameter shardSelector: /);
      expect(body.message).toMatch(message);
    }
  });
});

describe("shardSelector without its gate, and before release 1.36", () => {
  const servers: TestServer[] = [];
  beforeAll(async () => {
    for (const release of ["1.37", "1.35", "1.26"] as const)
      servers.push(await TestServer.start({ release }));
  });
  afterAll(() => Promise.all(servers.map((one) => one.close())));

  test("is ignored, as any unknown parameter; the documents have it from release 1.36 on", async () => {
    for (const [index, { admin }] of servers.entries()) {
      const list = await ok(admin.get("/api/v1/namespaces?shardSelector=none"));
      expect(namesIn(list)).toContain("default");
      expect(list.body.metadata).not.toHaveProperty("shardInfo");
      const { body } = await ok(admin.get("/openapi/v3/api/v1"));
      const parameters = body.paths["/api/v1/namespaces"].get.parameters as { readonly name: string }[];
      expect(parameters.some(({ name }) => name === "shardSelector")).toBe(index === 0);
      const schemas = Object.keys(body.components.schemas);
      const listMeta = body.components.schemas[schemas.find((name) => name.endsWith(".ListMeta"))!];
      expect("shardInfo" in listMeta.properties).toBe(index === 0);
    }
  });
});

describe("shardSelector of subscriptions", () => {
  const openShards = async () => {
    const { text } = await server.admin.get("/metrics");
    return /^apiserver_watch_shards_total\{group="",resource="configmaps"\} (\d+)$/m.exec(text)?.[1];
  };
  const watch = (selector: string) =>
    `configmaps?${new URLSearchParams({ labelSelector: "sharded", shardSelector: selector })}`;

  test("limits the objects and the changes of a resource type, and is counted while the stream is open", async () => {
    const ofFoobar = range(zero, "0xa000000000000000", "namespace");
    const watching = await server.admin.watch(`${inShard(upper)}&watch=true`);
    const subscribed = await subscribe(server.admin, [watch(ofFoobar), "configmaps?namespace=a"]);
    const state = await subscribed.state();
    const spaces = (index: number) =>
      new Set(state.filter((one) => one.watch === index).map(({ object }) => object.metadata.namespace));
    expect([spaces(0), spaces(1)]).toEqual([new Set(["foobar"]), new Set(["a"])]);
    expect(await openShards()).toBe("2");
    await ok(server.admin.post("/api/v1/namespaces/a/configmaps", sharded("a-new")));
    await ok(server.admin.post("/api/v1/namespaces/foobar/configmaps", sharded("foobar-new")));
    expect((await subscribed.messages(2)).map(shown)).toEqual(["ADDED 1 a-new", "ADDED 0 foobar-new"]);
    subscribed.close();
    watching.close();
    await until(openShards, (count) => count === "0");
  });

  test("is a member of the body of a POST", async () => {
    const body = { watches: [{ resource: "configmaps", shardSelector: "true" }] };
    const { status, body: answer } = await server.admin.post("/subscriptions", body);
    expect(status).toBe(400);
    expect(answer.message).toMatch(
      /^watches\[0\] \(v1\/configmaps\): parameter shardSelector: "true" must be calls/,
    );
  });

  test("is refused while the feature gate is off", async () => {
    const other = await TestServer.start({ release: "1.37" });
    try {
      const { status, body } = await other.admin.get(subscriptionPath([watch(lower)]));
      expect([status, body.message]).toEqual([
        400,
        "watches[0] (v1/configmaps): shardSelector: requires the feature gate ShardedListAndWatch",
      ]);
    } finally {
      await other.close();
    }
  });
});
