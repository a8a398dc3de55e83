import { expect, test } from "vitest";
import { requirementsPage } from "./requirements-page.ts";

test("docs/requirements.md lists the requirements that tests name, and the tests", async () => {
  await expect(requirementsPage()).toMatchFileSnapshot("../../docs/requirements.md");
});
