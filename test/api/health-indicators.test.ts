import { describe, expect, test } from "vitest";
import { HealthIndicators } from "../../src/http/metrics/health-indicators.ts";
import type { CreateServerOptions } from "../../src/index.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { TestServer } from "../support/api.ts";

/** Starts a server, runs the function and closes the server. */
async function withServer(options: CreateServerOptions, run: (server: TestServer) => Promise<void>) {
  const server = await TestServer.start(options);
  try {
    await run(server);
  } finally {
    await server.close();
  }
}

/** Returns the value of a sample of /metrics/slis; undefined if there is none. */
async function sample({ admin }: TestServer, name: string): Promise<number | undefined> {
  const { text } = await admin.get("/metrics/slis");
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length));
}

describe("/metrics/slis", () => {
  test("has the result and the number of the checks that an endpoint ran", () =>
    withServer({ vocabulary: "kubernetes", release: "1.27" }, async (server) => {
      const runs = `kubernetes_healthchecks_total{name="ping",status="success",type="livez"}`;
      expect(await sample(server, runs)).toBeUndefined();
      for (let n = 0; n < 3; n++) await server.admin.get("/livez");
      await server.admin.get("/livez?exclude=ping");
      expect(await sample(server, runs)).toBe(3);
      expect(await sample(server, `kubernetes_healthcheck{name="ping",type="livez"}`)).toBe(1);
      expect(await sample(server, `kubernetes_healthcheck{name="ping",type="readyz"}`)).toBeUndefined();
      expect(await sample(server, "process_start_time_seconds")).toBeGreaterThan(0);
    }));

  test("has a check that failed after it had passed with the value 0", async () => {
    const indicators = new HealthIndicators(platform, "1.37");
    for (const passed of [true, true, false]) indicators.observe("shutdown", "readyz", passed);
    let text = "";
    for await (const piece of indicators.metrics.pieces()) text += piece.toString();
    expect(text.split("\n").filter((line) => line.startsWith("platform_"))).toEqual([
      'platform_healthcheck{name="shutdown",type="readyz"} 0',
      'platform_healthchecks_total{name="shutdown",status="success",type="readyz"} 2',
      'platform_healthchecks_total{name="shutdown",status="error",type="readyz"} 1',
    ]);
  });

  test("exists in release 1.26 only with its feature gate", async () => {
    const status = async (server: TestServer) => (await server.admin.get("/metrics/slis")).status;
    await withServer({}, async (server) => expect(await status(server)).toBe(404));
    await withServer({ featureGates: "ComponentSLIs=true" }, async (server) =>
      expect(await status(server)).toBe(200),
    );
  });
});
