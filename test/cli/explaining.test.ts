import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isInstalled } from "../support/installed.ts";
import { PageShell } from "../support/page-shell.ts";
import { blockOf, blocksOf } from "../support/pages.ts";

describe("docs/explaining.md", () => {
  const shell = new PageShell();
  const load = blocksOf("docs/explaining.md", "sh load");
  const queries = blocksOf("docs/explaining.md", "sh explain");
  beforeAll(async () => {
    await shell.run(blockOf("docs/explaining.md", "sh start"));
    shell.env["SERVER"] = shell.servers[0]!.url;
  });
  afterAll(() => shell.close());

  it("has commands to run, each with its output", () => {
    expect(queries.length).toBeGreaterThan(6);
    expect(queries.filter(({ output }) => output === undefined)).toEqual([]);
  });

  it.skipIf(!isInstalled("curl"))(
    "its commands print what it shows (skipped where curl is missing)",
    async () => {
      const [loaded] = await shell.show([...load, ...queries]);
      expect(loaded).toMatch(/^17\d created, 0 changed, 0 unchanged\n$/);
    },
  );
});
