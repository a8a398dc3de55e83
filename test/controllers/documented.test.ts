import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { builtInControllers } from "../../src/controllers/all.ts";
import { root } from "../support/process.ts";

/** Names that the controller manager of the reference has for controllers of later releases; that of 1.26 rejects them. */
const laterNames = {
  "service-cidr-controller": "service-cidr-controller",
  "storage-version-migrator-controller": "storage-version-migrator-controller",
  "validatingadmissionpolicy-status": "validatingadmissionpolicy-status-controller",
};

test("docs/controllers.md lists exactly the built-in controllers, and its --controllers example disables the same ones", () => {
  const page = readFileSync(path.join(root, "docs/controllers.md"), "utf8");
  const names = builtInControllers.map(({ name }) => name).toSorted();
  const listed = [...page.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name!);
  expect(listed.toSorted()).toEqual(names);
  const off = /--controllers='\*,([^']+)'/
    .exec(page)![1]!
    .split(",")
    .map((one) => one.slice(1));
  // The reference has no controller for events, whose store forgets them, and no workspaces.
  const others = new Set(["event-expiry", "workspace", ...Object.keys(laterNames)]);
  expect(off.toSorted()).toEqual(names.filter((name) => !others.has(name)));
  for (const name of Object.values(laterNames)) expect(page).toContain(`\`-${name}\``);
});
