import { expect, test } from "vitest";
import { LabelledCounts, PodSecurityCounters } from "../../../src/admission/plugins/pod-security/counters.ts";
import { latest, type LevelVersion } from "../../../src/admission/plugins/pod-security/levels.ts";
import { Deployment } from "../../../src/kinds/apps/deployment.ts";
import { Pod } from "../../../src/kinds/core/pod/pod.ts";

/** The counted attributes of a request. */
function request(operation: "CREATE" | "UPDATE", kind: typeof Pod | typeof Deployment, subresource = "") {
  return { operation, target: { resource: { stored: { kind } }, subresource } } as unknown as Parameters<
    PodSecurityCounters["exempted"]
  >[0];
}

const created = request("CREATE", Pod);

/** The counts above 0, as lines of labels and value. */
function linesOf(counts: LabelledCounts): string[] {
  return [...counts.all()]
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => `${labels.join(" ")}: ${value}`)
    .toSorted();
}

test.each<readonly [LevelVersion, string]>([
  [{ level: "baseline", minor: latest }, "latest"],
  [{ level: "baseline", minor: 25 }, "v1.25"],
  [{ level: "restricted", minor: 26 }, "v1.26"],
  [{ level: "restricted", minor: 27 }, "future"],
  [{ level: "restricted", minor: 99 }, "future"],
  [{ level: "privileged", minor: 25 }, "latest"],
])("evaluations for %j are counted with the version %s", (level, version) => {
  const counters = new PodSecurityCounters();
  counters.evaluated("deny", level, "audit", created);
  expect(linesOf(counters.evaluations)).toEqual([`deny ${level.level} ${version} audit create pod : 1`]);
});

test("requests are counted by operation, resource and subresource", () => {
  const counters = new PodSecurityCounters();
  const updated = request("UPDATE", Pod, "ephemeralcontainers");
  for (const one of [created, updated, request("CREATE", Deployment)]) {
    counters.exempted(one);
    counters.failed(one !== created, one);
  }
  counters.exempted(created);
  expect(linesOf(counters.exemptions)).toEqual([
    "create controller : 1",
    "create pod : 2",
    "update pod ephemeralcontainers: 1",
  ]);
  expect(linesOf(counters.errors)).toEqual([
    "false create pod : 1",
    "true create controller : 1",
    "true update pod ephemeralcontainers: 1",
  ]);
});

test("pods in privileged namespaces are counted by operation", () => {
  const counters = new PodSecurityCounters();
  counters.passed(created);
  counters.passed(request("UPDATE", Pod));
  counters.passed(request("UPDATE", Pod));
  expect(linesOf(counters.evaluations)).toEqual([
    "allow privileged latest enforce create pod : 1",
    "allow privileged latest enforce update pod : 2",
  ]);
});

test("counts with other labels are separate, also when the labels have the same letters", () => {
  const counts = new LabelledCounts();
  counts.of("a", "bc").value++;
  counts.of("ab", "c").value++;
  counts.of("a", "bc").value++;
  expect(linesOf(counts)).toEqual(["a bc: 2", "ab c: 1"]);
});
