import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { startServer, type Server } from "../../src/server/server.ts";
import type { Logger } from "../../src/base/logger.ts";
import { answerOf } from "../robustness/support.ts";
import { Api } from "../support/api.ts";
import { manualOptions } from "../support/server-options.ts";
import { ManualClock, until } from "./support.ts";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
/** A certificate is valid for a year and is renewed a month before it expires. */
const nearEndMs = 336 * dayMs;

const start = (clock: ManualClock, log: Logger, certificateFolder: string | undefined): Promise<Server> =>
  startServer(manualOptions(clock, log, { certificateFolder }));

describe.each(["in memory", "in a folder"])("the server's own certificate, kept %s", (where) => {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-own-"));
  let server: Server;
  let api: Api;
  afterEach(async () => {
    api.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The serial number of the certificate of a new connection, if the client trusts it. */
  function shown(): Promise<string> {
    const { port } = new URL(server.url!);
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: Number(port), ca: server.caCertificate! };
      const socket = connect(options, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.once("error", reject);
    });
  }

  test("is renewed before it expires, and open connections continue", async () => {
    // All clock jumps end before the real time, which clients use for validation.
    const clock = new ManualClock(Date.now() - nearEndMs - 3 * hourMs);
    const logged: string[] = [];
    const note = (_facts: object, message: string) => void logged.push(message);
    const log = { info: note, warn: note, error: note };
    server = await start(clock, log, where === "in memory" ? undefined : folder);
    const authority = server.caCertificate!;
    api = new Api(server.url!, authority, `Bearer ${server.adminToken}`);
    const first = await shown();
    const session = connectHttp2(server.url!, { ca: authority });
    const headers = { ":path": "/version", authorization: `Bearer ${server.adminToken}` };
    expect((await answerOf(session.request(headers))).status).toBe(200);

    await clock.leap(hourMs);
    expect(await shown()).toBe(first);
    expect(logged).not.toContain("the server's own certificate was renewed");
    await clock.leap(nearEndMs);
    const second = await until(shown, (serial) => serial !== first);
    expect(server.caCertificate).toBe(authority);
    expect(logged).toContain("the server's own certificate was renewed");

    expect(session.closed).toBe(false);
    expect((await answerOf(session.request(headers))).status).toBe(200);
    expect((await api.get("/version")).status).toBe(200);
    session.close();
    if (where === "in a folder") {
      const kept = new X509Certificate(readFileSync(path.join(folder, "server.crt")));
      expect(kept.serialNumber).toBe(second);
    }

    await clock.leap(hourMs);
    expect(await shown()).toBe(second);
    expect(logged.filter((one) => one === "the server's own certificate was renewed")).toHaveLength(1);
  });
});
