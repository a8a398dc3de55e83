import { describe, expect, it } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { lifeCycles } from "../../src/kinds/life-cycle-table.ts";
import type { LifeCycle } from "../../src/kinds/life-cycle.ts";
import { isLater } from "../../src/base/releases.ts";
import { deprecationWarning, lifeCycleOf } from "../../src/kinds/life-cycles.ts";
import { TestServer } from "../support/api.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { groupName } from "../../src/schema/kind.ts";
import { defaultRelease } from "../../src/base/releases.ts";

/** Conventions 9.2: the deprecation rules, tested on the table of life cycles. */
const release = defaultRelease;
const nameOf = ({ group, version, kind }: LifeCycle) => `${group.base}/${version} ${kind}`;
const rows = lifeCycles.map((cycle) => [nameOf(cycle), cycle] as const);
const minor = (text: string) => Number(text.split(".")[1]);
const levels = ["alpha", "beta", "stable"] as const;
const levelOf = (version: string) => levels.findIndex((level) => version.includes(level)) % 3;
const stability = (version: string) => (levelOf(version) === -1 ? 2 : levelOf(version));
const isServed = (cycle: LifeCycle, at: string) =>
  !isLater(cycle.introduced, at) && (cycle.removed === undefined || isLater(cycle.removed, at));

interface Groups {
  readonly groups: readonly {
    readonly name: string;
    readonly preferredVersion: { readonly version: string };
  }[];
}

