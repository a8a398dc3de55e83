import { expect, it } from "vitest";
import type { MetricDefinition } from "../../src/http/metrics/metric-definition.ts";
import type { OtherProcesses } from "../../src/base/other-processes.ts";
import { MetricSet } from "../../src/http/metrics/metric-set.ts";
import { metricsText } from "../support/metrics-text.ts";

const base = { help: "Help.", stability: "ALPHA" } as const;
const definitions: readonly MetricDefinition[] = [
  { ...base, name: "requests_total", type: "counter", labels: ["path", "code"] },
  { ...base, name: "seconds", type: "histogram", labels: ["path"], buckets: [0.5, 2] },
  { ...base, name: "waits", type: "histogram", labels: [], buckets: [1] },
  { ...base, name: "oldest", type: "gauge", labels: [], combined: "min" },
  { ...base, name: "newest", type: "gauge", labels: [], combined: "max", help: "Two\nlines, \\." },
];

function created(): MetricSet {
  return new MetricSet(definitions, { release: "1.26", showHiddenFor: "", warn: () => undefined });
}

function countAll(metrics: MetricSet, times: number): void {
  for (let count = 0; count < times; count++) {
    metrics.sample("requests_total", "/a", "200").inc();
    metrics.sample("seconds", "/a").observe(count);
  }
  metrics.sample("oldest").set(times);
  metrics.sample("newest").set(times);
}

it("the text has the head of each metric, escaped labels, and cumulative buckets", async () => {
  const metrics = created();
  countAll(metrics, 4);
  metrics.sample("requests_total", 'a"b\\c\nd', "404").inc(2);
  metrics.sample("oldest").set(Number.POSITIVE_INFINITY);
  expect(await metricsText(metrics)).toBe(`# HELP requests_total [ALPHA] Help.
# TYPE requests_total counter
requests_total{path="/a",code="200"} 4
requests_total{path="a\\"b\\\\c\\nd",code="404"} 2
# HELP seconds [ALPHA] Help.
# TYPE seconds histogram
seconds_bucket{le="0.5",path="/a"} 1
seconds_bucket{le="2",path="/a"} 3
seconds_bucket{le="+Inf",path="/a"} 4
seconds_sum{path="/a"} 6
seconds_count{path="/a"} 4
# HELP waits [ALPHA] Help.
# TYPE waits histogram
waits_bucket{le="1"} 0
waits_bucket{le="+Inf"} 0
waits_sum 0
waits_count 0
# HELP oldest [ALPHA] Help.
# TYPE oldest gauge
oldest +Inf
# HELP newest [ALPHA] Two\\nlines, \\\\.
# TYPE newest gauge
newest 4
`);
});

it("the metrics of several processes are added, or their maximum or minimum is taken", async () => {
  const [one, two, three] = [created(), created(), created()];
  for (const [index, metrics] of [one, two, three].entries()) countAll(metrics, index + 2);
  three.sample("requests_total", "/only", "200").inc(7);
  const others: OtherProcesses = {
    share: () => undefined,
    collect: async <T>() =>
      JSON.parse(JSON.stringify([await two.values(), await three.values()])) as readonly T[],
  };
  const lines = (await metricsText(one, others)).split("\n").filter((line) => !line.startsWith("#"));
  expect(lines).toEqual([
    'requests_total{path="/a",code="200"} 9',
    'requests_total{path="/only",code="200"} 7',
    'seconds_bucket{le="0.5",path="/a"} 3',
    'seconds_bucket{le="2",path="/a"} 8',
    'seconds_bucket{le="+Inf",path="/a"} 9',
    'seconds_sum{path="/a"} 10',
    'seconds_count{path="/a"} 9',
    'waits_bucket{le="1"} 0',
    'waits_bucket{le="+Inf"} 0',
    "waits_sum 0",
    "waits_count 0",
    "oldest 2",
    "newest 4",
    "",
  ]);
});

it("many samples are several pieces, also if the metric is reset between two of them", async () => {
  const metrics = created();
  for (let path = 0; path < 5000; path++) metrics.sample("seconds", `/${path}`).observe(1);
  const lengths: number[] = [];
  let text = "";
  for await (const piece of metrics.pieces()) {
    metrics.reset("seconds");
    metrics.sample("seconds", "/new").observe(1);
    lengths.push(piece.length);
    text += piece.toString();
  }
  expect(lengths.length).toBeGreaterThan(5);
  expect(Math.max(...lengths)).toBeLessThan(70_000);
  const counts = text.split("\n").filter((line) => line.startsWith("seconds_count"));
  expect(counts).toEqual(Array.from({ length: 5000 }, (_, path) => `seconds_count{path="/${path}"} 1`));
});

it("clearing sets what counts since the start to zero, and keeps samples and current states", async () => {
  const record = { ...base, name: "requested", type: "gauge", labels: [], isRecord: true } as const;
  const metrics = new MetricSet([...definitions, record], {
    release: "1.26",
    showHiddenFor: "",
    warn: () => undefined,
  });
  countAll(metrics, 4);
  metrics.sample("requested").set(1);
  const held = metrics.sample("requests_total", "/a", "200");
  metrics.clear();
  held.inc();
  const lines = (await metricsText(metrics)).split("\n").filter((line) => !line.startsWith("#"));
  expect(lines).toEqual([
    'requests_total{path="/a",code="200"} 1',
    'seconds_bucket{le="0.5",path="/a"} 0',
    'seconds_bucket{le="2",path="/a"} 0',
    'seconds_bucket{le="+Inf",path="/a"} 0',
    'seconds_sum{path="/a"} 0',
    'seconds_count{path="/a"} 0',
    'waits_bucket{le="1"} 0',
    'waits_bucket{le="+Inf"} 0',
    "waits_sum 0",
    "waits_count 0",
    "oldest 4",
    "newest 4",
    "requested 0",
    "",
  ]);
});

it.each([
  ["1.36", 1],
  ["1.35", 0],
])("a metric of release 1.36 in %s has %i samples", async (release, count) => {
  const later = { ...base, name: "later_total", type: "counter", labels: [], since: "1.36" } as const;
  const metrics = new MetricSet([later], { release, showHiddenFor: "", warn: () => undefined });
  metrics.sample("later_total").inc();
  expect((await metricsText(metrics)).match(/^later_total 1$/gm) ?? []).toHaveLength(count);
});
