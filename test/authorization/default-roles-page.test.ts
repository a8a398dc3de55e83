import { expect, test } from "vitest";
import { defaultRolesPage } from "./default-roles-page.ts";

test("docs/default-roles.md lists the default roles with their rules and bindings", async () => {
  await expect(defaultRolesPage()).toMatchFileSnapshot("../../docs/default-roles.md");
});
