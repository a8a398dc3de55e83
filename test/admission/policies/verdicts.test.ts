import { describe, expect, test } from "vitest";
import { Judge, readScenarios } from "../../support/scenarios.ts";
import { useServer } from "../../support/use-server.ts";

const release = "1.37";

describe(`the verdicts of kube-apiserver ${release} with admission policies`, () => {
  const server = useServer({ release, vocabulary: "kubernetes", enabledControllers: [] });
  const judge = new Judge(server, release);

  test.each(readScenarios(new URL("verdicts.yaml", import.meta.url)))("$name", async (scenario) => {
    expect(await judge.differences(scenario)).toEqual([]);
  });
});
