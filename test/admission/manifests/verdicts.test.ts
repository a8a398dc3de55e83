import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../../support/api.ts";
import { Judge, readScenarios } from "../../support/scenarios.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { TestWebhook } from "../webhooks/support.ts";
import { startVerdictWebhook, valuesOf } from "../webhooks/verdict-webhook.ts";
import { writeVerdictFiles } from "./verdict-files.ts";

const release = "1.37";

describe(`the verdicts of kube-apiserver ${release} with policies and webhooks in files`, () => {
  const folder = temporaryFolder();
  let webhook: TestWebhook;
  let server: TestServer;
  let judge: Judge;

  beforeAll(async () => {
    webhook = await startVerdictWebhook();
    server = await TestServer.start({
      release,
      vocabulary: "kubernetes",
      featureGates: "ManifestBasedAdmissionControlConfig=true",
      admissionConfigurationFile: writeVerdictFiles(folder.path, webhook),
      enabledControllers: [],
      disabledAdmissionPlugins: ["ServiceAccount"],
    });
    judge = new Judge(server, release, valuesOf(webhook));
  });
  afterAll(async () => {
    await server.close();
    await webhook.close();
    folder.remove();
  });

  test.each(readScenarios(new URL("verdicts.yaml", import.meta.url)))("$name", async (scenario) => {
    expect(await judge.differences(scenario)).toEqual([]);
  });
});
