import path from "node:path";
import { defineConfig } from "vitest/config";

// The tests of the built site; `npm run site:test` runs them, and the main suite doesn't.
export default defineConfig({
  root: path.resolve(import.meta.dirname, "../.."),
  test: { include: ["test/site/**/*.test.ts"], testTimeout: 120_000, hookTimeout: 60_000 },
});
