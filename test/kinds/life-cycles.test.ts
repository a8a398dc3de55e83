import { describe, expect, it } from "vitest";
import { builtInKinds } from "../../src/kinds/all.ts";
import { lifeCycles, type LifeCycle } from "../../src/kinds/life-cycle-table.ts";
import { isLater } from "../../src/base/releases.ts";
import { deprecationWarning, lifeCycleOf } from "../../src/kinds/life-cycles.ts";
import { TestServer } from "../support/api.ts";
import { kubernetes } from "../../src/vocabulary/kubernetes.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { groupName } from "../../src/schema/kind.ts";
import { referenceRelease } from "../../src/vocabulary/vocabulary.ts";

/** Conventions 9.2: the rules about several releases, as laws over the table that the server carries. */
const release = `${referenceRelease.major}.${referenceRelease.minor}`;
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

describe("the table of life cycles", () => {
  it("has one row for a kind in a version", () => {
    expect(new Set(rows.map(([name]) => name)).size).toBe(lifeCycles.length);
  });

  it.each(rows)(
    "%s: introduced, deprecated, removed, in this order",
    (_name, { introduced, deprecated, removed }) => {
      const order = [introduced, deprecated, removed].filter((one) => one !== undefined);
      for (const [index, one] of order.slice(1).entries()) expect(isLater(one, order[index]!)).toBe(true);
    },
  );

  it("C-9.2-01 every kind that the release serves is declared, and every declared one is in the table", () => {
    const declared = new Set(
      builtInKinds.map(({ group, version, name }) => `${group.base}/${version} ${name}`),
    );
    const served = lifeCycles.filter((cycle) => isServed(cycle, release)).map(nameOf);
    expect(served.filter((name) => !declared.has(name))).toEqual([]);
    const known = new Set(served);
    expect([...declared].filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(rows.filter(([, { removed }]) => removed !== undefined && !isLater(removed, release)))(
    "%s is removed, so no kind declares it",
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

describe("rules about several releases", () => {
  const replaced = rows.filter(([, { replacement }]) => replacement !== undefined);

  it.each(replaced)(
    "C-9.2-03 %s isn't deprecated in favour of a less stable version",
    (_name, { version, replacement }) => {
      expect(stability(replacement!.version)).toBeGreaterThanOrEqual(stability(version));
    },
  );

  /** The clock of betas, in releases. It was set when every release came to live for a year (1.19). */
  const clocked = rows.filter(
    ([, { version, introduced }]) => stability(version) === 1 && minor(introduced) >= 20,
  );
  it.each(clocked)(
    "C-9.1-05 beta %s: deprecated within three releases, gone three releases later",
    (_name, { introduced, deprecated, removed }) => {
      expect(clocked.length).toBeGreaterThan(4);
      expect(minor(deprecated!) - minor(introduced)).toBeLessThanOrEqual(3);
      expect(minor(removed!) - minor(deprecated!)).toBe(3);
    },
  );

  it.each(replaced)(
    "C-9.2-04 %s stays until its replacement was there for a release, so that what is stored can be converted",
    (_name, { group, kind, removed, replacement }) => {
      const next = lifeCycleOf(replacement!.group, replacement!.version, kind)!;
      expect(next, `${group.base} ${kind}`).toBeDefined();
      if (removed !== undefined && next.removed === undefined) {
        expect(isLater(removed, next.introduced) || skipped(next, removed)).toBe(true);
      }
    },
  );

  /**
   * An alpha version may go before its replacement comes. The first version of flow control went as the second one was
   * there, which is converted to the third.
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
    "C-9.2-05 %s is stored in a version that the release before could serve too, or is one of its own",
    (_name, kind) => {
      const stored = kind.conversion!.stored();
      const own = lifeCycleOf(kind.group, kind.version, kind.name)!;
      const target = lifeCycleOf(stored.group, stored.version, stored.name)!;
      // Both versions are served together in this release, so that one can go up and back.
      expect([isServed(own, release), isServed(target, release)]).toEqual([true, true]);
      expect(stability(stored.version)).toBeGreaterThanOrEqual(stability(kind.version));
      expect(stored.conversion).toBeUndefined();
    },
  );

  /** Whether a version may have come to be the one that counts: a release before this one served it beside each older one. */
  function mayLead(group: string, kind: string, version: string): boolean {
    const all = lifeCycles.filter((one) => one.group.base === group && one.kind === kind);
    const own = all.find((one) => one.version === version)!;
    const releases = Array.from({ length: minor(release) }, (_, index) => `1.${index}`);
    return all
      .filter((one) => isLater(own.introduced, one.introduced))
      .every((older) => releases.some((at) => isServed(own, at) && isServed(older, at)) || !isBeta(older));
  }
  /** An alpha version promises nothing, and no stable one is left. */
  const isBeta = ({ version }: LifeCycle) => stability(version) === 1;

  it("C-9.2-05 the version that counts has been served beside the older one, in a release before", () => {
    // What the law is made for: the newest version of flow control came with this release, and doesn't count yet.
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
    // Clients of the reference are told of the newer one first, which isn't stored yet.
    ["kubernetes", ["flowcontrol.apiserver.k8s.io"]],
    ["platform", []],
  ] as const)(
    "C-9.2-05 the preferred version of a group has been served beside the older one, in a release before, in %s but for %j",
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

  it("what is stored in a version can be read by every version that is served beside it", () => {
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

describe("the warning of a deprecated version", () => {
  const cycle = (base: string, suffixed: boolean, version: string, kind: string) =>
    lifeCycleOf({ base, suffixed }, version, kind)!;
  const level = cycle("flowcontrol.apiserver", true, "v1beta2", "FlowSchema");

  it.each([
    ["v1.25, not yet", "1.25", undefined],
    [
      "v1.26",
      "1.26",
      "flowcontrol.apiserver.platform.io/v1beta2 FlowSchema is deprecated in v1.26+, unavailable in v1.29+; use flowcontrol.apiserver.platform.io/v1beta3 FlowSchema",
    ],
    [
      "v1.30, later",
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
