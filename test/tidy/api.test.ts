import { format, resolveConfig } from "prettier";
import { expect, test } from "vitest";
import { apiText } from "../../scripts/api.mjs";
import { read } from "./source-files.ts";

test("api/plinth.api.d.ts is the interface of the package; `npm run api` brings it up to date", async () => {
  const file = "api/plinth.api.d.ts";
  const made = await format(await apiText(), { ...(await resolveConfig(file)), filepath: file });
  const committed = read(file);
  // One line at a time: a difference of long texts is slow to show.
  const lines = new Set(committed.split("\n"));
  expect(made.split("\n").filter((line) => !lines.has(line))).toEqual([]);
  expect(made).toBe(committed);
});
