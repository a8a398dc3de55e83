import { expect, test } from "vitest";
import { WorkQueue } from "../../src/controllers/work-queue.ts";
import { MetricSet } from "../../src/http/metrics/metric-set.ts";
import { queueMetrics, QueueMetrics } from "../../src/http/metrics/queue-metrics.ts";
import { ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { metricsText } from "../support/metrics-text.ts";
import { nodeClient, outcome, requestObject, requestsPath } from "./certificate-support.ts";

test("a work queue reports added, started, retried, finished and dropped keys to its observer", async () => {
  const clock = new ManualClock();
  const told: string[] = [];
  const observer = {
    added: () => told.push("added"),
    started: (seconds: number) => told.push(`taken after ${seconds}`),
    done: (seconds: number) => told.push(`done in ${seconds}`),
    retried: () => told.push("retried"),
    dropped: (count: number) => told.push(`dropped ${count}`),
  };
  let failures = 1;
  const work = async () => {
    clock.advanceAtOnce(500);
    if (failures-- > 0) throw new Error("once");
  };
  const queue = new WorkQueue(clock, work, () => undefined, observer);
  queue.add("a");
  queue.add("a");
  await clock.advance(0);
  expect(told.splice(0)).toEqual(["added", "taken after 0", "retried", "done in 0.5"]);
  await clock.advance(20);
  expect(told.splice(0)).toEqual(["added", "taken after 0", "done in 0.5"]);
  queue.add("a");
  queue.add("b");
  await queue.close();
  expect(told.slice(0, 3)).toEqual(["added", "added", "dropped 2"]);
});

test("the metrics unfinished_work and longest_running_processor count running work only", async () => {
  const clock = new ManualClock();
  const metrics = new MetricSet(queueMetrics, { release: "1.26", showHiddenFor: "", warn: () => undefined });
  const queues = new QueueMetrics(metrics, clock);
  const ends: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => ends.push(resolve));
  const queueOf = (name: string) => new WorkQueue(clock, work, () => undefined, queues.observer(name));
  const [one, two] = [queueOf("same"), queueOf("same")];
  const shown = async () => {
    const text = await metricsText(metrics);
    return ["unfinished_work", "longest_running_processor"].map((name) =>
      Number(new RegExp(`^workqueue_${name}_seconds\\{name="same"\\} (\\S+)$`, "m").exec(text)?.[1]),
    );
  };
  expect(await shown()).toEqual([0, 0]);
  one.add("a");
  await clock.advance(0);
  await clock.advance(2000);
  two.add("b");
  await clock.advance(0);
  await clock.advance(1000);
  expect(await shown()).toEqual([4, 3]);
  ends[0]!();
  await clock.advance(0);
  expect(await shown()).toEqual([1, 1]);
  ends[1]!();
  await clock.advance(5000);
  expect(await shown()).toEqual([0, 0]);
});

test("/metrics contains the work queues of the controllers under the reference's metric names", async () => {
  const server = await TestServer.start();
  try {
    const object = requestObject(nodeClient);
    await ok(server.admin.post(requestsPath, object));
    await outcome(server.admin, `${requestsPath}/${object.metadata.name}`);
    const { text } = await server.admin.get("/metrics");
    const value = (name: string) =>
      Number(new RegExp(`^${name}\\{name="csrsigning"\\} (\\S+)$`, "m").exec(text)?.[1]);
    expect(value("workqueue_adds_total")).toBeGreaterThanOrEqual(2);
    expect(value("workqueue_depth")).toBeLessThanOrEqual(1);
    expect(value("workqueue_queue_duration_seconds_count")).toBeGreaterThanOrEqual(2);
    expect(value("workqueue_work_duration_seconds_count")).toBeGreaterThanOrEqual(1);
    expect(value("workqueue_retries_total")).toBe(0);
    const names = [...text.matchAll(/^workqueue_adds_total\{name="([^"]+)"\}/gm)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(["clusterrole-aggregation", "csrapproving", "csrcleaner"]));
    expect(names).toEqual(
      expect.arrayContaining(["resourcequota_primary", "priority_and_fairness_config_queue"]),
    );
  } finally {
    await server.close();
  }
});
