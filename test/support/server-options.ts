import type { Logger } from "../../src/base/logger.ts";
import type { ServerOptions } from "../../src/server/options.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import type { ManualClock } from "./manual-clock.ts";

/** The options of a server that only a test can start: by a clock that the test moves, in memory, on a free port. */
export function manualOptions(
  clock: ManualClock,
  log: Logger,
  given: Partial<ServerOptions> = {},
): ServerOptions {
  return {
    vocabulary: platform,
    storage: { engine: "memory" },
    retentionMs: 300_000,
    serving: { host: "127.0.0.1", port: 0, extraHosts: [] },
    authorizationModes: ["RBAC"],
    anonymousAuth: undefined,
    clientCaFile: undefined,
    tokenAuthFile: undefined,
    runtimeConfig: "",
    featureGates: "",
    eventLifeMs: 3_600_000,
    showHiddenMetricsForVersion: "",
    serviceClusterIpRanges: ["10.0.0.0/24"],
    serviceNodePortRange: "30000-32767",
    enabledAdmissionPlugins: [],
    disabledAdmissionPlugins: [],
    tolerationSeconds: { notReady: 300, unreachable: 300 },
    allowPrivileged: false,
    livezGracePeriodMs: 0,
    shutdownDelayMs: 0,
    clock,
    log,
    ...given,
  };
}
