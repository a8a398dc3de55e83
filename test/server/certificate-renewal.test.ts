import { expect, test } from "vitest";
import type { HttpListener } from "../../src/http/transport/listener.ts";
import { renewCertificates } from "../../src/server/certificates/renewal.ts";
import type { Serving } from "../../src/server/certificates/serving.ts";
import type { ServerOptions } from "../../src/server/options/server-options.ts";
import { ManualClock } from "../support/manual-clock.ts";

const hourMs = 3_600_000;

/** Lets hours pass with the renewal of a server's own certificate; returns the lines of the log with their errors. */
async function linesAfterHours(hours: number, renewOwn: Serving["renewOwn"]): Promise<readonly string[]> {
  const clock = new ManualClock();
  const lines: string[] = [];
  const note = ({ error = "" }: { error?: string }, message: string) =>
    void lines.push(`${message} ${error}`.trim());
  const options = { clock, log: { info: note, warn: note, error: note } } as unknown as ServerOptions;
  const serving = { files: [], renewOwn } as unknown as Serving;
  const renewal = await renewCertificates(options, serving, {} as HttpListener, async () => undefined);
  await clock.advance(hours * hourMs);
  await renewal.close();
  return lines;
}

test("a renewal of the own certificate that fails is logged, and tried again after an hour", async () => {
  const lines = await linesAfterHours(2, () => Promise.reject(new Error("the disk is full")));
  expect(lines).toEqual(
    Array.from({ length: 2 }, () =>
      expect.stringMatching(/^the server's own certificate can't be renewed Error: the disk is full/),
    ),
  );
});

test("an operator's certificate isn't renewed", async () => {
  expect(await linesAfterHours(2, undefined)).toEqual([]);
});