describe("table of life cycles", () => {
  it("has at most one row for each kind and version", () => {
    expect(new Set(rows.map(([name]) => name)).size).toBe(lifeCycles.length);
  });

  it.each(rows)(
    "%s: is introduced, deprecated and removed in ascending releases",
    (_name, { introduced, deprecated, removed }) => {
      const order = [introduced, deprecated, removed].filter((one) => one !== undefined);
      for (const [index, one] of order.slice(1).entries()) expect(isLater(one, order[index]!)).toBe(true);
    },
  );

  it("C-9.2-01 the declared kinds are those that the table lists as served in the release", () => {
    const declared = new Set(
      builtInKinds.map(({ group, version, name }) => `${group.base}/${version} ${name}`),
    );
    const served = lifeCycles.filter((cycle) => isServed(cycle, release)).map(nameOf);
    expect(served.filter((name) => !declared.has(name))).toEqual([]);
    const known = new Set(served);
    expect([...declared].filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(rows.filter(([, { removed }]) => removed !== undefined && !isLater(removed, release)))(
    "%s: is removed, and no kind declares it",
    (_name, { group, version, kind }) => {
      expect(
        builtInKinds.filter(
          (one) => one.group.base === group.base && one.version === version && one.name === kind,
        ),
      ).toEqual([]);
    },
  );

  it.each(rows.filter(([, { version }]) => stability(version) === 2))(
    "C-9.2-01 stable %s is never removed",
    (_name, { removed }) => {
      expect(removed).toBeUndefined();
    },
  );
});

describe("deprecation rules", () => {
  const replaced = rows.filter(([, { replacement }]) => replacement !== undefined);

  it.each(replaced)(
    "C-9.2-03 the replacement of %s is at least as stable",
    (_name, { version, replacement }) => {
      expect(stability(replacement!.version)).toBeGreaterThanOrEqual(stability(version));
    },
  );

  /** Beta versions introduced since 1.20, which have a fixed number of releases until deprecation and removal. */
  const recentBetas = rows.filter(
    ([, { version, introduced }]) => stability(version) === 1 && minor(introduced) >= 20,
  );
  it.each(recentBetas)(
    "C-9.1-05 beta %s is deprecated within three releases and removed three releases later",
    (name, { introduced, deprecated, removed }) => {
      expect(recentBetas.length).toBeGreaterThan(4);
      // The reference kept v1beta1 of ClusterTrustBundle one release longer.
      const isLonger = name.includes("ClusterTrustBundle");
      expect(minor(deprecated!) - minor(introduced)).toBeLessThanOrEqual(isLonger ? 4 : 3);
      expect(minor(removed!) - minor(deprecated!)).toBe(3);
    },
  );

  it.each(replaced)(
    "C-9.2-04 %s is removed only after its replacement was served for a release",
    (_name, { group, kind, removed, replacement, replacementKind = kind }) => {
      const next = lifeCycleOf(replacement!.group, replacement!.version, replacementKind)!;
      expect(next, `${group.base} ${kind}`).toBeDefined();
      if (removed !== undefined && next.removed === undefined) {
        expect(isLater(removed, next.introduced) || skipped(next, removed)).toBe(true);
      }
    },
  );

  /**
   * Whether another version of the kind is served at the removal. An alpha version may be removed before its replacement
   * is introduced: flow control v1alpha1 was removed while v1beta2, which converts to v1beta3, was served.
   */
  function skipped(next: LifeCycle, removed: string): boolean {
    return lifeCycles.some(
      (one) =>
        one.group.base === next.group.base &&
        one.kind === next.kind &&
        one !== next &&
        isServed(one, removed),
    );
  }

  it.each(
    builtInKinds
      .filter(({ conversion }) => conversion !== undefined)
      .map((kind) => [`${kind.group.base}/${kind.version} ${kind.name}`, kind] as const),
  )(
    "C-9.2-05 %s is stored in a version that this release serves and that is at least as stable",
    (_name, kind) => {
      const stored = kind.conversion!.stored();
      const own = lifeCycleOf(kind.group, kind.version, kind.name)!;
      const target = lifeCycleOf(stored.group, stored.version, stored.name)!;
      // This release serves both versions, so an upgrade and a downgrade are possible.
      expect([isServed(own, release), isServed(target, release)]).toEqual([true, true]);
      expect(stability(stored.version)).toBeGreaterThanOrEqual(stability(kind.version));
      expect(stored.conversion).toBeUndefined();
    },
  );

  /** Whether a version may be stored or preferred: an earlier release served it together with each older beta version. */
  function mayLead(group: string, kind: string, version: string): boolean {
    const all = lifeCycles.filter((one) => one.group.base === group && one.kind === kind);
    const own = all.find((one) => one.version === version)!;
    const releases = Array.from({ length: minor(release) }, (_, index) => `1.${index}`);
    return all
      .filter((one) => isLater(own.introduced, one.introduced))
      .every((older) => releases.some((at) => isServed(own, at) && isServed(older, at)) || !isBeta(older));
  }
  /** Alpha versions have no guarantees, and no older stable version exists. */
  const isBeta = ({ version }: LifeCycle) => stability(version) === 1;

  it("C-9.2-05 every stored version was served together with each older version in some release", () => {
    // Flow control v1beta3 is new in this release and can't be the stored version yet.
    const flow = "flowcontrol.apiserver";
    expect(mayLead(flow, "FlowSchema", "v1beta3")).toBe(false);
    expect(mayLead(flow, "FlowSchema", "v1beta2")).toBe(true);
    const stored = builtInKinds.map((kind) => kind.conversion?.stored() ?? kind);
    for (const { group, name, version } of stored) {
      expect([group.base, name, version, mayLead(group.base, name, version)]).toEqual([
        group.base,
        name,
        version,
        true,
      ]);
    }
  });

  it.each([
    // As in the reference, the preferred version is the new one, which is not the stored version yet.
    ["kubernetes", ["flowcontrol.apiserver.k8s.io"]],
    ["platform", []],
  ] as const)(
    "C-9.2-05 every preferred version was served together with each older version in some release, in %s except for %j",
    async (vocabulary, tooEarly) => {
      const server = await TestServer.start({ vocabulary, enabledControllers: [] });
      const { groups } = (await server.admin.get("/apis")).body as Groups;
      await server.close();
      expect(groups.length).toBeGreaterThan(15);
      const words = vocabulary === "platform" ? platform : kubernetes;
      const mayBePreferred = ({ name, preferredVersion }: Groups["groups"][number]): boolean => {
        const { version } = preferredVersion;
        const kinds = builtInKinds.filter(
          (one) => groupName(one.group, words) === name && one.version === version,
        );
        expect(kinds.length, name).toBeGreaterThan(0);
        return kinds.every((kind) => mayLead(kind.group.base, kind.name, version));
      };
      expect(groups.filter((one) => !mayBePreferred(one)).map(({ name }) => name)).toEqual(tooEarly);
    },
  );

  it("at most one version of a kind is stored without conversion", () => {
    const byKind = new Map<string, (typeof builtInKinds)[number][]>();
    for (const kind of builtInKinds) {
      const key = `${kind.group.base} ${kind.name}`;
      byKind.set(key, [...(byKind.get(key) ?? []), kind]);
    }
    for (const [key, versions] of byKind) {
      const own = versions.filter(({ conversion }) => conversion === undefined);
      expect(own.length, key).toBeLessThanOrEqual(1);
    }
  });
});

describe("deprecation warning of a version", () => {
  const cycle = (base: string, suffixed: boolean, version: string, kind: string) =>
    lifeCycleOf({ base, suffixed }, version, kind)!;
  const level = cycle("flowcontrol.apiserver", true, "v1beta2", "FlowSchema");

  it.each([
    ["v1.25, before the deprecation, it is absent", "1.25", undefined],
    [
      "v1.26 it names removal and replacement",
      "1.26",
      "flowcontrol.apiserver.platform.io/v1beta2 FlowSchema is deprecated in v1.26+, unavailable in v1.29+; use flowcontrol.apiserver.platform.io/v1beta3 FlowSchema",
    ],
    [
      "v1.30, after the removal, it is the same",
      "1.30",
      "flowcontrol.apiserver.platform.io/v1beta2 FlowSchema is deprecated in v1.26+, unavailable in v1.29+; use flowcontrol.apiserver.platform.io/v1beta3 FlowSchema",
    ],
  ])("C-9.2-22 in %s", (_what, at, text) => {
    expect(deprecationWarning(level, at, platform)).toBe(text);
  });

  it("C-9.2-22 uses the names of the vocabulary", () => {
    expect(deprecationWarning(level, "1.26", kubernetes)).toBe(
      "flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema is deprecated in v1.26+, unavailable in v1.29+; use flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema",
    );
  });

  it("C-9.2-22 omits the removal release or the replacement when there is none", () => {
    expect(deprecationWarning(cycle("", false, "v1", "ComponentStatus"), "1.26", platform)).toBe(
      "v1 ComponentStatus is deprecated in v1.19+",
    );
    expect(deprecationWarning(cycle("policy", false, "v1beta1", "PodSecurityPolicy"), "1.21", platform)).toBe(
      "policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+",
    );
  });

  it("is absent for a version that is not deprecated", () => {
    expect(deprecationWarning(cycle("apps", false, "v1", "Deployment"), "1.99", platform)).toBeUndefined();
  });

  it.each([
    ["1.10", "1.9", true],
    ["1.9", "1.10", false],
    ["1.9", "1.9", false],
    ["2.0", "1.99", true],
  ])("%s is later than %s: %s", (one, other, expected) => {
    expect(isLater(one, other)).toBe(expected);
  });
});
