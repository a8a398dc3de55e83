import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Judge, readScenarios } from "../../support/scenarios.ts";
import { useServer } from "../../support/use-server.ts";
import { startVerdictWebhook, valuesOf } from "./verdict-webhook.ts";
import type { TestWebhook } from "./support.ts";

const release = "1.37";

describe(`the verdicts of kube-apiserver ${release} with webhooks`, () => {
  const server = useServer({
    release,
    vocabulary: "kubernetes",
    enabledControllers: [],
    disabledAdmissionPlugins: ["ServiceAccount"],
  });
  let webhook: TestWebhook;
  let judge: Judge;
  beforeAll(async () => {
    webhook = await startVerdictWebhook();
    judge = new Judge(server, release, valuesOf(webhook));
  });
  afterAll(() => webhook.close());

  test.each(readScenarios(new URL("verdicts.yaml", import.meta.url)))("$name", async (scenario) => {
    expect(await judge.differences(scenario)).toEqual([]);
  });
});
