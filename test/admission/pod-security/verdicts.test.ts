import { beforeAll, describe, expect, test } from "vitest";
import type { Release } from "../../../src/base/releases.ts";
import { Judge, readScenarios } from "../../support/scenarios.ts";
import { useServer } from "../../support/use-server.ts";
import { changedPods, createSpaces, recordedVerdicts, verdictOf } from "./verdict-pods.ts";

describe.each<Release>(["1.26", "1.37"])("the verdicts of kube-apiserver %s with PodSecurity", (release) => {
  const server = useServer({
    release,
    vocabulary: "kubernetes",
    allowPrivileged: true,
    enabledControllers: [],
    disabledAdmissionPlugins: ["ServiceAccount"],
  });
  beforeAll(() => createSpaces(server.admin));

  test.each(Object.entries(recordedVerdicts(release)))("%s", async (check, recorded) => {
    const verdicts = Object.entries(changedPods[check]!).map(
      async ([name, changes]) => [name, await verdictOf(server.admin, changes, recorded[name]!)] as const,
    );
    expect(Object.fromEntries(await Promise.all(verdicts))).toEqual(recorded);
  });

  const judge = new Judge(server, release);
  test.each(readScenarios(new URL("verdicts/workloads.yaml", import.meta.url)))("$name", async (scenario) => {
    expect(await judge.differences(scenario)).toEqual([]);
  });
});
