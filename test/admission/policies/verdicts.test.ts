import { describe, expect, test } from "vitest";
import { Judge, readScenarios } from "../../support/scenarios.ts";
import { useServer } from "../../support/use-server.ts";

const release = "1.37";

describe.each(["verdicts.yaml", "mutating-verdicts.yaml"])(
  `the verdicts of kube-apiserver ${release} in %s`,
  (file) => {
    const server = useServer({
      release,
      vocabulary: "kubernetes",
      enabledControllers: [],
      disabledAdmissionPlugins: ["ServiceAccount"],
    });
    const judge = new Judge(server, release);

    test.each(readScenarios(new URL(file, import.meta.url)))("$name", async (scenario) => {
      expect(await judge.differences(scenario)).toEqual([]);
    });
  },
);
