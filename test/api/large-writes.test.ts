import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer, Api, TestServer } from "../support/api.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";
import { grant, ok, startWithUsers } from "./support.ts";

const namespace = "/api/v1/namespaces/default";
let server: TestServer;
let large: Api;
let quiet: Api;

beforeAll(async () => {
  server = await startWithUsers([{ name: "large" }, { name: "quiet" }]);
  const resources = ["pods", "configmaps"];
  await grant(server.admin, "large", [{ verbs: ["*"], apiGroups: [""], resources }]);
  await grant(server.admin, "quiet", [{ verbs: ["get"], apiGroups: [""], resources }]);
  large = server.as("large");
  quiet = server.as("quiet");
  await ok(server.admin.post(`${namespace}/configmaps`, { metadata: { name: "small" } }));
  const keys = Array.from({ length: 40_000 }, (_, index) => [`key-${index}`, ""]);
  const big = { metadata: { name: "big" }, data: Object.fromEntries(keys) };
  await ok(large.post(`${namespace}/configmaps`, big));
});
afterAll(() => server.close());

const pod = (name: string, containers: number) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    containers: Array.from({ length: containers }, (_, index) => ({
      name: `container-${index}`,
      image: "registry/image:1",
    })),
  },
});

/** Monitors the event loop. @returns a function that stops it and returns the longest turn in milliseconds of processor time. */
function longestTurn(): () => number {
  let most = 0;
  let done = false;
  let stopwatch = cpuStopwatch();
  const turn = () => {
    most = Math.max(most, stopwatch());
    stopwatch = cpuStopwatch();
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    done = true;
    return most;
  };
}

/** Sends concurrent writes; meanwhile another user reads an object repeatedly. */
async function beside(count: number, send: (index: number) => Promise<Answer>) {
  const longest = longestTurn();
  let isWriting = true;
  const writes = Promise.all(Array.from({ length: count }, (_, index) => send(index))).finally(() => {
    isWriting = false;
  });
  let gets = 0;
  while (isWriting) {
    await ok(quiet.get(`${namespace}/configmaps/small`));
    gets++;
  }
  const statuses = [...new Set((await writes).map(({ status }) => status))];
  return { gets, turnMs: longest(), statuses };
}

/** A write of this size takes more than a second in one event loop turn. */
const mostTurnMs = 600;

describe("large writes of one user at the same time as reads of another user", () => {
  const apply = (name: string, containers: number) =>
    large.ask("PATCH", `${namespace}/pods/${name}?fieldManager=test`, {
      body: pod(name, containers),
      contentType: "application/apply-patch+yaml",
    });

  test.each([
    ["applies", 413, (index: number) => apply(`apply-${index}`, 40_000)],
    ["creates", 413, (index: number) => large.post(`${namespace}/pods`, pod(`create-${index}`, 40_000))],
    ["applies that are stored", 201, (index: number) => apply(`stored-${index}`, 6000)],
    [
      "small patches of a large object",
      200,
      (index: number) =>
        large.patch(`${namespace}/configmaps/big`, { metadata: { annotations: { patch: `${index}` } } }),
    ],
  ])("%s don't block the event loop beyond the limit", async (_what, status, send) => {
    const writes = 4;
    const { gets, turnMs, statuses } = await beside(writes, send);
    expect(statuses).toEqual([status]);
    expect(turnMs).toBeLessThan(mostTurnMs);
    expect(gets).toBeGreaterThan(writes);
  });

  test("an object that is too large with its defaults is 413 before field ownership is computed", async () => {
    const answer = await apply("too-large", 30_000);
    expect(answer.body).toMatchObject({ code: 413, message: "the object is larger than 3145728 bytes" });
  });
});
