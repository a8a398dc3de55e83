import { StatusError } from "../../base/status-error.ts";
import { isTrue } from "../request/facts.ts";
import { sendText } from "../answers/respond.ts";
import type { HealthIndicators } from "../metrics/health-indicators.ts";
import type { RequestContext } from "../request/context.ts";
import type { AddedPaths } from "../request/path-table.ts";
import type { VocabularyBehavior } from "../../vocabulary/behavior.ts";

/** A named check. It returns why it fails; undefined if it passes. */
export interface HealthCheck {
  readonly name: string;
  readonly check: () => Promise<string | undefined> | string | undefined;
}

/** The checks of the three endpoints (spec: conventions 4.11). */
export interface HealthChecks {
  readonly healthz: readonly HealthCheck[];
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
}

/**
 * Adds `/healthz`, `/livez`, `/readyz` and the paths of the single checks.
 *
 * @param indicators record each check that one of the three endpoints runs; undefined records none.
 */
export function addHealthPaths(
  paths: AddedPaths,
  checks: HealthChecks,
  { endpointInHealthResult }: VocabularyBehavior,
  indicators: HealthIndicators | undefined,
): void {
  for (const endpoint of ["healthz", "livez", "readyz"] as const) {
    const subject = endpointInHealthResult ? endpoint : "healthz";
    const observe: Observe = (name, passed) => indicators?.observe(name, endpoint, passed);
    paths.add(`/${endpoint}`, (request) => answerAll(checks[endpoint], request, subject, observe));
    paths.add(`/${endpoint}/`, (request) => answerOne(endpoint, checks[endpoint], request));
  }
}

type Observe = (name: string, passed: boolean) => void;

/** @param subject first words of the last line. */
async function answerAll(
  checks: readonly HealthCheck[],
  request: RequestContext,
  subject: string,
  observe: Observe,
): Promise<void> {
  const { query } = request.facts;
  const excluded = new Set(query.all("exclude"));
  let failed = false;
  // Concurrently, so that the slowest check determines the duration.
  const lines = await Promise.all(
    checks.map(async ({ name, check }) => {
      if (excluded.delete(name)) return `[+]${name} excluded: ok`;
      const problem = await check();
      observe(name, problem === undefined);
      if (problem === undefined) return `[+]${name} ok`;
      failed = true;
      return `[-]${name} failed: ${problem}`;
    }),
  );
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(", ");
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (!failed && !isTrue(query.get("verbose") ?? "false")) return sendText(request.exchange, 200, "ok");
  lines.push(`${subject} check ${failed ? "failed" : "passed"}`);
  sendText(request.exchange, failed ? 500 : 200, `${lines.join("\n")}\n`);
}

async function answerOne(
  endpoint: string,
  checks: readonly HealthCheck[],
  request: RequestContext,
): Promise<void> {
  const name = request.facts.path.slice(endpoint.length + 2).replace(/\/$/, "");
  const match = checks.find((one) => one.name === name);
  if (match === undefined)
    throw new StatusError("NotFound", "the server could not find the requested resource");
  const problem = await match.check();
  if (problem === undefined) return sendText(request.exchange, 200, "ok");
  sendText(request.exchange, 500, `internal server error: ${problem}\n`);
}
