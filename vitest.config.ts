import { configDefaults, defineConfig } from "vitest/config";
import { chromiumPath } from "./test/support/chromium-path.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Tests in a browser run where Chromium is installed.
    exclude: [
      ...configDefaults.exclude,
      ...(chromiumPath() === undefined ? ["test/**/*.chromium.test.ts"] : []),
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    reporters: ["default", ["json", { outputFile: "node_modules/.plinth-tests.json" }]],
  },
});
