import { expect, test } from "vitest";
import { filesBelow, read } from "./source-files.ts";

test("a decision has its number, a title, a status and a date when it is added to docs/decisions", () => {
  const wrong = filesBelow("docs/decisions").filter((file) => {
    const number = Number(/\/(\d{4})-/.exec(file)?.[1]);
    const form = new RegExp(
      `^# ${number}\\. [^\\n]+\\n\\nStatus: (accepted|superseded by \\[[^\\n]+)\\n\\nDate: \\d{4}-\\d\\d-\\d\\d\\n`,
    );
    return !form.test(read(file));
  });
  expect(wrong).toEqual([]);
});
