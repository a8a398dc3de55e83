import { describe, expect, it } from "vitest";
import { StatefulSet } from "../../src/kinds/apps/stateful-set.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";
import { judgeNew, judgeUpdate } from "./support.ts";

const template = {
  metadata: { labels: { app: "x" } },
  spec: {
    containers: [{ name: "c", image: "i", terminationMessagePolicy: "File", imagePullPolicy: "Always" }],
  },
};
const set = (spec: object): object => ({
  spec: { selector: { matchLabels: { app: "x" } }, template, ...spec },
});
const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

describe("the pods of a stateful set, in releases from 1.34 on", () => {
  it("a stateful set whose pods are not valid can be changed, from 1.34 on as well", () => {
    const wrong = { ...template, spec: { containers: [] } };
    const faults = (before: object): readonly string[] =>
      judgeUpdate(StatefulSet, set({ template: before }), set({ template: wrong, replicas: 2 }), {
        release: "1.37",
      }).faults;
    expect(faults(wrong)).toEqual([]);
    expect(faults(template)).toEqual(["spec.template.spec.containers: FieldValueRequired"]);
  });

  it("the volumes of a stateful set's claims exist for its containers", () => {
    const mounted = {
      ...template,
      spec: {
        containers: [{ ...template.spec.containers[0], volumeMounts: [{ name: "data", mountPath: "/d" }] }],
      },
    };
    const faults = (claims: readonly object[]): readonly string[] =>
      judgeNew(StatefulSet, set({ template: mounted, volumeClaimTemplates: claims }), { release: "1.37" })
        .faults;
    expect(faults([claim])).toEqual([]);
    expect(faults([])).toEqual(["spec.template.spec.containers[0].volumeMounts[0].name: FieldValueNotFound"]);
  });

  it("the volumes of a stateful set and its claims are compared in linear time", () => {
    const indexes = Array.from({ length: 40_000 }, (_, index) => index);
    const volumes = indexes.map((index) => ({ name: `v${index}`, emptyDir: {} }));
    const claims = indexes.map((index) => ({ ...claim, metadata: { name: `c${index}` } }));
    const large = set({
      template: { ...template, spec: { ...template.spec, volumes } },
      volumeClaimTemplates: claims,
    });
    const usedMs = cpuStopwatch();
    expect(judgeNew(StatefulSet, large, { release: "1.37" }).faults).toEqual([]);
    expect(usedMs()).toBeLessThan(5000);
  });
});
