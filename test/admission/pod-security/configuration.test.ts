import { describe, expect, test } from "vitest";
import { readPodSecurity } from "../../../src/admission/plugins/pod-security/configuration.ts";
import { textOf } from "../../../src/admission/plugins/pod-security/levels.ts";
import { decodeConfiguration } from "../../../src/schema/configuration.ts";
import { kubernetes } from "../../../src/vocabulary/kubernetes.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { parse } from "yaml";
import { blockOf } from "../../support/pages.ts";

const group = "pod-security.admission.config.platform.io";
const configured = (members: object, version = "v1") => ({
  kind: "PodSecurityConfiguration",
  apiVersion: `${group}/${version}`,
  ...members,
});
const read = (value: unknown, vocabulary = platform) =>
  readPodSecurity(
    { read: async (form) => decodeConfiguration(value, form), readPlain: async () => value },
    vocabulary,
  );

describe("the configuration of PodSecurity", () => {
  test("without one, everything is allowed and nothing is exempt", async () => {
    const { value } = await readPodSecurity(undefined, platform);
    expect(Object.values(value.defaults).map(textOf)).toEqual(Array(3).fill("privileged:latest"));
    expect(Object.values(value.exemptions).map(({ size }) => size)).toEqual([0, 0, 0]);
    expect(await read(configured({}))).toEqual({ value, warnings: [] });
  });

  test.each(["v1", "v1beta1", "v1alpha1"])("%s has defaults and exemptions", async (version) => {
    const { value } = await read(
      configured(
        {
          defaults: {
            enforce: "baseline",
            "enforce-version": "v1.24",
            audit: "restricted",
            "warn-version": "v1.3",
          },
          exemptions: { usernames: ["ana"], namespaces: ["a", "b"], runtimeClasses: ["sand.box"] },
        },
        version,
      ),
    );
    const { enforce, audit, warn } = value.defaults;
    expect([enforce, audit, warn].map(textOf)).toEqual([
      "baseline:v1.24",
      "restricted:latest",
      "privileged:v1.3",
    ]);
    expect(value.exemptions).toEqual({
      usernames: new Set(["ana"]),
      namespaces: new Set(["a", "b"]),
      runtimeClasses: new Set(["sand.box"]),
    });
  });

  test("the group is the vocabulary's", async () => {
    const theirs = { ...configured({}), apiVersion: "pod-security.admission.config.k8s.io/v1" };
    await read(theirs, kubernetes);
    await expect(read(theirs)).rejects.toThrow(`expected "PodSecurityConfiguration" of "${group}/v1"`);
  });

  test("every error is reported with its field path", async () => {
    const wrong = configured({
      defaults: { enforce: "strict", "warn-version": "1.2" },
      exemptions: { usernames: ["", "ana", "ana"], namespaces: ["a/b"], runtimeClasses: ["A"] },
    });
    const error = await read(wrong).then(undefined, (failure: Error) => failure);
    expect(error).toMatchObject({ name: "ConfigurationError" });
    expect((error as Error).message.split("; ")).toEqual([
      'defaults.enforce: Invalid value: "strict": must be one of privileged, baseline, restricted',
      'defaults.warn-version: Invalid value: "1.2": must be "latest" or "v1.x"',
      expect.stringMatching(/^exemptions\.namespaces\[0\]: Invalid value: "a\/b": /),
      expect.stringMatching(/^exemptions\.runtimeClasses\[0\]: Invalid value: "A": /),
      'exemptions.usernames[0]: Invalid value: "": username must not be empty',
      'exemptions.usernames[2]: Duplicate value: "ana"',
    ]);
  });

  test("the example of docs/pod-security.md is one", async () => {
    const { value, warnings } = await read(parse(blockOf("docs/pod-security.md", "yaml pod-security")));
    expect(warnings).toEqual([]);
    expect(textOf(value.defaults.enforce)).toBe("baseline:latest");
  });
});
