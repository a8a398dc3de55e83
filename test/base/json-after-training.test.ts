import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { typeScript } from "../support/root.ts";

/** What a process reads: many small texts, most of them malformed, and at last a large string that never ends. */
const script = `
  import { decodeJson } from "./src/base/json/decode.ts";
  let state = 1;
  const below = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const alphabet = [...'{}[]",:\\\\u0123e-+.truefalsn \\n\\t\\u0001ü'];
  const faultOf = (text) => {
    try {
      decodeJson(Buffer.from(text));
      return "";
    } catch (error) {
      return error.message;
    }
  };
  for (let n = 0; n < 200_000; n++) {
    let text = "";
    for (let left = below(13); left > 0; left--) text += alphabet[below(alphabet.length)];
    faultOf(text);
  }
  const start = performance.now();
  const fault = faultOf('"' + "ü".repeat(1_500_000));
  console.log(JSON.stringify({ fault, took: performance.now() - start }));`;

it("a string that never ends is refused at once, also by code that was compiled for other texts", () => {
  const words = [...typeScript, "--input-type=module", "-e", script];
  const { stdout, stderr, signal } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    timeout: 40_000,
  });
  expect({ stderr, signal }).toEqual({ stderr: "", signal: null });
  const { fault, took } = JSON.parse(stdout) as { fault: string; took: number };
  expect(fault).toBe("line 1, column 1: this string is never closed");
  expect(took).toBeLessThan(3000);
});
