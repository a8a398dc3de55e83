import { expect, test } from "vitest";
import { stages } from "../../src/http/pipeline.ts";
import { read } from "../tidy/source-files.ts";

test("docs/lifecycle.md numbers the stages of the pipeline", () => {
  const page = read("docs/lifecycle.md");
  const numbered = [...page.matchAll(/^(\d+)\. \*\*([^*]+?)\.?\*\*/gm)].map(
    ([, number, name]) => `${number} ${name}`,
  );
  expect(numbered).toEqual(stages.map(({ name }, index) => `${index + 1} ${name}`));
});
