import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { isLater, type Release } from "../../src/base/releases.ts";
import { metricDefinitions } from "../../src/http/metrics/definitions.ts";
import type { MetricDefinition } from "../../src/http/metrics/metric-definition.ts";
import { hiddenFrom, MetricSet } from "../../src/http/metrics/metric-set.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { metricsText } from "../support/metrics-text.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

/** The samples of a metric by the text of their labels. */
function samplesOf(text: string, name: string): Record<string, number> {
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return Object.fromEntries(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(name.length, space), Number(line.slice(space + 1))];
    }),
  );
}

describe("/metrics", () => {
  let server: TestServer;
  const read = async () => (await server.admin.get("/metrics")).text;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  it("C-9.2-26 apiserver_request_total counts by request and response code", async () => {
    const labels = (verb: string, scope: string, code: number) =>
      `{verb="${verb}",dry_run="",group="",version="v1",resource="configmaps",subresource="",scope="${scope}",` +
      `component="apiserver",code="${code}"}`;
    await server.admin.post(configMaps, { metadata: { name: "one" } });
    await server.admin.get(`${configMaps}/one`);
    await server.admin.get(`${configMaps}/one`);
    await server.admin.get(`${configMaps}/none`);
    await server.admin.get(configMaps);
    await server.admin.get("/api/v1/configmaps");
    await server.admin.get(`${configMaps}?watch=true&timeoutSeconds=1`);
    expect(samplesOf(await read(), "apiserver_request_total")).toMatchObject({
      [labels("POST", "namespace", 201)]: 1,
      [labels("GET", "resource", 200)]: 2,
      [labels("GET", "resource", 404)]: 1,
      [labels("LIST", "namespace", 200)]: 1,
      [labels("LIST", "cluster", 200)]: 1,
      [labels("WATCH", "namespace", 200)]: 1,
    });
  });

  it("durations and sizes are histograms; a watch has neither", async () => {
    const text = await read();
    const about =
      'group="",version="v1",resource="configmaps",subresource="",scope="resource",component="apiserver"';
    const times = samplesOf(text, "apiserver_request_duration_seconds_count");
    expect(times[`{verb="GET",dry_run="",${about}}`]).toBe(3);
    expect(Object.keys(times).filter((labels) => labels.includes("WATCH"))).toEqual([]);
    const bytes = samplesOf(text, "apiserver_response_sizes_sum");
    expect(bytes[`{verb="GET",${about}}`]).toBeGreaterThan(300);
  });

  it("lists with a selector are counted by how they were evaluated", async () => {
    const of = async (what: string) => samplesOf(await read(), `platform_selector_${what}`);
    const before = await of("lists_total");
    await server.admin.get(`${configMaps}?labelSelector=app%3Dweb`);
    await server.admin.get(`${configMaps}?labelSelector=app!%3Dweb`);
    await server.admin.get(configMaps);
    expect(await of("lists_total")).toEqual({ ...before, '{by="scan"}': (before['{by="scan"}'] ?? 0) + 1 });
    expect(await of("indexes")).toEqual({ "": 0 });
    expect(await of("index_bytes")).toEqual({ "": 0 });
    expect(await of("indexes_too_large_total")).toEqual({ "": 0 });
  });

  it("dry runs have their own label", async () => {
    await server.admin.post(`${configMaps}?dryRun=All`, { metadata: { name: "dry" } });
    const samples = samplesOf(await read(), "apiserver_request_total");
    expect(Object.keys(samples).filter((labels) => labels.includes('dry_run="All"'))).toHaveLength(1);
  });

  it("a long-running request is counted until it ends", async () => {
    const watch = await server.admin.watch(configMaps);
    const running = async () =>
      Object.entries(samplesOf(await read(), "apiserver_longrunning_requests")).find(([labels]) =>
        labels.includes('resource="configmaps"'),
      )?.[1];
    expect(await running()).toBe(1);
    watch.close();
    await expect.poll(running).toBe(0);
    expect(samplesOf(await read(), "apiserver_current_inflight_requests")).toMatchObject({
      '{request_kind="readOnly"}': 1,
      '{request_kind="mutating"}': 0,
    });
  });

  it("watch events are counted", async () => {
    const before = samplesOf(await read(), "apiserver_watch_events_total");
    const labels = '{group="",version="v1",kind="ConfigMap"}';
    const watch = await server.admin.watch(`${configMaps}?resourceVersion=0`);
    await server.admin.post(configMaps, { metadata: { name: "seen" } });
    await expect
      .poll(async () => samplesOf(await read(), "apiserver_watch_events_total")[labels])
      .toBe((before[labels] ?? 0) + 1);
    watch.close();
  });

  it("apiserver_storage_objects shows the current number of objects", async () => {
    const before = samplesOf(await read(), "apiserver_storage_objects");
    await server.admin.post(configMaps, { metadata: { name: "more" } });
    const after = samplesOf(await read(), "apiserver_storage_objects");
    expect(after['{resource="configmaps"}']).toBe(before['{resource="configmaps"}']! + 1);
    expect(after['{resource="clusterroles.rbac.authorization.platform.io"}']).toBeGreaterThan(50);
  });

  it("an embedded store reports its size, its free space and the start of its history", async () => {
    const dir = mkdtempSync(join(tmpdir(), "plinth-metrics-"));
    const stored = await TestServer.start({ storage: { engine: "embedded", dir } });
    const { text } = await stored.admin.get("/metrics");
    await stored.close();
    rmSync(dir, { recursive: true });
    const sizeOf = (name: string) => samplesOf(text, `apiserver_storage_db_${name}_size_in_bytes`);
    const [total, free] = [sizeOf("total"), sizeOf("free")].map(
      (samples) => samples['{endpoint="embedded"}']!,
    );
    expect(total).toBeGreaterThan(100_000);
    expect(free).toBeLessThan(total!);
    const [floor, newest] = ["floor_revision", "revision"].map(
      (name) => samplesOf(text, `apiserver_storage_${name}`)[""]!,
    );
    expect(floor).toBeLessThan(newest!);
  });

  it("client-supplied names don't become labels", async () => {
    await server.admin.get("/made/up");
    await server.admin.get("/apis/made.up/v1/things");
    await server.admin.get(`${configMaps}/one/madeup`);
    expect(await read()).not.toMatch(/made\.?up/);
  });

  it("C-9.2-16 the help of every metric begins with ALPHA or STABLE", async () => {
    const helps = (await read()).split("\n").filter((line) => line.startsWith("# HELP"));
    expect(helps.length).toBeGreaterThan(10);
    expect(
      helps.filter((line) => !/^# HELP \S+ (\(Deprecated from \d+\.\d+\) )?\[(ALPHA|STABLE)\] /.test(line)),
    ).toEqual([]);
  });

  it("a user without permission gets 403", async () => {
    expect((await server.as(undefined).get("/metrics")).status).toBe(403);
  });
});

describe("the lifecycle of a metric", () => {
  const definition = (name: string, life: Partial<MetricDefinition> = {}): MetricDefinition => ({
    name,
    help: "Something.",
    type: "counter",
    stability: "STABLE",
    labels: [],
    ...life,
  });
  const made = (definitions: readonly MetricDefinition[], release = "1.26", showHiddenFor = "") => {
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const metrics = new MetricSet(definitions, { release, showHiddenFor, warn });
    for (const { name } of definitions) metrics.sample(name).inc();
    return { metrics, warnings };
  };
  /** The releases from 1.18 to 1.32 that show a metric. */
  async function shownIn(life: Partial<MetricDefinition>, showHidden = false): Promise<readonly string[]> {
    const shown: string[] = [];
    for (let minor = 18; minor <= 32; minor++) {
      const before = showHidden ? `1.${minor - 1}` : "";
      const text = await metricsText(made([definition("it", life)], `1.${minor}`, before).metrics);
      if (text.includes("\nit 1\n")) shown.push(`1.${minor}`);
    }
    return shown;
  }
  const upTo = (last: number) => Array.from({ length: last - 17 }, (_, index) => `1.${index + 18}`);

  test("C-9.2-18 C-9.2-19 a deprecated metric stays, is marked in its help, and is logged", async () => {
    const old = definition("old", { deprecated: { introduced: "1.10", since: "1.24" } });
    const next = definition("next", { deprecated: { introduced: "1.10", since: "1.27" } });
    const { metrics, warnings } = made([definition("kept"), old, next]);
    const text = await metricsText(metrics);
    expect(text).toContain("# HELP old (Deprecated from 1.24) [STABLE] Something.");
    expect(text).toContain("\nold 1\n");
    expect(text).toContain("# HELP kept [STABLE] Something.");
    expect(text).toContain("# HELP next [STABLE] Something.");
    expect(warnings).toEqual(["the metric old is deprecated since 1.24"]);
  });

  test("C-9.2-17 a deprecated stable metric is shown for three releases, and for at least four in all", async () => {
    expect(await shownIn({})).toEqual(upTo(32));
    expect(await shownIn({ deprecated: { introduced: "1.10", since: "1.23" } })).toEqual(upTo(25));
    expect(await shownIn({ deprecated: { introduced: "1.23", since: "1.23" } })).toEqual(upTo(26));
    expect(await shownIn({ deprecated: { introduced: "1.22", since: "1.23" } })).toEqual(upTo(25));
  });

  test("C-9.2-17 a deprecated alpha metric needs no minimum number of releases", async () => {
    const life = { stability: "ALPHA", deprecated: { introduced: "1.23", since: "1.23" } } as const;
    expect(await shownIn(life)).toEqual(upTo(25));
  });

  test("C-9.2-20 C-9.2-21 a metric deprecated three releases ago is hidden unless it is enabled, and then deleted", async () => {
    const life = { deprecated: { introduced: "1.10", since: "1.23" } };
    expect(await shownIn(life)).toEqual(upTo(25));
    expect(await shownIn(life, true)).toEqual(upTo(26));
  });

  test("C-9.2-17 C-9.2-20 this release has no metric that should be deleted, and hides none too early", () => {
    for (const one of metricDefinitions(platform)) {
      const hidden = hiddenFrom(one);
      expect(hidden === undefined || hidden === "1.26" || isLater(hidden, "1.26"), one.name).toBe(true);
    }
  });
});

describe.each<Release>(["1.26", "1.37"])("DELETE of the pages of metrics in release %s", (release) => {
  const server = useServer({
    release,
    ...(release === "1.26" && { featureGates: "ComponentSLIs=true" }),
    users: [{ name: "monitor", groups: ["system:monitoring"] }],
  });
  const count = async (path: string, name: string) =>
    Object.values(samplesOf((await server.admin.get(path)).text, name)).reduce((sum, one) => sum + one, 0);

  it("sets their counters to zero", async () => {
    const gets = async () =>
      samplesOf((await server.admin.get("/metrics")).text, "authenticated_user_requests");
    await server.admin.get(configMaps);
    await server.admin.get("/livez");
    expect(Object.values(await gets())[0]).toBeGreaterThan(1);
    const { status, text } = await server.admin.delete("/metrics");
    expect([status, text]).toEqual([200, "metrics reset\n"]);
    expect(Object.values(await gets())).toEqual([1]);
    expect(await count("/metrics/slis", "platform_healthchecks_total")).toBeGreaterThan(0);
    expect((await server.admin.delete("/metrics/slis")).text).toBe("metrics reset\n");
    expect(await count("/metrics/slis", "platform_healthchecks_total")).toBe(0);
  });

  it("needs the verb delete for the path", async () => {
    const { status, body } = await server.as("monitor").delete("/metrics");
    expect([status, body.message]).toEqual([403, expect.stringContaining('cannot delete path "/metrics"')]);
  });
});
