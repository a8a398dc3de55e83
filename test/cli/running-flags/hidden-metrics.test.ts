import { afterAll, beforeAll, expect, test } from "vitest";
import { queueMetrics } from "../../../src/http/metrics/queue-metrics.ts";
import type { MetricDefinition } from "../../../src/http/metrics/metric-definition.ts";
import { optionsOfFlags } from "../../support/serve-options.ts";
import { startServer } from "../../../src/server/server.ts";
import { Api } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A part of the metrics of every server. */
const definitions = queueMetrics as MetricDefinition[];

/** This release hides no metric of its own yet: one that it would hide, and one that it has deprecated. */
const further: readonly MetricDefinition[] = [
  ["old_total", "1.23"],
  ["ageing_total", "1.25"],
].map(([name = "", since = ""]) => ({
  name,
  help: "Something.",
  type: "counter",
  stability: "STABLE",
  labels: [],
  deprecated: { introduced: "1.10", since },
}));

beforeAll(() => {
  definitions.push(...further);
});

afterAll(() => {
  definitions.splice(-further.length);
});

test.each([
  ["--show-hidden-metrics-for-version=1.25", ["ageing_total", "old_total"]],
  ["--show-hidden-metrics-for-version=", ["ageing_total"]],
] as const)(
  "C-9.2-19 C-9.2-20 C-9.2-21 a server with %s shows the deprecated metrics %j, and logs a warning for each",
  async (flag, names) => {
    const folder = temporaryFolder();
    const words = ["--secure-port=0", "--storage-backend=memory", `--data-dir=${folder.path}`, flag];
    const options = await optionsOfFlags(...words);
    const warnings: string[] = [];
    const log = {
      info: () => undefined,
      warn: (_facts: object, message: string) => void warnings.push(message),
      error: () => undefined,
    };
    const server = await startServer({ ...options, log });
    const api = new Api(server.url!, server.caCertificate, `Bearer ${server.adminToken}`);
    const { text } = await api.get("/metrics");
    api.close();
    await server.close();
    folder.remove();
    const helps = text.split("\n").filter((line) => line.includes("(Deprecated from "));
    expect(helps.toSorted()).toEqual(
      names.map((name) => {
        const { deprecated } = further.find((one) => one.name === name)!;
        return `# HELP ${name} (Deprecated from ${deprecated!.since}) [STABLE] Something.`;
      }),
    );
    expect(warnings.filter((one) => one.startsWith("the metric ")).toSorted()).toEqual(
      names.map((name) => {
        const { deprecated } = further.find((one) => one.name === name)!;
        return `the metric ${name} is deprecated since ${deprecated!.since}`;
      }),
    );
  },
);
