import type { AuthorizerChain } from "../authorization/chain.ts";
import { addDiscoveryPaths } from "../http/discovery.ts";
import { addHealthPaths } from "../http/health.ts";
import { addOpenApiPaths } from "../http/openapi/openapi-paths.ts";
import { PathTable, type HttpService } from "../http/service.ts";
import type { Engine } from "../resources/engine.ts";
import { healthChecks, type Lifecycle } from "./health-checks.ts";
import type { ServerOptions } from "./options.ts";
import { reviewHandlers } from "./reviews.ts";

/** What the pipeline works with, and the paths that the server answers beside its resources. */
export function httpService(
  options: ServerOptions,
  engine: Engine,
  parts: Pick<HttpService, "authenticator"> & { authorizer: AuthorizerChain; life: Lifecycle },
): HttpService {
  const { clock, log } = options;
  const paths = new PathTable();
  const health = healthChecks(engine.store, parts.life, clock, options.livezGracePeriodMs);
  addDiscoveryPaths(paths, engine.registry);
  addOpenApiPaths(paths, engine.registry);
  addHealthPaths(paths, health);
  return {
    engine,
    clock,
    authenticator: parts.authenticator,
    authorizer: parts.authorizer,
    reviews: reviewHandlers(parts.authorizer, parts.authorizer),
    paths,
    features: { watchList: options.watchList },
    streams: new Set(),
    log: {
      defect: (error, request) =>
        log.error({ ...request, error: stackOf(error) }, "a defect: please report it"),
      cutOff: (reason, request) => log.warn(request, reason),
    },
  };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
