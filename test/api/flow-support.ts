import { request } from "node:https";
import { afterEach } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import type { Api, TestServer } from "../support/api.ts";
import { grant, ok, startWithUsers, until } from "./support.ts";

const flowGroup = "/apis/flowcontrol.apiserver.platform.io/v1beta3";
export const schemas = `${flowGroup}/flowschemas`;
export const levels = `${flowGroup}/prioritylevelconfigurations`;
export const configMaps = "/api/v1/namespaces/default/configmaps";
export const uidHeader = "x-platform-pf-flowschema-uid";
export const levelHeader = "x-platform-pf-prioritylevel-uid";
const everything = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
export const flowSchema = (name: string, level: string, user: string, fields: object = {}) => ({
  metadata: { name },
  spec: {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: 50,
    rules: [
      {
        subjects: [{ kind: "User", user: { name: user } }],
        resourceRules: [
          { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] },
        ],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      },
    ],
    ...fields,
  },
});
export const rejecting = (name: string, shares = 1) => ({
  metadata: { name },
  spec: { type: "Limited", limited: { nominalConcurrencyShares: shares, limitResponse: { type: "Reject" } } },
});
/** A level with one seat and one place in its queue. */
export const queuing = (name: string) => ({
  metadata: { name },
  spec: {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: 1,
      borrowingLimitPercent: 0,
      limitResponse: { type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } },
    },
  },
});

/** Starts a server with `start` in each test and closes it after the test. */
export function useFlowServer() {
  const flow = {} as { server: TestServer; admin: Api };
  const start = async (options: CreateServerOptions = {}) => {
    flow.server = await startWithUsers([{ name: "ann" }, { name: "bob" }], options);
    ({ admin: flow.admin } = flow.server);
    for (const name of ["ann", "bob"]) await grant(flow.admin, name, everything);
  };
  afterEach(() => flow.server.close());
  /** A request that keeps its seat until its body is sent. */
  function hold(token: string) {
    const url = new URL(flow.server.server.url!);
    const sent = request({
      host: url.hostname,
      port: url.port,
      path: configMaps,
      method: "POST",
      ca: flow.server.server.caCertificate,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "content-length": 2 },
    });
    sent.on("error", () => undefined);
    sent.flushHeaders();
    return {
      answer: new Promise<number>((resolve) => {
        sent.once("response", (response) => {
          response.resume();
          response.once("end", () => resolve(response.statusCode!));
        });
      }),
      /** Sends the body; resolves with the response. */
      finish: () => void sent.end("{}"),
      leave: () => void sent.destroy(),
    };
  }

  /** The value of a metric with these labels. */
  const metric = async (name: string, ...labels: readonly string[]) => {
    const { text } = await ok(flow.admin.get("/metrics"));
    const line = text
      .split("\n")
      .find(
        (one) =>
          one.startsWith(`apiserver_flowcontrol_${name}{`) &&
          labels.every((label) => one.includes(`"${label}"`)),
      );
    return line === undefined ? undefined : Number(line.split(" ").at(-1));
  };
  const executing = (level: string) =>
    until(
      () => metric("current_executing_requests", level),
      (count) => (count ?? 0) > 0,
    );
  const waiting = (level: string) =>
    until(
      () => metric("current_inqueue_requests", level),
      (count) => (count ?? 0) > 0,
    );
  /** A level with one seat for all requests of ann. */
  const annsLevel = async (level: { metadata: { name: string } }) => {
    await ok(flow.admin.post(levels, level));
    await ok(flow.admin.post(schemas, flowSchema("ann", level.metadata.name, "ann")));
  };
  return { flow, start, hold, metric, executing, waiting, annsLevel };
}
