import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { configMap, ok } from "./support.ts";
import { shown } from "./watch-support.ts";

const path = "/api/v1/namespaces/default/configmaps";
const initial =
  "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1";
const annotations = { "platform.io/initial-events-end": "true" };
const ofMeta = (kind: string) => `application/json;as=${kind};g=meta.platform.io;v=v1`;

/** Informers of current clients wait for the annotation before they report that they are synchronized. */
describe("the bookmark after the initial events of a watch", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ release: "1.37" });
    for (const name of ["one", "two"]) await ok(server.admin.post(path, configMap(name)));
  });
  afterAll(() => server.close());

  test("has the annotation that ends them, and later bookmarks don't", async () => {
    const watching = await server.admin.watch(`${path}?${initial}`);
    const frames = await watching.through(({ type }) => type === "BOOKMARK");
    expect(frames.slice(0, -1).map(shown)).toEqual(["ADDED one", "ADDED two"]);
    const { object } = frames.at(-1)!;
    expect(object).toEqual({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { resourceVersion: expect.stringMatching(/^\d+$/), annotations },
    });
    await ok(server.admin.post("/api/v1/namespaces/default/secrets", { metadata: { name: "other" } }));
    const last = await watching.next();
    expect([last.type, last.object.metadata.annotations]).toEqual(["BOOKMARK", undefined]);
    watching.close();
  });

  test("has the annotation in metadata", async () => {
    const watching = await server.admin.watch(`${path}?${initial}`, {
      accept: ofMeta("PartialObjectMetadata"),
    });
    const { object } = (await watching.through(({ type }) => type === "BOOKMARK")).at(-1)!;
    expect([object.kind, object.metadata.annotations]).toEqual(["PartialObjectMetadata", annotations]);
    watching.close();
  });

  test("has the annotation in the object of a row in tables, with columns in the first frame only", async () => {
    for (const [url, columns] of [
      [path, null],
      ["/api/v1/namespaces/empty/configmaps", expect.arrayContaining([])],
    ] as const) {
      const watching = await server.admin.watch(`${url}?${initial}`, { accept: ofMeta("Table") });
      const { object } = (await watching.through(({ type }) => type === "BOOKMARK")).at(-1)!;
      const [row] = object["rows"] as { object: { metadata: object } }[];
      expect(row!.object.metadata).toEqual({
        resourceVersion: object.metadata.resourceVersion,
        annotations,
      });
      expect(object["columnDefinitions"]).toEqual(columns);
      watching.close();
    }
  });

  test("has the annotation in the binary form", async () => {
    const { bytes } = await server.admin.get(`${path}?watch=true&${initial}`, {
      accept: "application/vnd.platform.protobuf;stream=watch",
    });
    expect(bytes.toString("latin1")).toContain("platform.io/initial-events-end\x12\x04true");
  });

  test("has no annotation in the reference release", async () => {
    const reference = await TestServer.start({ featureGates: "WatchList=true" });
    const watching = await reference.admin.watch(`${path}?${initial}`);
    const { type, object } = await watching.next();
    expect([type, object.metadata]).toEqual([
      "BOOKMARK",
      { resourceVersion: expect.stringMatching(/^\d+$/) },
    ]);
    watching.close();
    await reference.close();
  });
});
