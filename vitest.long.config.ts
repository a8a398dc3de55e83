import { defineConfig } from "vitest/config";
import { testConfig } from "./vitest.config.ts";

/** All tests, also those that search at random or take long by nature; see `test/long/table.ts`. */
export default defineConfig(testConfig({ isLong: true }));
