import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Release } from "../../src/base/releases.ts";
import { StatefulSet } from "../../src/kinds/apps/stateful-set.ts";
import { Deployment } from "../../src/kinds/apps/deployment.ts";
import { ReplicaSet } from "../../src/kinds/apps/replica-set.ts";
import { CronJob } from "../../src/kinds/batch/cron-job.ts";
import { Job } from "../../src/kinds/batch/job.ts";
import { ReplicationController } from "../../src/kinds/core/replication-controller.ts";
import { PersistentVolume } from "../../src/kinds/core/persistent-volume.ts";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { Secret } from "../../src/kinds/core/secret.ts";
import { Service } from "../../src/kinds/core/service/service.ts";
import { CSIDriver } from "../../src/kinds/storage/csi-driver.ts";
import { kindInRelease } from "../../src/schema/kind-in-release.ts";
import type { Kind } from "../../src/schema/kind.ts";
import { readAs, warningsOf } from "./support.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const pod = (spec: object): object => ({ spec: { containers: [{ name: "c", image: "i" }], ...spec } });
const withPorts = (...ports: readonly object[]): object =>
  pod({ containers: [{ name: "c", image: "i", ports }] });
const withEnv = (...env: readonly object[]): object => pod({ containers: [{ name: "c", image: "i", env }] });
const port = (members: object = {}): object => ({ containerPort: 80, protocol: "TCP", ...members });
const service = (spec: object): object => ({ spec: { type: "ClusterIP", sessionAffinity: "None", ...spec } });
const prefers = (value: string): object => ({
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: "a", operator: "In", values: [value] }] } },
      ],
    },
  },
});
const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
  type: "pkcs8",
  format: "pem",
});

/** A new object, the first release that warns of it, and what the warning begins with. */
const cases: readonly (readonly [Kind, object, Release, RegExp])[] = [
  [StatefulSet, { spec: { revisionHistoryLimit: -1 } }, "1.33", /^spec\.revisionHistoryLimit: a negative/],
  [
    Pod,
    withPorts(port({ hostIP: "10.0.0.1" })),
    "1.28",
    /^spec\.containers\[0\]\.ports\[0\]: hostIP set without/,
  ],
  [Pod, withPorts(port(), port({ name: "web" })), "1.28", /ports\[1\]: duplicate port .*ports\[0\]$/],
  [Pod, withPorts(port(), port({ hostPort: 80 })), "1.28", /ports\[1\]: overlapping port .*ports\[0\]$/],
  [
    Pod,
    withPorts(port({ hostPort: 80 }), port({ hostPort: 80, hostIP: "10.0.0.1" })),
    "1.28",
    /ports\[1\]: dangerously ambiguous port/,
  ],
  [Pod, withEnv({ name: "A", value: "1" }, { name: "A", value: "$(A)" }), "1.26", /env\[1\]/],
  [
    Pod,
    pod({
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "DoNotSchedule" }],
    }),
    "1.28",
    /^spec\.topologySpreadConstraints\[0\]\.labelSelector: a null/,
  ],
  [
    Pod,
    pod({
      affinity: {
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "z" }] },
      },
    }),
    "1.28",
    /podAntiAffinity\.requiredDuringSchedulingIgnoredDuringExecution\[0\]\.labelSelector: a null/,
  ],
  [
    Pod,
    pod({ volumes: [{ name: "v", rbd: { monitors: ["m"], image: "i" } }] }),
    "1.28",
    /volumes\[0\]\.rbd: dep/,
  ],
  [
    Pod,
    withPorts(port({ name: "web" }), port({ containerPort: 81, name: "web" })),
    "1.33",
    /ports\[1\]: duplicate port name "web"/,
  ],
  [Pod, pod(prefers("not ok")), "1.33", /preference\.matchExpressions\[0\]\.values\[0\]: /],
  [
    Pod,
    pod({ hostAliases: [{ ip: "2001:DB8::1", hostnames: ["a"] }] }),
    "1.33",
    /^spec\.hostAliases\[0\]\.ip: .*"2001:db8::1"/,
  ],
  [
    PersistentVolume,
    { spec: { cephfs: { monitors: ["m"] } } },
    "1.28",
    /^spec\.cephfs: deprecated in v1\.28/,
  ],
  [Service, service({ externalIPs: ["2001:DB8::1"] }), "1.27", /^spec\.externalIPs\[0\]: .*"2001:db8::1"/],
  [Service, service({ loadBalancerIP: "::ffff:1.2.3.4" }), "1.27", /^spec\.loadBalancerIP: non-standard/],
  [
    Service,
    service({ loadBalancerSourceRanges: ["2001:DB8::/32"] }),
    "1.27",
    /^spec\.loadBalancerSourceRanges\[0\]: .*"2001:db8::\/32"/,
  ],
  [Service, service({ externalName: "a" }), "1.28", /^spec\.externalName is ignored/],
  [
    Service,
    service({ clusterIP: "None", loadBalancerIP: "1.2.3.4" }),
    "1.34",
    /^spec\.loadBalancerIP is ignored/,
  ],
  [Service, service({ trafficDistribution: "PreferClose" }), "1.35", /^spec\.trafficDistribution: /],
  [Service, service({ externalIPs: ["1.2.3.4"] }), "1.36", /^spec\.externalIPs is deprecated/],
  [
    Secret,
    { type: "platform.io/tls", data: { "tls.crt": "", "tls.key": Buffer.from(key).toString("base64") } },
    "1.27",
    /^tls: /,
  ],
];

