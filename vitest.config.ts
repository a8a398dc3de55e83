import { configDefaults, defineConfig } from "vitest/config";
import { chromiumPath } from "./test/support/chromium-path.ts";

/** Folders whose test files share processes: loading the modules takes longer than most of these tests. */
const sharedProcess = [
  "admission",
  "aggregation",
  "api",
  "audit",
  "authentication",
  "attacks",
  "authorization",
  "base",
  "cel",
  "cli",
  "clients",
  "console",
  "controllers",
  "custom-resources",
  "examples",
  "extensions",
  "fields",
  "flow",
  "http",
  "kinds",
  "library",
  "monitoring",
  "recipes",
  "remote",
  "resources",
  "robustness",
  "schema",
  "server",
  "storage",
  "tidy",
].map((folder) => `test/${folder}/**/*.test.ts`);

/** Files in these folders that need a process of their own, because they replace globals while modules load. */
const ownProcess = ["test/tidy/expressions.test.ts"];

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    reporters: ["default", ["json", { outputFile: "node_modules/.plinth-tests.json" }]],
    projects: [
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: sharedProcess,
          exclude: [...configDefaults.exclude, ...ownProcess],
        },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          include: ["test/**/*.test.ts"],
          exclude: [
            ...configDefaults.exclude,
            ...sharedProcess,
            // `npm run site:test` runs it, after the site has been built.
            "test/site/**",
            // Tests in a browser run where Chromium is installed.
            ...(chromiumPath() === undefined ? ["test/**/*.chromium.test.ts"] : []),
          ],
        },
      },
      {
        extends: true,
        test: { name: "own", include: ownProcess },
      },
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
