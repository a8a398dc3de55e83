import { format } from "prettier";
import { expect, test } from "vitest";
import prettierOptions from "../../.prettierrc.json" with { type: "json" };
import { enforcementPage } from "./enforcement-page.ts";

test("docs/enforcement.md says of every kind what this server does by its objects", async () => {
  const page = await format(enforcementPage(), { ...prettierOptions, parser: "markdown" });
  await expect(page).toMatchFileSnapshot("../../docs/enforcement.md");
});
