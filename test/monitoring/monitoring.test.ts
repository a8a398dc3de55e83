import { execFileSync, spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { metricDefinitions } from "../../src/http/metrics/definitions.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { decodeYaml } from "../../src/base/yaml/yaml.ts";
import { filesBelow, read } from "../tidy/source-files.ts";
import { TestServer } from "../support/api.ts";
import { parseExpression } from "./expressions.ts";

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: { readonly runbook_url: string };
}
interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const folder = "deploy/monitoring";
const { groups } = (await decodeYaml(Buffer.from(read(`${folder}/plinth.rules.yaml`)))).value as unknown as {
  groups: { rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const { panels } = JSON.parse(read(`${folder}/plinth.dashboard.json`)) as Dashboard;
const expressions = [
  ...rules.map(({ alert, record, expr }) => [alert ?? record!, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [`panel ${title}`, expr] as const)),
];
const records = new Set(rules.flatMap(({ record }) => record ?? []));

test.each([
  ["platform", platform],
  ["kubernetes", kubernetes],
] as const)(
  "every metric and label of rules and dashboard is in /metrics of a %s server",
  async (name, words) => {
    const server = await TestServer.start({ vocabulary: name, release: "1.37" });
    const { text } = await server.admin.get("/metrics");
    await server.close();
    const types = new Map(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, metric, type]) => [metric!, type!]),
    );
    const labels = new Map(
      metricDefinitions(words).map((one) => [one.name, one.labels as readonly string[]]),
    );
    const faults: string[] = [];
    for (const [place, expr] of expressions) {
      const { selectors, groups: grouping } = parseExpression(expr);
      expect(selectors.length, place).toBeGreaterThan(0);
      for (const { name: pattern, labels: used, call, hasRange } of selectors) {
        if (records.has(pattern)) continue;
        const whole = new RegExp(`^(?:${pattern})$`);
        const base = pattern.replace(/_(?:bucket|sum|count)$/, "");
        const isPart = types.get(base) === "histogram";
        const metric = isPart ? base : [...types.keys()].find((one) => whole.test(one));
        if (metric === undefined) {
          faults.push(`${place}: there is no metric ${pattern}`);
          continue;
        }
        const isCounter = isPart || types.get(metric) === "counter";
        const counts = hasRange && ["rate", "increase"].includes(call);
        if (isCounter !== counts)
          faults.push(`${place}: ${pattern} is a ${types.get(metric)}, used in ${call}`);
        const valid = new Set([...labels.get(metric)!, "instance", "job", ...(isPart ? ["le"] : [])]);
        for (const label of [...used, ...grouping])
          if (!valid.has(label)) faults.push(`${place}: ${metric} has no label ${label}`);
      }
    }
    expect(faults).toEqual([]);
  },
);

test("every alert names its runbook page, and every page is that of an alert", () => {
  const pages = alerts.map(({ alert }) => `docs/runbooks/${alert}.md`);
  expect(alerts.map(({ annotations }) => annotations?.runbook_url)).toEqual(pages);
  expect(filesBelow("docs/runbooks").toSorted()).toEqual(pages.toSorted());
  for (const page of pages) {
    const text = read(page);
    for (const heading of ["## Meaning", "## Look at", "## What to do"])
      expect(text, page).toContain(heading);
  }
});

const program = process.env["PLINTH_PROMTOOL"] ?? "promtool";
const hasPromtool = spawnSync(program, ["--version"]).status === 0;

test.runIf(hasPromtool)("promtool accepts the rules, and their unit tests pass", () => {
  const promtool = (...args: string[]) => execFileSync(program, args, { encoding: "utf8" });
  expect(promtool("check", "rules", `${folder}/plinth.rules.yaml`)).toContain("SUCCESS");
  for (const tests of ["plinth.rules.test.yaml", "plinth.rules.days.test.yaml"])
    promtool("test", "rules", `${folder}/${tests}`);
});
