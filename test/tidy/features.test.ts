import { expect, test } from "vitest";
import { releases } from "../../src/base/releases.ts";
import { featuresOf } from "../../src/server/features/features.ts";
import { idleFeatures, idleReason, laterIdleFeatures } from "../../src/server/features/idle-features.ts";
import { read, sources } from "./source-files.ts";

const features = featuresOf("1.26");

const lists = new Set(["src/server/features/feature-life-cycles.ts", "src/server/features/idle-features.ts"]);
const isList = (file: string) => lists.has(file) || file.startsWith("src/server/features/releases/");
const code = sources.filter((file) => !isList(file)).map(read);
const isUsed = (name: string) => code.some((text) => text.includes(`"${name}"`));

/** Gates without effect in the reference release that fields of later releases have. */
const ofLaterFields = new Set(["CSIVolumeHealth", "KubeletInUserNamespace"]);

test("each feature gate that can be turned is used, or listed as one that changes nothing here", () => {
  const turned = Object.entries(features.gates).filter(([, { stage }]) => stage !== "stable");
  expect(turned.length).toBeGreaterThan(90);
  for (const [name] of turned.filter(([gate]) => !ofLaterFields.has(gate))) {
    expect(isUsed(name), name).toBe(!idleFeatures.has(name));
  }
  for (const name of idleFeatures.keys()) expect(features.gates, name).toHaveProperty(name);
});

test("each feature gate that a release has on by default is used, or listed with the reason why it needs no code", () => {
  const on = releases.flatMap((release) =>
    Object.entries(featuresOf(release).gates).flatMap(([name, gate]) => (gate.on ? [name] : [])),
  );
  const later = [...new Set(on)].filter((name) => !Object.hasOwn(features.gates, name));
  expect(later.length).toBeGreaterThan(150);
  const unexplained = later.filter((name) => isUsed(name) === (idleReason(name) !== undefined));
  expect(unexplained).toEqual([]);
  expect([...laterIdleFeatures.keys()].filter((name) => !on.includes(name))).toEqual([]);
});

test("docs/feature-gates.md lists every feature gate with its stage, its default and whether it changes something", () => {
  const rows = [
    ...read("docs/feature-gates.md").matchAll(
      /^\| `([A-Za-z0-9]+)`\s+\| (alpha|beta|stable|deprecated)\s+\| (on|off)\s+\| (.*?)\s*\|$/gm,
    ),
  ];
  expect(rows.map(([, name, stage, on, effect]) => [name, stage, on, effect])).toEqual(
    Object.entries(features.gates).map(([name, { stage, on }]) => [
      name,
      stage,
      on ? "on" : "off",
      stage === "stable" ? "locked" : (idleFeatures.get(name) ?? "acts"),
    ]),
  );
});
