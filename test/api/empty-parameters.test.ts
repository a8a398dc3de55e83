import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { configMap, ok } from "./support.ts";

const maps = "/api/v1/namespaces/default/configmaps";

const server = useServer({});
beforeAll(async () => {
  await ok(server.admin.post(maps, configMap("x")));
});

/** The outcome of a list or watch: the status, and whether it is a stream of events. */
async function gist(path: string): Promise<readonly [number, "watch" | "list" | "object" | "failure"]> {
  const { status, text, body } = await server.admin.get(path);
  if (status !== 200) return [status, "failure"];
  if (text === "" || text.startsWith('{"type":')) return [status, "watch"];
  return [status, body.items === undefined ? "object" : "list"];
}

describe("query parameters without a value answer like the reference", () => {
  test.each([
    ["watch=&timeoutSeconds=1", 200, "watch"],
    ["watch&timeoutSeconds=1", 200, "watch"],
    ["watch=&watch=false&timeoutSeconds=1", 200, "watch"],
    ["watch=%20&timeoutSeconds=1", 200, "watch"],
    ["watch=1&allowWatchBookmarks=&resourceVersion=&timeoutSeconds=1", 200, "watch"],
    ["watch=1&timeoutSeconds=", 400, "failure"],
    ["watch=1&limit=", 400, "failure"],
    ["watch=1&limit=x", 400, "failure"],
    ["watch=1&limit=-1&timeoutSeconds=1", 200, "watch"],
    ["watch=0", 200, "list"],
    ["watch=FALSE", 200, "list"],
    ["limit=", 400, "failure"],
    ["limit", 400, "failure"],
    ["limit=&limit=1", 400, "failure"],
    ["limit=1&limit=", 200, "list"],
    ["timeoutSeconds=", 400, "failure"],
    ["continue=", 200, "list"],
    ["resourceVersion=", 200, "list"],
    ["resourceVersionMatch=", 200, "list"],
    ["labelSelector=", 200, "list"],
    ["fieldSelector=", 200, "list"],
    ["allowWatchBookmarks=", 200, "list"],
    ["pretty=", 200, "list"],
    ["timeout=", 200, "list"],
    ["&&", 200, "list"],
    ["=x", 200, "list"],
  ] as const)("a list with %s is %d %s", async (query, status, kind) => {
    expect(await gist(`${maps}?${query}`)).toEqual([status, kind]);
  });

  test.each([
    ["/version?timeout=invalid", 400],
    ["/apis?timeout=5", 400],
    ["/version?timeout=5s", 200],
    ["/version?timeout=", 200],
  ])("a request for %s is %d", async (path, status) => {
    expect((await server.admin.get(path)).status).toBe(status);
  });

  test.each([
    ["resourceVersion=", 200, "object"],
    ["pretty=", 200, "object"],
    ["watch=", 200, "object"],
    ["export=", 400, "failure"],
    ["export=true", 400, "failure"],
    ["export=false", 200, "object"],
  ] as const)("a get with %s is %d %s", async (query, status, kind) => {
    expect(await gist(`${maps}/x?${query}`)).toEqual([status, kind]);
  });

  test.each([
    ["gracePeriodSeconds=", 400],
    ["propagationPolicy=", 422],
    ["orphanDependents=", 200],
  ])("a delete with %s is %d", async (query, status) => {
    expect((await server.admin.delete(`${maps}/x?dryRun=All&${query}`)).status).toBe(status);
  });

  test.each(["follow=", "container=", "timestamps=", "tailLines=", "sinceSeconds=", "limitBytes="])(
    "a log with %s is 400 only for a number",
    async (query) => {
      const { status } = await server.admin.get(`/api/v1/namespaces/default/pods/x/log?${query}`);
      expect(status).toBe(/Lines|Seconds|Bytes/.test(query) ? 400 : 404);
    },
  );
});
