import { describe, expect, test } from "vitest";
import { namespace, ok, until } from "../../api/support.ts";
import { useServer } from "../../support/use-server.ts";
import { at, pod, quota, quotasIn } from "./resource-quota-support.ts";

const deadline = { spec: { activeDeadlineSeconds: 5000 } };

describe.each(["1.32", "1.33"] as const)(
  "an update that brings a pod into another scope, release %s",
  (release) => {
    const server = useServer({ release, enabledControllers: ["resourcequota"] });
    const isCharged = release === "1.33";

    async function withQuotas(name: string, hard: object): Promise<string> {
      await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
      await ok(server.admin.post(at(name, "serviceaccounts"), { metadata: { name: "default" } }));
      await ok(server.admin.post(quotasIn(name), quota("terminating", hard, { scopes: ["Terminating"] })));
      await ok(
        server.admin.post(quotasIn(name), quota("other", { pods: "5" }, { scopes: ["NotTerminating"] })),
      );
      return at(name, "pods");
    }

    test("is rejected when the quota of the scope is used up", async () => {
      const pods = await withQuotas("full", { "count/pods": "1" });
      for (const name of ["a", "b"]) await ok(server.admin.post(pods, pod(name)));
      await ok(server.admin.patch(`${pods}/a`, deadline));
      const { status, body } = await server.admin.patch(`${pods}/b`, deadline);
      expect(status).toBe(isCharged ? 403 : 200);
      if (isCharged)
        expect(body.message).toContain(
          "exceeded quota: terminating, requested: count/pods=1, used: count/pods=1",
        );
      const used = async () =>
        (await ok(server.admin.get(`${quotasIn("full")}/terminating`))).body.status?.used?.["count/pods"];
      await until(used, (count) => count === (isCharged ? "1" : "2"));
    });

    test("is charged with the whole usage of the pod", async () => {
      const pods = await withQuotas("large", { "requests.cpu": "1" });
      await ok(server.admin.post(pods, pod("a", { requests: { cpu: "600m" } })));
      await ok(server.admin.post(pods, pod("b", { requests: { cpu: "600m" } })));
      const results = await Promise.all(
        ["a", "b"].map((name) => server.admin.patch(`${pods}/${name}`, deadline)),
      );
      expect(results.map(({ status }) => status).toSorted()).toEqual(isCharged ? [200, 403] : [200, 200]);
    });

    test("other updates of a pod in a full quota are not charged", async () => {
      const pods = await withQuotas("kept", { pods: "1" });
      await ok(server.admin.post(pods, { ...pod("a"), spec: { ...pod("a").spec, ...deadline.spec } }));
      await ok(server.admin.patch(`${pods}/a`, { metadata: { labels: { a: "b" } } }));
      await ok(server.admin.patch(`${pods}/a`, { spec: { activeDeadlineSeconds: 4000 } }));
    });
  },
);
