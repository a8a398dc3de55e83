import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { ClientHttp2Stream } from "node:http2";
import { StatusError } from "../../src/base/status-error.ts";
import { BodyBudget, bodyBytesOfProcess } from "../../src/http/transport/body-budget.ts";
import { configMap, ok, startWithUsers, until } from "../api/support.ts";
import type { TestServer } from "../support/api.ts";
import { answerOf, http2Session } from "../robustness/support.ts";

it("bodies under way beyond a share or the budget are refused with 429, until others are done", () => {
  const reasons: string[] = [];
  const budget = new BodyBudget((reason) => reasons.push(reason), 800);
  const anna = budget.open({ caller: "anna", exempt: false });
  anna.arrived(300);
  anna.arrived(50);
  const refusal = (bytes: number): unknown => {
    try {
      anna.arrived(bytes);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  expect(refusal(1)).toBeInstanceOf(StatusError);
  expect(refusal(1)).toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } });
  expect(refusal(500)).toMatchObject({ code: 429, message: expect.not.stringContaining("user") as string });
  expect(reasons).toEqual(["caller", "caller", "server"]);
  anna.close();
  anna.close();
  anna.arrived(350);
});

it("processes that serve the same port share the budget, and each accepts the largest bodies", () => {
  const mebibytes = (processes: number) => bodyBytesOfProcess(processes) / 1024 ** 2;
  expect([1, 2, 4, 8, 64].map(mebibytes)).toEqual([256, 128, 64, 32, 32]);
});

describe("unfinished bodies of one user", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startWithUsers([{ name: "hog" }, { name: "quiet" }]);
    const role = {
      metadata: { name: "writers" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }],
    };
    const rbac = `/apis/rbac.authorization.platform.io/v1`;
    await ok(server.admin.post(`${rbac}/clusterroles`, role));
    const subjects = ["hog", "quiet"].map((name) => ({
      kind: "User",
      name,
      apiGroup: "rbac.authorization.platform.io",
    }));
    const roleRef = { kind: "ClusterRole", name: "writers", apiGroup: "rbac.authorization.platform.io" };
    await ok(
      server.admin.post(`${rbac}/clusterrolebindings`, { metadata: { name: "writers" }, subjects, roleRef }),
    );
  });
  afterAll(() => server.close());
  const path = "/api/v1/namespaces/default/configmaps";

  /** Begins POSTs of undeclared length, and leaves each without an end. */
  const beginBodies = (token: string, count: number, bytes: number): ClientHttp2Stream[] => {
    const session = http2Session(server);
    return Array.from({ length: count }, () => {
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
      });
      stream.on("error", () => undefined);
      stream.write(Buffer.alloc(bytes, 32));
      return stream;
    });
  };

  test("don't keep administrators and other users from writing, however many there are", async () => {
    const begun = beginBodies("hog", 200, 1000);
    const session = begun[0]!.session!;
    await until(
      async () => (await server.admin.get("/metrics")).text,
      (text) => Number(/inflight_requests\{request_kind="mutating"\} (\d+)/.exec(text)?.[1]) >= 20,
    );
    expect((await server.admin.post(path, configMap("by-admin"))).status).toBe(201);
    const { status } = await server.as("quiet").post(path, configMap("by-quiet"));
    session.destroy();
    expect(status).toBe(201);
  });

  test("are refused with 429 and a reason when their bytes are more than the user's share", async () => {
    const begun = Array.from({ length: 20 }, () => beginBodies("hog", 3, 2.9 * 1024 * 1024)).flat();
    const first = await Promise.any(
      begun.map(async (stream) => {
        const answer = await answerOf(stream);
        return answer.status === 429 ? answer : Promise.reject(new Error(`status ${answer.status}`));
      }),
    );
    expect(JSON.parse(first.text)).toMatchObject({
      reason: "TooManyRequests",
      message: "too many bytes of this user's request bodies are under way; please try again",
      details: { retryAfterSeconds: 1 },
    });
    expect((await server.as("quiet").post(path, configMap("meanwhile"))).status).toBe(201);
    const { text } = await server.admin.get("/metrics");
    expect(text).toMatch(/platform_request_bodies_refused_total\{reason="caller"\} [1-9]/);
    for (const { session } of begun) session?.destroy();
  });
});
