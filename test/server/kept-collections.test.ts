import { expect, test } from "vitest";
import { parseDurationInDays } from "../../src/base/time/duration.ts";
import { serverOptionsOf } from "../../src/server/options/library-options.ts";
import { keptCollections } from "../../src/server/start/kept-collections.ts";
import { optionsOfFlags } from "../support/serve-options.ts";

const dayMs = 24 * 60 * 60_000;
const keptBy = (...keptHistory: readonly string[]) => keptCollections(serverOptionsOf({ keptHistory }));

test("--history-retention sets the retention time and the kept history, which the library sets apart", async () => {
  const options = await optionsOfFlags(
    "--history-retention=1h,configmaps=30d:2GiB",
    "--history-retention=deployments.apps=90d",
  );
  expect(options).toMatchObject({
    retentionMs: 3_600_000,
    keptHistory: ["configmaps=30d:2GiB", "deployments.apps=90d"],
  });
  expect(await optionsOfFlags("--history-retention=7d")).toMatchObject({
    retentionMs: 7 * dayMs,
    keptHistory: [],
  });
  expect(await optionsOfFlags("--history-retention=*=7d")).toMatchObject({
    retentionMs: 300_000,
    keptHistory: ["*=7d"],
  });
  expect(keptCollections(options)!.collections).toEqual(
    new Map([
      ["/core/configmaps/", { ms: 30 * dayMs, bytes: 2 * 2 ** 30 }],
      ["/apps/deployments/", { ms: 90 * dayMs }],
    ]),
  );
});

test.each([
  ["--history-retention=5m,1h", "--history-retention: 5m and 1h are both given"],
  ["--history-retention=soon", '--history-retention: "soon" is not a length of time such as 30s, 5m or 30d'],
  ["--history-retention=1d-2h", '--history-retention: "1d-2h" is not a length of time'],
])("%s is refused with the reason", async (flag, message) => {
  await expect(optionsOfFlags(flag)).rejects.toThrow(message);
});

test("nothing is kept without a rule", () => {
  expect(keptBy()).toBeUndefined();
});

test("a rule for * keeps all other stored resources, also custom ones, but not events and leases", () => {
  const kept = keptBy("*=7d", "configmaps=30d", "leases=1h")!;
  expect(kept.retentionOf("/core/configmaps/")).toEqual({ ms: 30 * dayMs });
  expect(kept.retentionOf("/core/secrets/")).toEqual({ ms: 7 * dayMs });
  expect(kept.retentionOf("/example.com/widgets/")).toEqual({ ms: 7 * dayMs });
  expect(kept.retentionOf("/coordination.platform.io/leases/")).toEqual({ ms: 3_600_000 });
  expect(kept.custom).toEqual({ ms: 7 * dayMs });
  for (const prefix of kept.collections.keys()) expect(prefix).not.toMatch(/events|leasecandidates/);
  for (const internal of ["service-claims", "quota-turns", "console-logins", "events"])
    expect(kept.retentionOf(`/core/${internal}/`)).toBeUndefined();
});

test("a rule for a custom resource keeps it alone", () => {
  const kept = keptBy("widgets.example.com=1d:512MiB")!;
  expect(kept.retentionOf("/example.com/widgets/")).toEqual({ ms: dayMs, bytes: 512 * 2 ** 20 });
  expect(kept.retentionOf("/example.com/gadgets/")).toBeUndefined();
  expect(kept.custom).toBeUndefined();
});

test.each([
  ["configmaps", '"configmaps" is not RESOURCE[.GROUP]=DURATION[:SIZE]'],
  ["configmaps=", '"configmaps=" is not RESOURCE[.GROUP]=DURATION[:SIZE]'],
  ["configmaps=soon", '"configmaps=soon" is not RESOURCE[.GROUP]=DURATION[:SIZE]'],
  ["configmaps=-1d", '"configmaps=-1d" is not RESOURCE[.GROUP]=DURATION[:SIZE]'],
  ["configmaps=1m", '"configmaps=1m" keeps less than the retention time of all resources, 300s'],
  ["configmaps=40000d", 'the duration of "configmaps=40000d" is longer than 36500d'],
  ["configmaps=1d:2", 'the size of "configmaps=1d:2" is not a size such as 512MiB or 2GiB'],
  ["configmaps=1d:2GB", 'the size of "configmaps=1d:2GB" is not a size such as 512MiB or 2GiB'],
  ["configmaps=1d:512KiB", 'the size of "configmaps=1d:512KiB" is less than 1MiB'],
  ["configmap=1d", 'no resource is named "configmap"; did you mean configmaps?'],
  ["deployment.apps=1d", '"deployment.apps"; did you mean deployments.apps?'],
  ["tokenreviews=1d", 'no resource is named "tokenreviews"'],
])("the rule %s is refused with the reason", (rule, message) => {
  expect(() => keptBy(rule)).toThrow(message);
});

test.each([
  ["configmaps=1d", "configmaps=2d", "configmaps is given twice"],
  ["events=1d", "events.events.platform.io=2d", "events.events.platform.io is given twice"],
  ["*=1d", "*=2d", "* is given twice"],
])("the rules %s and %s are refused, because they are for the same resources", (one, other, message) => {
  expect(() => keptBy(one, other)).toThrow(`--history-retention: ${message}`);
});

test.each([
  ["30d", 30n * 86_400n],
  ["1d12h", 129_600n],
  ["90s", 90n],
])("the duration %s has %d seconds", (text, seconds) => {
  expect(parseDurationInDays(text)).toBe(seconds * 1_000_000_000n);
});

test.each(["d", "1d2", "1d-2h", "1d+2h", "1d 2h", "-1d", "1.5d", "999999d", "2h1d"])(
  "the duration %j is invalid",
  (text) => {
    expect(parseDurationInDays(text)).toBeUndefined();
  },
);
