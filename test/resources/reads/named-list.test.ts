import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../../support/api.ts";
import { ManualClock, RBAC, configMap, namesIn, namespace, ok, podReader, role } from "../../api/support.ts";

const path = "/api/v1/namespaces/default/configmaps";
let server: TestServer;
let clock: ManualClock;
let before: string;
beforeAll(async () => {
  clock = new ManualClock();
  server = await TestServer.start({ clock });
  await ok(server.admin.post(path, configMap("a")));
  before = (await ok(server.admin.post(path, configMap("b", { v: "old" })))).body.metadata.resourceVersion;
  await ok(server.admin.patch(`${path}/b`, { data: { v: "new" } }));
  await ok(server.admin.post(path, configMap("c", {}, { labels: { l: "1" } })));
});
afterAll(() => server.close());

const list = (query: string, at = path) => server.admin.get(`${at}?${query}`);

describe("a list that is limited to one name", () => {
  test("contains that object at the latest resource version", async () => {
    const all = await ok(list(""));
    const answer = await ok(list("fieldSelector=metadata.name%3Db"));
    expect(namesIn(answer)).toEqual(["b"]);
    expect(answer.body.metadata).toEqual(all.body.metadata);
    expect(answer.body.items[0].data).toEqual({ v: "new" });
  });

  test("has no continue token", async () => {
    const answer = await ok(list("fieldSelector=metadata.name%3Da&limit=1"));
    expect(namesIn(answer)).toEqual(["a"]);
    expect(answer.body.metadata.continue).toBeUndefined();
  });

  test("is empty when another condition fails or the object does not exist", async () => {
    expect(namesIn(await ok(list("fieldSelector=metadata.name%3Da,metadata.name%3Db")))).toEqual([]);
    expect(namesIn(await ok(list("fieldSelector=metadata.name%3Da&labelSelector=l%3D1")))).toEqual([]);
    expect(namesIn(await ok(list("fieldSelector=metadata.name%3Dzz")))).toEqual([]);
    expect(namesIn(await ok(list("fieldSelector=metadata.name%3Da/b")))).toEqual([]);
    expect(namesIn(await ok(list("fieldSelector=metadata.name%3D")))).toEqual([]);
  });

  test("reads at an exact resource version", async () => {
    const query = `fieldSelector=metadata.name%3Db&resourceVersion=${before}&resourceVersionMatch=Exact`;
    const answer = await ok(list(query));
    expect(answer.body.items[0].data).toEqual({ v: "old" });
    expect(answer.body.metadata.resourceVersion).toBe(before);
  });

  test("continues from a token of another list", async () => {
    const { body } = await ok(list("limit=2"));
    const next = (name: string) =>
      list(
        `limit=2&fieldSelector=metadata.name%3D${name}&continue=${encodeURIComponent(body.metadata.continue)}`,
      );
    expect(namesIn(await ok(next("a")))).toEqual([]);
    expect(namesIn(await ok(next("c")))).toEqual(["c"]);
  });

  test("finds objects in all namespaces and in cluster scope", async () => {
    await ok(server.admin.post("/api/v1/namespaces", namespace("other")));
    await ok(server.admin.post("/api/v1/namespaces/other/configmaps", configMap("b")));
    const all = await ok(list("fieldSelector=metadata.name%3Db", "/api/v1/configmaps"));
    expect(namesIn(all)).toEqual(["b", "b"]);
    const spaces = await ok(list("fieldSelector=metadata.name%3Dother", "/api/v1/namespaces"));
    expect(namesIn(spaces)).toEqual(["other"]);
  });
});

describe("a new object", () => {
  test("has no resource version in a dry run", async () => {
    const { body, status } = await server.admin.post(`${path}?dryRun=All`, configMap("dry"));
    expect(status).toBe(201);
    expect(body.metadata.name).toBe("dry");
    expect(body.metadata).not.toHaveProperty("resourceVersion");
  });

  test("is rejected by a dry run too when it is too large", async () => {
    // Small enough for a body, but the server adds to it.
    const sized = (name: string, size: number) =>
      role(name, [{ ...podReader, resourceNames: ["x".repeat(size)] }]);
    const roles = `${RBAC}/namespaces/default/roles`;
    const size = 3 * 1024 * 1024 - JSON.stringify(sized("big", 0)).length;
    await ok(server.admin.post(roles, sized("old", 1)));
    const answers = [
      await server.admin.post(roles, sized("big", size)),
      await server.admin.post(`${roles}?dryRun=All`, sized("big", size)),
      await server.admin.put(`${roles}/old?dryRun=All`, sized("old", size)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413]);
    const fits = await server.admin.post(`${roles}?dryRun=All`, sized("big", size - 4096));
    expect(fits.status).toBe(201);
  });

  test("with a name and an invalid generateName is rejected", async () => {
    const bad = await server.admin.post(path, configMap("good", {}, { generateName: "Not/Good" }));
    expect([bad.status, bad.body.details.causes[0].field]).toEqual([422, "metadata.generateName"]);
    await ok(server.admin.post(path, configMap("good", {}, { generateName: "good-" })));
  });
});
