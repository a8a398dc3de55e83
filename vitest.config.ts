import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import { chromiumPath } from "./test/support/chromium-path.ts";
import { lateOptimization, typeScript } from "./test/support/root.ts";
import { SlowestFirst } from "./test/support/slowest-first.ts";
import "./test/support/native/register.mjs";

/**
 * Files that need a process of their own, because they replace globals or modules, share servers among files, or measure processor time or
 * turns of the event loop, which a large heap and the code that other tests have run lengthen. All others share processes: loading the modules takes longer than most tests.
 */
const ownProcess = [
  "test/tidy/expressions.test.ts",
  "test/api/large-writes.test.ts",
  "test/cel/time-promise.test.ts",
  "test/cost-laws/cost-laws.test.ts",
  "test/base/yaml.test.ts",
  "test/schema/custom-schema-turns.test.ts",
];

/** Files that only `npm run test:long` runs. */
const longFiles = ["test/**/*.long.test.ts", "test/**/*.chromium.test.ts"];

/** Returns the configuration of all tests. @param isLong whether they run in their long form, with the files of that form. */
export function testConfig({ isLong }: { readonly isLong: boolean }): ViteUserConfig {
  const exclude = [
    ...configDefaults.exclude,
    // `npm run site:test` runs it, after the site has been built.
    "test/site/**",
    ...(isLong ? [] : longFiles),
    // Tests in a browser run where Chromium is installed.
    ...(chromiumPath() === undefined ? ["test/**/*.chromium.test.ts"] : []),
  ];
  return {
    test: {
      pool: "forks",
      // One more than the processors of the smallest machine: many tests wait for timers, files or other programs.
      maxWorkers: 3,
      sequence: { sequencer: SlowestFirst },
      reporters: ["default", ["json", { outputFile: "node_modules/.plinth-tests.json" }]],
      globalSetup: ["test/support/native/global-setup.mjs", "test/support/times-file.ts"],
      setupFiles: ["test/support/measure-time.ts"],
      env: isLong ? { PLINTH_LONG_TESTS: "true" } : {},
      // Modules are loaded by Node: `vi.mock` isn't available.
      experimental: { viteModuleRunner: false, nodeLoader: false },
      projects: [
        {
          extends: true,
          test: {
            name: "shared",
            isolate: false,
            // Most code runs a few times: compiling it with optimization early takes more time than it saves.
            // And small young generations are collected often: these flags take a sixth off the processor time of test/lives.
            execArgv: [...typeScript, ...lateOptimization(500_000), "--max-semi-space-size=64"],
            include: ["test/**/*.test.ts"],
            exclude: [...exclude, ...ownProcess],
          },
        },
        { extends: true, test: { name: "own", execArgv: [...typeScript], include: ownProcess } },
      ],
      // A busy machine may take long for what a test waits for.
      expect: { poll: { timeout: 20_000, interval: 20 } },
      testTimeout: 180_000,
      hookTimeout: 180_000,
    },
  };
}

export default defineConfig(testConfig({ isLong: false }));
