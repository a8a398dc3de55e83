import { beforeAll, describe, expect, test } from "vitest";
import { type Frame } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { configMap as bareMap, grant, namespace, ok } from "./support.ts";

const maps = "/api/v1/namespaces/watched/configmaps";
const below = "/api/v1/watch/namespaces";
const configMap = (name: string) => bareMap(name, {}, { labels: { told: "" } });

const server = useServer({ users: [{ name: "watcher" }, { name: "reader" }] });
beforeAll(async () => {
  for (const name of ["watched", "other"]) await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
  for (const name of ["one", "two"]) await ok(server.admin.post(maps, configMap(name)));
  await ok(server.admin.post("/api/v1/namespaces/other/configmaps", configMap("three")));
});

/** The sorted events of a watch of one second. */
async function told(path: string): Promise<string[]> {
  const { status, text } = await server.admin.get(`${path}${path.includes("?") ? "&" : "?"}timeoutSeconds=1`);
  expect(status).toBe(200);
  const frames = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Frame);
  return frames.map(({ type, object }) => `${type} ${object.metadata.name}`).toSorted();
}

describe("a watch path, the older form of the watch parameter,", () => {
  test.each([
    ["/api/v1/watch/configmaps?labelSelector=told", ["ADDED one", "ADDED three", "ADDED two"]],
    [`${below}/watched/configmaps`, ["ADDED one", "ADDED two"]],
    [`${below}/watched/configmaps/one`, ["ADDED one"]],
    [`${below}/watched/configmaps/one?fieldSelector=metadata.name%3Done`, ["ADDED one"]],
    [`${below}/watched/configmaps/one?labelSelector=a`, []],
    [`${below}/watched/configmaps/none`, []],
    [`${below}/watched/configmaps/one%2Ctwo%3D`, []],
    [`${below}/watched`, ["ADDED watched"]],
    ["/apis/apps/v1/watch/deployments", []],
  ])("%s sends the events of its objects, whatever the watch parameter is", async (path, expected) => {
    const shown = await Promise.all([
      told(path),
      told(`${path}${path.includes("?") ? "&" : "?"}watch=false`),
    ]);
    expect(shown).toEqual([expected, expected]);
  });

  test("resumes from a resourceVersion", async () => {
    const { resourceVersion } = (await ok(server.admin.get(maps))).body.metadata;
    const watching = await server.admin.watch(
      `${below}/watched/configmaps/two?resourceVersion=${resourceVersion}`,
    );
    await ok(server.admin.patch(`${maps}/one`, { data: { a: "1" } }));
    await ok(server.admin.patch(`${maps}/two`, { data: { a: "1" } }));
    expect(await watching.next()).toMatchObject({ type: "MODIFIED", object: { metadata: { name: "two" } } });
    watching.close();
  });

  test.each(["metadata.name%3Dtwo", "metadata.name!%3Done", "metadata.namespace%3Dwatched"])(
    "of one object is 400 with the field selector %s, which isn't for exactly this object",
    async (selector) => {
      const answer = await server.admin.get(`${below}/watched/configmaps/one?fieldSelector=${selector}`);
      expect([answer.status, answer.body.reason]).toEqual([400, "BadRequest"]);
    },
  );

  test.each([
    "/api/v1/watch",
    "/api/v1/watch/componentstatuses",
    "/api/v1/watch/configmaps/one",
    `${below}/watched/pods/p/status`,
    "/apis/authorization.platform.io/v1/watch/subjectaccessreviews",
  ])("%s is 404", async (path) => {
    expect((await server.admin.get(path)).status).toBe(404);
  });

  test("needs the watch permission, which may be for one name", async () => {
    const rule = { verbs: ["watch"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"] };
    await grant(server.admin, "watcher", [rule]);
    await grant(server.admin, "reader", [
      { verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"] },
    ]);
    const statuses = async (user: string) =>
      Promise.all(
        ["one", "two"].map(async (name) => {
          const path = `${below}/watched/configmaps/${name}?timeoutSeconds=1`;
          return (await server.as(user).get(path)).status;
        }),
      );
    expect([await statuses("watcher"), await statuses("reader")]).toEqual([
      [200, 403],
      [403, 403],
    ]);
  });
});
