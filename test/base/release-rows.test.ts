import { describe, expect, it } from "vitest";
import {
  allByRelease,
  applies,
  byRelease,
  gate,
  rowsIn,
  since,
  until,
  type ReleaseFacts,
} from "../../src/base/release-rows.ts";
import type { Release } from "../../src/base/releases.ts";

const at = (release: Release, ...gates: readonly string[]): ReleaseFacts => ({
  release,
  enabled: (name) => gates.includes(name),
});

describe("rows of releases", () => {
  const rows = ["always", since("1.28", "added"), until("1.30", "removed"), gate("Name", "gated")];

  it("are the values of a release and its gates, in order", () => {
    expect(rowsIn(rows, at("1.27"))).toEqual(["always", "removed"]);
    expect(rowsIn(rows, at("1.28"))).toEqual(["always", "added", "removed"]);
    expect(rowsIn(rows, at("1.30", "Name"))).toEqual(["always", "added", "gated"]);
    expect(rowsIn(rows, at("1.30"))).toEqual(["always", "added"]);
  });

  it("are those of the default release for a server without one", () => {
    expect(rowsIn(["always", since("1.27", "added")], {})).toEqual(["always"]);
  });

  it("nest: a row has a first release, one that removes it, and a gate", () => {
    const kept = applies(since("1.28", until("1.30", gate("Name"))));
    const releases = (["1.27", "1.28", "1.29", "1.30"] as const).filter((release) =>
      kept(at(release, "Name")),
    );
    expect(releases).toEqual(["1.28", "1.29"]);
    expect(kept(at("1.29"))).toBe(false);
  });

  it("have their last value where each replaces the one before", () => {
    const text = byRelease("first", since("1.28", "second"), since("1.30", gate("Name", "third")));
    expect(text(at("1.26"))).toBe("first");
    expect(text(at("1.29", "Name"))).toBe("second");
    expect(text(at("1.30"))).toBe("second");
    expect(text(at("1.30", "Name"))).toBe("third");
    expect(text(at("1.29"))).toBe("second");
  });

  it("apply where one of several does", () => {
    const either = applies(until("1.27"), gate("Name"));
    expect([either(at("1.26")), either(at("1.27")), either(at("1.27", "Name"))]).toEqual([true, false, true]);
  });

  it("of a release without gates are one list", () => {
    const all = allByRelease(since("1.28", "a"), since("1.29", "b"));
    expect(all(at("1.29"))).toBe(all(at("1.29")));
    expect(all(at("1.28"))).toEqual(["a"]);
  });

  it("need the gates of the server", () => {
    expect(() => rowsIn([gate("Name", 1)], { release: "1.30" })).toThrow(
      "the feature gates are missing: Name",
    );
    expect(rowsIn([since("1.31", gate("Name", 1))], { release: "1.30" })).toEqual([]);
  });
});
