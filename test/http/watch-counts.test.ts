import { describe, expect, test } from "vitest";
import { WatchCounts } from "../../src/http/limits/fair-limiter.ts";
import { readFacts, type ResourceFacts } from "../../src/http/request/facts.ts";

const facts = (method: string, path: string) => readFacts(method, path) as ResourceFacts;
const inDefault = "/api/v1/namespaces/default/configmaps";

/** Counts with watches of these paths, each with the name that it selects by. */
function watched(...watches: readonly (readonly [path: string, name?: string])[]) {
  const counts = new WatchCounts();
  const ends = watches.map(([path, name]) =>
    counts.add(facts("GET", `${path}${path.includes("?") ? "&" : "?"}watch=1`), { name }),
  );
  return { counts, ends };
}

describe("the number of watchers of a change", () => {
  const { counts, ends } = watched(
    ["/api/v1/configmaps"],
    [inDefault],
    [inDefault],
    [`${inDefault}?labelSelector=a%3Db`],
    [`${inDefault}?fieldSelector=metadata.name%3Done`, "one"],
    ["/api/v1/namespaces/other/configmaps"],
    ["/api/v1/nodes"],
    ["/api/v1/nodes?fieldSelector=metadata.name%3Dn1", "n1"],
    ["/apis/apps/v1/deployments"],
    ["/api/v1/pods"],
    ["/api/v1/pods?fieldSelector=spec.nodeName%3D"],
    ["/api/v1/pods?fieldSelector=spec.nodeName%3Dn1"],
  );
  test.each([
    ["POST", inDefault, 4],
    ["PUT", `${inDefault}/one`, 5],
    ["PATCH", `${inDefault}/two`, 4],
    ["DELETE", "/api/v1/namespaces/other/configmaps/one", 2],
    ["POST", "/api/v1/namespaces/third/configmaps", 1],
    ["POST", "/api/v1/namespaces/default/secrets", 0],
    ["POST", "/api/v1/nodes", 1],
    ["PUT", "/api/v1/nodes/n1", 2],
    ["PUT", "/api/v1/nodes/n1/status", 2],
    ["POST", "/apis/apps/v1/namespaces/default/deployments", 1],
    ["POST", "/apis/example.com/v1/namespaces/default/deployments", 0],
    ["POST", "/api/v1/namespaces/default/pods", 2],
  ])("%s %s: %s", (method, path, count) => {
    expect(counts.interested(facts(method, path))).toBe(count);
  });

  test("is zero when all watches have ended", () => {
    for (const end of ends) end();
    for (const path of [inDefault, "/api/v1/nodes", "/api/v1/namespaces/default/pods"]) {
      expect(counts.interested(facts("PUT", `${path}/one`))).toBe(0);
    }
  });
});
