import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer, type Answer } from "../support/api.ts";

const rbac = "/apis/rbac.authorization.platform.io/v1";
const rule = (resource: string) => ({ apiGroups: [""], resources: [resource], verbs: ["get"] });

describe("controllers of the server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  /** Repeats the request until the response is as expected; the test's timeout ends the wait. */
  async function eventually(ask: () => Promise<Answer>, holds: (answer: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const answer = await ask();
      if (holds(answer)) return answer;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  const resourcesOf = ({ body }: Answer): string[] =>
    (body.rules ?? []).flatMap(({ resources }: { resources: string[] }) => resources);
  const role = (name: string) => () => server.admin.get(`${rbac}/clusterroles/${name}`);

  it("A-2.4-11 A-2.4-13 an aggregated role has the rules of every role that any of its selectors matches", async () => {
    const part = (name: string, labels: Record<string, string>, resource: string) =>
      server.admin.post(`${rbac}/clusterroles`, { metadata: { name, labels }, rules: [rule(resource)] });
    await part("part-b", { team: "b" }, "secrets");
    await part("part-a", { team: "a" }, "configmaps");
    await part("part-c", { team: "c" }, "pods");
    const made = await server.admin.post(`${rbac}/clusterroles`, {
      metadata: { name: "whole" },
      aggregationRule: {
        clusterRoleSelectors: [
          { matchLabels: { team: "a" } },
          { matchExpressions: [{ key: "team", operator: "In", values: ["b", "z"] }] },
        ],
      },
    });
    expect(made.status).toBe(201);
    await eventually(role("whole"), (answer) => resourcesOf(answer).join() === "configmaps,secrets");
    await part("part-z", { team: "z" }, "services");
    await eventually(role("whole"), (answer) => resourcesOf(answer).join() === "configmaps,secrets,services");
    await server.admin.delete(`${rbac}/clusterroles/part-b`);
    await eventually(role("whole"), (answer) => resourcesOf(answer).join() === "configmaps,services");
  });

  it("A-2.4-12 a rule that is written into an aggregated role is removed", async () => {
    const { body } = await role("whole")();
    await server.admin.patch(`${rbac}/clusterroles/whole`, { rules: [...body.rules, rule("nodes")] });
    const { body: mended } = await eventually(
      role("whole"),
      (answer) => !resourcesOf(answer).includes("nodes"),
    );
    expect(mended.rules).toEqual(body.rules);
  });

  it("C-3.1-04 deleting a namespace deletes the namespaced resources in it, then the namespace", async () => {
    await server.admin.post("/api/v1/namespaces", { metadata: { name: "doomed" } });
    const inside = "/api/v1/namespaces/doomed";
    const paths = [
      `${inside}/configmaps`,
      `${inside}/secrets`,
      `${inside}/serviceaccounts`,
      `${rbac}/namespaces/doomed/roles`,
    ];
    for (const path of paths)
      expect((await server.admin.post(path, { metadata: { name: "x" } })).status).toBe(201);
    expect((await server.admin.delete("/api/v1/namespaces/doomed")).status).toBe(200);
    await eventually(
      () => server.admin.get("/api/v1/namespaces/doomed"),
      (answer) => answer.status === 404,
    );
    for (const path of paths) expect((await server.admin.get(`${path}/x`)).status).toBe(404);
  });

  it("C-5-01 users are not objects: no resource of the API lists or creates them", async () => {
    const { body: groups } = await server.admin.get("/apis");
    const versions = groups.groups.map(
      ({ preferredVersion }: { preferredVersion: { groupVersion: string } }) =>
        `/apis/${preferredVersion.groupVersion}`,
    );
    for (const path of ["/api/v1", ...versions]) {
      const { body } = await server.admin.get(path);
      const names = body.resources.map(({ name }: { name: string }) => name);
      expect(names.filter((name: string) => /^(users|groups)$/.test(name))).toEqual([]);
    }
    expect((await server.admin.get("/api/v1/users")).status).toBe(404);
  });

  it("C-5-02 service accounts are namespaced objects", async () => {
    const made = await server.admin.post("/api/v1/namespaces/default/serviceaccounts", {
      metadata: { name: "robot" },
    });
    expect(made.body.metadata.namespace).toBe("default");
    expect((await server.admin.post("/api/v1/serviceaccounts", { metadata: { name: "robot" } })).status).toBe(
      405,
    );
  });
});
