import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { plinthHere } from "../support/program-here.ts";
import { ServerHere } from "../support/server-here.ts";

const folder = useTemporaryFolders();

/** Runs `plinth ready`; its code and what it complains of. */
async function ready(...words: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const { code, stderr } = await plinthHere("ready", ...words);
  return { code, stderr };
}

/** Starts a server that isn't Plinth, and ends it after `use`, which gets its URL and the flags to ask it. */
async function withServer(
  listener: RequestListener,
  use: (url: string, flags: readonly string[]) => Promise<void>,
): Promise<void> {
  const { caCertificate, serving } = createServingCertificates(["127.0.0.1"]);
  const other = createServer({ cert: serving.certificate, key: serving.key }, listener);
  other.listen(0, "127.0.0.1");
  await once(other, "listening");
  try {
    const ca = path.join(folder(), "ca.crt");
    writeFileSync(ca, caCertificate);
    const url = `https://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await use(url, [`--server=${url}`, `--ca=${ca}`]);
  } finally {
    other.closeAllConnections();
    other.close();
  }
}

describe("plinth ready", () => {
  it("waits for a server whose data folder doesn't exist yet, and fails when the server has stopped", async () => {
    const dataDir = path.join(folder(), "data");
    const waiting = ready(`--data-dir=${dataDir}`);
    const server = await ServerHere.start(dataDir, "--anonymous-auth=false");
    expect(await waiting).toEqual({ code: 0, stderr: "" });
    const ca = `--ca=${server.caFile}`;
    const anonymous = await plinthHere("ready", `--server=${server.url}`, ca, "--timeout=0s");
    expect(anonymous).toMatchObject({
      code: 1,
      stderr: `plinth: ${server.url} refuses the request: /readyz answers 401: Unauthorized; check the credentials (--data-dir, --kubeconfig or --token)\n`,
    });
    await server.stop();
    const stopped = await plinthHere("ready", `--data-dir=${dataDir}`, "--timeout=0s");
    expect(stopped).toMatchObject({ code: 1, stderr: expect.stringContaining("ECONNREFUSED") });
  });

  it("asks again until the answer is 200, and names the failed checks when the time has passed", async () => {
    let failures = 2;
    const requests: string[] = [];
    const listener: RequestListener = (request, response) => {
      requests.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.statusCode = failures-- > 0 ? 500 : 200;
      response.end("[+]ping ok\n[-]etcd failed: reason withheld\n[-]shutdown failed\nreadyz check failed\n");
    };
    await withServer(listener, async (url, flags) => {
      const words = [...flags, "--token=secret"];
      expect(await ready(...words)).toEqual({ code: 0, stderr: "" });
      expect(requests).toEqual(Array.from({ length: 3 }, () => "GET /readyz Bearer secret"));
      failures = 1;
      expect(await ready(...words, "--timeout=0s")).toEqual({
        code: 1,
        stderr: `plinth: ${url} is not ready: /readyz answers 500: [-]etcd failed: reason withheld; [-]shutdown failed\n`,
      });
    });
  });

  it("ends in time when the server doesn't answer, and cuts off an answer without end", async () => {
    let isEndless = false;
    const listener: RequestListener = (_request, response) => {
      if (!isEndless) return;
      response.statusCode = 500;
      const piece = Buffer.alloc(16 * 1024, "x");
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", more);
      more();
    };
    await withServer(listener, async (_url, flags) => {
      const startMs = performance.now();
      const silent = await ready(...flags, "--timeout=100ms");
      expect(silent).toMatchObject({ code: 1, stderr: expect.stringContaining("it did not answer in time") });
      expect(performance.now() - startMs).toBeLessThan(4500);
      isEndless = true;
      const endless = await ready(...flags, "--timeout=0s");
      const answer = `/readyz answers 500: ${"x".repeat(200)}\n`;
      expect(endless).toMatchObject({ code: 1, stderr: expect.stringContaining(answer) });
    });
  });

  it.each([
    [["--data-dir=a", "--server=https://b"], "--data-dir and --server exclude each other"],
    [["--data-dir=a", "--kubeconfig=b"], "--data-dir and --kubeconfig exclude each other"],
    [["--timeout=soon"], '--timeout: "soon" is not a length of time'],
  ])("exits with code 2 for %j", async (words, message) => {
    expect(await plinthHere("ready", ...words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });
});