describe("warnings of later releases", () => {
  it.each(cases.map((one) => [`${one[0].name}: ${one[3].source}`, ...one] as const))(
    "%s",
    (_name, kind, value, since, expected) => {
      const warnings = (release: Release): readonly string[] =>
        warningsOf(kindInRelease(kind, release), value, { release }).filter((text) => expected.test(text));
      if (since !== "1.26") expect(warnings(`1.${Number(since.slice(2)) - 1}` as Release)).toEqual([]);
      expect(warnings(since)).toHaveLength(1);
      expect(warnings("1.37")).toHaveLength(1);
    },
  );

  it("a template has a negative grace period from 1.27 on; a pod has a second instead from 1.37 on", () => {
    const negative = pod({ terminationGracePeriodSeconds: -1 });
    const template = { spec: { selector: { matchLabels: { a: "b" } }, template: negative } };
    const warnings = (kind: Kind, value: object, release: Release): number =>
      warningsOf(kind, value, { release }).filter((text) => text.includes("must be >= 0")).length;
    expect(warnings(Pod, negative, "1.26")).toBe(0);
    expect(warnings(Pod, negative, "1.27")).toBe(1);
    expect(warnings(Pod, negative, "1.37")).toBe(0);
    expect(warnings(Deployment, template, "1.37")).toBe(1);
    expect(readAs(Pod, negative, { release: "1.36" })).toHaveProperty(
      "spec.terminationGracePeriodSeconds",
      -1,
    );
    expect(readAs(Pod, negative, { release: "1.37" })).toHaveProperty(
      "spec.terminationGracePeriodSeconds",
      1,
    );
  });

  it("a variable that uses the one that it hides has no warning from 1.28 on", () => {
    const extended = withEnv({ name: "A", value: "1" }, { name: "A", value: "$(A)2" });
    expect(warningsOf(Pod, extended, { release: "1.27" })).toHaveLength(1);
    expect(warningsOf(Pod, extended, { release: "1.28" })).toEqual([]);
  });

  it("tens of thousands of definitions of one port are compared in linear time", () => {
    const many = withPorts(
      ...Array.from({ length: 30_000 }, () => port({ hostPort: 80, hostIP: "10.0.0.1" })),
    );
    const usedMs = cpuStopwatch();
    expect(warningsOf(Pod, many, { release: "1.37" }).length).toBeLessThan(200_000);
    expect(usedMs()).toBeLessThan(20_000);
  });

  it.each([Pod, Deployment, ReplicaSet, Job, CronJob, ReplicationController])(
    "$name: a new name that is not a DNS label has a warning from 1.27 on",
    (kind) => {
      const warnings = (name: string, release: Release, live?: object): readonly string[] =>
        warningsOf(kind, { metadata: { name } }, { release }, live).filter((text) =>
          text.startsWith("metadata.name: this is used in"),
        );
      expect(warnings("a.b", "1.26")).toEqual([]);
      expect(warnings("a.b", "1.27")).toHaveLength(1);
      expect(warnings("ab", "1.37")).toEqual([]);
      expect(warnings("a.b", "1.37", { metadata: { name: "a.b" } })).toEqual([]);
    },
  );

  it("an AppArmor annotation without a field for the same profile has a warning", () => {
    const key = "container.apparmor.security.beta.platform.io/c";
    const warnings = (annotation: string, gates: readonly string[], securityContext?: object) =>
      warningsOf(
        kindInRelease(Pod, "1.30"),
        { metadata: { name: "a", annotations: { [key]: annotation } }, ...pod({ securityContext }) },
        { release: "1.30", gates },
      );
    const gates = ["AppArmorFields"];
    expect(warnings("unconfined", [])).toEqual([]);
    expect(warnings("unconfined", gates)).toEqual([
      `metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    ]);
    const local = { appArmorProfile: { type: "Localhost", localhostProfile: "p" } };
    expect(warnings("localhost/p", gates, local)).toEqual([]);
    expect(warnings("unconfined", gates, local)).toHaveLength(1);
  });

  it("a driver is warned of tokens only when it asks for other ones", () => {
    const driver = { spec: { tokenRequests: [{ audience: "vault" }] } };
    const options = { release: "1.37", gates: ["CSIServiceAccountTokenSecrets"] } as const;
    expect(warningsOf(CSIDriver, driver, options)).toHaveLength(1);
    expect(warningsOf(CSIDriver, driver, options, driver)).toEqual([]);
    expect(warningsOf(CSIDriver, driver, { release: "1.37" })).toEqual([]);
  });
});
