import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { Judge, readScenarios } from "../support/scenarios.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startVerdictWebhooks, type VerdictWebhooks } from "./verdict-webhooks.ts";

const release = "1.37";

describe(`the verdicts of kube-apiserver ${release} with several authorization webhooks`, () => {
  const folder = temporaryFolder();
  let webhooks: VerdictWebhooks;
  let server: TestServer;
  let judge: Judge;

  beforeAll(async () => {
    webhooks = await startVerdictWebhooks(folder.path, "apiserver.config.k8s.io");
    server = await TestServer.start({
      release,
      vocabulary: "kubernetes",
      authorizationConfigFile: webhooks.configFile,
      enabledControllers: [],
      users: [{ name: "alice" }],
    });
    judge = new Judge(server, release);
  });
  afterAll(async () => {
    await server.close();
    await webhooks.service.close();
    folder.remove();
  });

  test.each(readScenarios(new URL("verdicts/webhooks.yaml", import.meta.url)))("$name", async (scenario) => {
    expect(await judge.differences(scenario)).toEqual([]);
  });
});
