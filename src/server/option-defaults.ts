import { defaultConnections, type ServerOptions } from "./options.ts";
import { defaultFlow } from "./flow-options.ts";

const minuteMs = 60_000;

/**
 * Options as they are unless somebody sets them, in the library and on the command line alike. The flags, their help and
 * `docs/flags.md` take their defaults from here, from `defaultAuthentication`, `defaultAuditLog` and `defaultAuditWebhook`.
 */
export const optionDefaults = {
  host: "127.0.0.1",
  retentionMs: 5 * minuteMs,
  authorizationModes: ["RBAC"],
  runtimeConfig: "",
  featureGates: "",
  eventLifeMs: 60 * minuteMs,
  showHiddenMetricsForVersion: "",
  serviceClusterIpRanges: ["10.0.0.0/24"],
  serviceNodePortRange: "30000-32767",
  allowPrivileged: false,
  enabledControllers: ["*"],
  enabledAdmissionPlugins: [],
  disabledAdmissionPlugins: [],
  livezGracePeriodMs: 0,
  shutdownDelayMs: 0,
  connections: defaultConnections,
  flow: defaultFlow,
} as const satisfies Partial<ServerOptions> & { readonly host: string };
