import { connect, type ConnectionOptions } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { startServer, type Server } from "../../src/server/server.ts";
import type { TlsSettings } from "../../src/server/options/settings-types.ts";
import { manualOptions } from "../support/server-options.ts";

let server: Server | undefined;
afterEach(() => server?.close());

async function start(tls: TlsSettings | undefined): Promise<void> {
  const options = manualOptions(undefined!, silentLogger);
  server = await startServer({ ...options, clock: systemClock, tls: tls ?? options.tls });
}

/** Version and cipher of a handshake; undefined where it failed. */
function handshake(options: ConnectionOptions): Promise<[string | null, string] | undefined> {
  const { hostname: host, port } = new URL(server!.url!);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...options });
    socket.once("secureConnect", () => {
      resolve([socket.getProtocol(), socket.getCipher().name]);
      socket.destroy();
    });
    socket.once("error", () => resolve(undefined));
  });
}

test("the default minimum version is TLS 1.2", async () => {
  await start(undefined);
  expect((await handshake({ maxVersion: "TLSv1.2" }))?.[0]).toBe("TLSv1.2");
  expect((await handshake({}))?.[0]).toBe("TLSv1.3");
  expect(await handshake({ minVersion: "TLSv1.1", maxVersion: "TLSv1.1" })).toBeUndefined();
});

test("--tls-min-version: older versions are refused", async () => {
  await start({ minVersion: "VersionTLS13", cipherSuites: [] });
  expect(await handshake({ maxVersion: "TLSv1.2" })).toBeUndefined();
  expect((await handshake({}))?.[0]).toBe("TLSv1.3");
});

test("--tls-cipher-suites: of TLS 1.2 only those; TLS 1.3 stays", async () => {
  await start({ minVersion: "VersionTLS12", cipherSuites: ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"] });
  const cipher = "ECDHE-ECDSA-AES256-GCM-SHA384";
  expect(await handshake({ maxVersion: "TLSv1.2" })).toEqual(["TLSv1.2", cipher]);
  expect(
    await handshake({ maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" }),
  ).toBeUndefined();
  expect((await handshake({}))?.[0]).toBe("TLSv1.3");
});
