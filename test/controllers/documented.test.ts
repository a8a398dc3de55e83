import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { builtInControllers } from "../../src/controllers/all.ts";
import { root } from "../support/process.ts";

test("docs/controllers.md lists exactly the built-in controllers, and its --controllers example disables the same ones", () => {
  const page = readFileSync(path.join(root, "docs/controllers.md"), "utf8");
  const names = builtInControllers.map(({ name }) => name).toSorted();
  const listed = [...page.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name!);
  expect(listed.toSorted()).toEqual(names);
  const off = /--controllers='\*,([^']+)'/
    .exec(page)![1]!
    .split(",")
    .map((one) => one.slice(1));
  // The reference has no controller for events: its store forgets them.
  expect(off.toSorted()).toEqual(names.filter((name) => name !== "event-expiry"));
});
