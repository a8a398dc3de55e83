import { describe, expect, it } from "vitest";
import { Deployment } from "../../src/kinds/apps/deployment.ts";
import { ReplicaSet } from "../../src/kinds/apps/replica-set.ts";
import { StatefulSet } from "../../src/kinds/apps/stateful-set.ts";
import { ReplicationController } from "../../src/kinds/core/replication-controller.ts";
import type { Kind, ViewSubresource } from "../../src/schema/kind.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { template, type Part } from "./pod-support.ts";
import { readAs } from "./support.ts";
import { smallest, withPods } from "./apps-support.ts";

describe("scale subresource", () => {
  const expressions = {
    matchLabels: { b: "2" },
    matchExpressions: [
      { key: "a", operator: "In", values: ["y", "x"] },
      { key: "c", operator: "DoesNotExist" },
    ],
  };
  it.each<[kind: Kind, spec: Part, selector: string]>([
    [Deployment, { ...smallest, selector: expressions }, "a in (x,y),b=2,!c"],
    [ReplicaSet, smallest, "app=web"],
    [StatefulSet, smallest, "app=web"],
    [ReplicationController, { template, selector: { b: "2", a: "1" } }, "a=1,b=2"],
  ])("reads and writes the replicas of a $name", (kind, spec, text) => {
    const scale = kind.subresources["scale"] as ViewSubresource;
    const object = readAs(kind, { spec: { ...spec, replicas: 3 }, status: { replicas: 2 } });
    expect(scale.read(object)).toEqual({ spec: { replicas: 3 }, status: { replicas: 2, selector: text } });
    scale.write(object, { apiVersion: "", kind: "", metadata: {}, spec: { replicas: 7 } });
    expect(object).toMatchObject({ spec: { replicas: 7 } });
    scale.write(object, { apiVersion: "", kind: "", metadata: {}, spec: {} });
    expect(object).toMatchObject({ spec: { replicas: 0 } });
    expect(scale.read(object)).toMatchObject({ spec: {} });
  });
});

describe("warnings for the pod template of a Deployment", () => {
  const context = { vocabulary: platform, enabled: () => false, subresource: "" };
  const given = withPods({ nodeSelector: { "beta.platform.io/os": "linux" } });
  const at = (generation: number) => readAs(Deployment, { metadata: { name: "one", generation }, ...given });
  it.each([
    ["are returned on create", undefined, 1],
    ["are returned when the generation changes", at(1), 1],
    ["are not returned when the generation is unchanged", at(2), 0],
  ])("%s", (_title, live, count) => {
    const warnings = Deployment.warnings!(at(2), context, live);
    expect(warnings.map((text) => text.slice(0, text.indexOf(": ")))).toEqual(
      Array.from({ length: count }, () => "spec.template.spec.nodeSelector[beta.platform.io/os]"),
    );
  });
});
