import type { AuthorizerChain } from "../authorization/chain.ts";
import { BodyBudget } from "../http/body-budget.ts";
import { addDiscoveryPaths } from "../http/discovery.ts";
import { addHealthPaths } from "../http/health.ts";
import { addMetricsPath } from "../http/metrics/metrics-path.ts";
import { RequestMetrics } from "../http/metrics/request-metrics.ts";
import { addOpenApiPaths } from "../http/openapi/openapi-paths.ts";
import { OpenStreams, PathTable, type HttpService } from "../http/service.ts";
import type { Clock } from "../base/clock.ts";
import type { Engine } from "../resources/engine.ts";
import { healthChecks, type Lifecycle } from "./health-checks.ts";
import { serverMetrics } from "./metrics.ts";
import { stackOf, type ServerOptions } from "./options.ts";

import { reviewHandlers } from "./reviews.ts";

/** What the pipeline works with, and the paths that the server answers beside its resources. */
export function httpService(
  options: ServerOptions,
  engine: Engine,
  parts: Pick<HttpService, "authenticator" | "connections"> & {
    authorizer: AuthorizerChain;
    life: Lifecycle;
  },
): HttpService {
  const { clock, log } = options;
  const paths = new PathTable();
  const health = healthChecks(engine.store, parts.life, clock, options.livezGracePeriodMs);
  addDiscoveryPaths(paths, engine.registry);
  addOpenApiPaths(paths, engine.registry);
  addHealthPaths(paths, health);
  const metrics = serverMetrics(options, engine);
  addMetricsPath(paths, metrics);
  return {
    engine,
    clock,
    authenticator: parts.authenticator,
    authorizer: parts.authorizer,
    reviews: reviewHandlers(parts.authorizer, parts.authorizer, parts.authenticator),
    paths,
    bodies: new BodyBudget(),
    metrics: new RequestMetrics(metrics, () => performance.now()),
    streams: new OpenStreams(),
    connections: parts.connections,
    log: {
      defect: (error, request) =>
        log.error({ ...request, error: stackOf(error) }, "a defect: please report it"),
      unavailable: rarely(clock, (cause: unknown) =>
        log.error({ error: stackOf(cause) }, "the store can't be used"),
      ),
      cutOff: (reason, request) => log.warn(request, reason),
    },
  };
}

/** How often the same trouble is logged that every request may meet. */
const rareMs = 5000;

/** Lets one call through and leaves out those that follow within a time. */
function rarely<A extends unknown[]>(
  clock: Clock,
  call: (...parameters: A) => void,
): (...parameters: A) => void {
  let next = Number.NEGATIVE_INFINITY;
  return (...parameters) => {
    if (clock.now() < next) return;
    next = clock.now() + rareMs;
    call(...parameters);
  };
}
