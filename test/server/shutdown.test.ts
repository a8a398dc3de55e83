import { readFileSync } from "node:fs";
import { connect as connectHttp2, constants } from "node:http2";
import { Agent, request } from "node:https";
import path from "node:path";
import { expect, test } from "vitest";
import { until } from "../../src/storage/conformance/support.ts";
import { root, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { answerOf } from "../robustness/support.ts";

/** Outcomes of requests by their status, or the code of the error. */
type Outcomes = Map<string, number>;

const count = (outcomes: Outcomes, outcome: string) =>
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);

/**
 * Why no connection was made. One that the system took just before the server stopped listening is reset before TLS begins;
 * nothing of a request was sent then.
 */
const unconnected = ({ code, message }: NodeJS.ErrnoException): string =>
  code === "ECONNRESET" ? "ECONNREFUSED" : (code ?? message);

/** Asks one request after the other until a connection is refused. */
async function hammer(ask: () => Promise<string>, outcomes: Outcomes): Promise<void> {
  for (;;) {
    const outcome = await ask();
    count(outcomes, outcome);
    if (outcome === "ECONNREFUSED") return;
  }
}

test("clients that send requests while the server stops get responses, or connection refused after it stopped", async () => {
  const folder = temporaryFolder();
  const tokens = path.join(root, "examples/organisation/tokens.csv");
  const server = await ServerProcess.start(folder.path, `--token-auth-file=${tokens}`);
  const ca = readFileSync(server.caFile, "utf8");
  const headers = { authorization: "Bearer admin-token" };
  const at = "/api/v1/namespaces/default";
  const over1 = (agent: Agent | false) => () =>
    new Promise<string>((resolve) => {
      const asked = request(`${server.url}${at}`, { ca, headers, agent }, (answer) => {
        answer.resume();
        answer.once("end", () => resolve(String(answer.statusCode)));
        answer.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      });
      let secured = false;
      asked.once("socket", (socket) => {
        if (asked.reusedSocket) secured = true;
        else socket.once("secureConnect", () => (secured = true));
      });
      asked.once("error", (error: NodeJS.ErrnoException) =>
        resolve(secured ? `after TLS: ${error.code}` : unconnected(error)),
      );
      asked.end();
    });
  let session = connectHttp2(server.url, { ca });
  session.on("error", () => undefined);
  let lost = "";
  const over2 = async () => {
    if (session.closed || session.destroyed) {
      lost = "";
      session = connectHttp2(server.url, { ca });
      let secured = false;
      session.once("connect", () => (secured = true));
      session.on(
        "error",
        (error: NodeJS.ErrnoException) => (lost = secured ? `after TLS: ${error.code}` : unconnected(error)),
      );
    }
    const { status, code } = await answerOf(session.request({ ":path": at, ...headers }));
    return lost !== "" ? lost : status !== 0 ? String(status) : `stream closed with ${code}`;
  };
  const kept = new Agent({ keepAlive: true, maxSockets: 4 });
  const outcomes = { kept: new Map(), fresh: new Map(), http2: new Map() } satisfies Record<string, Outcomes>;
  const clients = [
    ...Array.from({ length: 4 }, () => hammer(over1(kept), outcomes.kept)),
    ...Array.from({ length: 2 }, () => hammer(over1(false), outcomes.fresh)),
    hammer(over2, outcomes.http2),
  ];
  const isBusy = () => Object.values(outcomes).every((seen: Outcomes) => (seen.get("200") ?? 0) > 5);
  await until(isBusy, "each kind of client has responses");
  expect(await server.stop()).toBe(0);
  await Promise.all(clients);
  kept.destroy();
  session.destroy();
  folder.remove();
  for (const seen of Object.values(outcomes)) {
    // A stream that an ending connection refuses may be sent again elsewhere (RFC 9113 section 8.7).
    seen.delete(`stream closed with ${constants.NGHTTP2_REFUSED_STREAM}`);
    expect([...seen.keys()].toSorted()).toEqual(["200", "ECONNREFUSED"]);
  }
});
