import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import {
  auditedMap,
  AuditService,
  countOf,
  logSink,
  metadataPolicy,
  wholePolicy,
  type AuditSink,
} from "./audit-sinks.ts";
import { files } from "./files.ts";
import type { FlagGroup, FlaggedServer, FlagRow } from "./table.ts";

/** Returns how many events of some requests come out; waits for the expected number. */
async function eventsOfRequests(
  sink: AuditSink,
  server: FlaggedServer,
  requests: number,
  expected: unknown,
): Promise<number> {
  const names = [];
  for (let at = 0; at < requests; at++) names.push(await auditedMap(server));
  return countOf(sink, server, names, expected as number);
}

/** Whether the objects of an event are left out. */
async function isTruncated(sink: AuditSink, server: FlaggedServer, bytes: number): Promise<boolean> {
  const name = await auditedMap(server, bytes);
  await countOf(sink, server, [name], 1);
  return sink.eventsOf(server, name)[0]?.annotations?.["audit.platform.io/truncated"] === "true";
}

/** The flags that both backends have. Groups with one `usualLog` have the server in common that has none of their flags. */
function gatheringGroups(sink: AuditSink): readonly FlagGroup[] {
  const { backend } = sink;
  const group = (
    flag: string,
    policy: string,
    words: readonly string[],
    { usualLog = flag, ...row }: Omit<FlagRow, "flag"> & { readonly usualLog?: string },
  ): FlagGroup => ({
    name: `${backend}: ${flag}`,
    shared: (server) => [
      `--audit-policy-file=${policy}`,
      sink.target(`${server === "usual" ? usualLog : flag}-${server}`),
      ...words.map((word) => `--${backend}-${word}`),
    ],
    rows: [{ flag: `${backend}-${flag}`, ...row }],
  });
  const batch = ["mode=batch", "batch-max-size=400", "batch-max-wait=1h", "batch-throttle-enable=false"];
  const single = ["mode=batch", "batch-max-size=1", "batch-max-wait=1h"];
  const slowBatches = [
    ...single,
    "batch-throttle-enable=true",
    "batch-throttle-qps=0.001",
    "batch-throttle-burst=1",
  ];
  return [
    group("batch-max-size", metadataPolicy, batch, {
      usualLog: "batch",
      value: "3",
      observed: "how many of three events come out before a batch is late",
      observe: (server, expected) => eventsOfRequests(sink, server, 3, expected),
      changed: 3,
      usual: 0,
    }),
    group("batch-max-wait", metadataPolicy, batch, {
      usualLog: "batch",
      value: "1ms",
      observed: "whether an event comes out of a batch that isn't full",
      observe: (server, expected) => eventsOfRequests(sink, server, 1, expected),
      changed: 1,
      usual: 0,
    }),
    group("batch-throttle-enable", metadataPolicy, [...slowBatches, "batch-throttle-enable=false"], {
      value: "true",
      observed: "how many of two batches go out at once",
      observe: (server, expected) => eventsOfRequests(sink, server, 2, expected),
      changed: 1,
      usual: 2,
    }),
    group("batch-throttle-burst", metadataPolicy, slowBatches, {
      value: "2",
      observed: "how many of two batches go out at once",
      observe: (server, expected) => eventsOfRequests(sink, server, 2, expected),
      changed: 2,
      usual: 1,
    }),
    group("batch-throttle-qps", metadataPolicy, slowBatches, {
      value: "1000",
      observed: "how many of two batches go out in a moment",
      observe: (server, expected) => eventsOfRequests(sink, server, 2, expected),
      changed: 2,
      usual: 1,
    }),
    group("batch-buffer-size", metadataPolicy, slowBatches, {
      value: "1",
      observed: "whether events are lost while batches wait",
      async observe(server) {
        await eventsOfRequests(sink, server, 5, 1);
        const { text } = await server.admin.get("/metrics");
        return /^apiserver_audit_error_total\{plugin="[a-z]+"\} [1-9]/m.test(text);
      },
      changed: true,
      usual: false,
    }),
    group("truncate-enabled", wholePolicy, ["mode=blocking"], {
      value: "true",
      observed: "whether an event of 200 KB loses its objects",
      observe: (server) => isTruncated(sink, server, 100_000),
      changed: true,
      usual: false,
    }),
    group("truncate-max-event-size", wholePolicy, ["mode=blocking", "truncate-enabled=true"], {
      value: "5000",
      observed: "whether an event of 20 KB loses its objects",
      observe: (server) => isTruncated(sink, server, 10_000),
      changed: true,
      usual: false,
    }),
    group(
      "truncate-max-batch-size",
      metadataPolicy,
      [...slowBatches, "batch-max-size=4", "truncate-enabled=true", "truncate-max-event-size=1500"],
      {
        value: "1501",
        observed: "whether the first batch has all of four events",
        observe: async (server, isWhole) =>
          (await eventsOfRequests(sink, server, 4, isWhole === true ? 4 : 1)) === 4,
        changed: false,
        usual: true,
      },
    ),
  ];
}

const day = (name: string) => `audit-${name}T00-00-00.000.log`;

/** The log's files that were set aside, in a folder with two old ones. */
function rotationGroup(flag: string, row: Omit<FlagRow, "flag">): FlagGroup {
  return {
    name: `audit-log: ${flag}`,
    shared(server) {
      const target = logSink.target(server === "usual" ? "rotation-usual" : flag);
      const folder = path.dirname(target.slice(target.indexOf("=") + 1));
      mkdirSync(folder, { recursive: true });
      for (const name of ["2020-01-01", "2020-01-02"]) writeFileSync(path.join(folder, day(name)), "old\n");
      return [`--audit-policy-file=${wholePolicy}`, target];
    },
    rows: [{ flag, ...row }],
  };
}

/** Returns whether a condition holds for the names of the files that were set aside; waits for it if it is expected to hold. */
async function setAside(
  server: FlaggedServer,
  isExpected: unknown,
  holds: (names: readonly string[]) => boolean,
): Promise<boolean> {
  const folder = path.dirname(server.flag("audit-log-path"));
  const names = () => readdirSync(folder).filter((name) => name !== "audit.log");
  if (isExpected === true) await expect.poll(() => holds(names())).toBe(true);
  else for (let round = 0; round < 40; round++) await server.admin.get("/livez");
  return holds(names());
}

const rotationGroups: readonly FlagGroup[] = [
  rotationGroup("audit-log-maxsize", {
    value: "1",
    observed: "whether a log of 2 MB is begun anew",
    async observe(server, expected) {
      for (let at = 0; at < 4; at++) await auditedMap(server, 300_000);
      return setAside(server, expected, (names) => names.length > 2);
    },
    changed: true,
    usual: false,
  }),
  rotationGroup("audit-log-maxbackup", {
    value: "1",
    observed: "whether only the newest of two old logs is kept",
    observe: (server, expected) =>
      setAside(server, expected, (names) => names.length === 1 && names[0] === day("2020-01-02")),
    changed: true,
    usual: false,
  }),
  rotationGroup("audit-log-maxage", {
    value: "30",
    observed: "whether logs of years ago are removed",
    observe: (server, expected) => setAside(server, expected, (names) => names.length === 0),
    changed: true,
    usual: false,
  }),
  rotationGroup("audit-log-compress", {
    value: "true",
    observed: "whether old logs are compressed",
    observe: (server, expected) =>
      setAside(server, expected, (names) => names.length === 2 && names.every((one) => one.endsWith(".gz"))),
    changed: true,
    usual: false,
  }),
];

/** What is audited, where it goes, and how. */
export async function auditGroups(): Promise<readonly FlagGroup[]> {
  const refused = new Set<string>();
  /** Refuses a list of events about a map named `again-…` the first time. */
  const service = await AuditService.start((text) => {
    const name = /"again-[^"]*"/.exec(text)?.[0];
    if (name === undefined || refused.has(name)) return false;
    refused.add(name);
    return true;
  });
  const policy = `--audit-policy-file=${metadataPolicy}`;
  const own = (name: string) => path.join(files.path, "audit", name, "audit.log");
  return [
    {
      name: "the audit policy",
      shared: (server) => [logSink.target(`policy-${server}`)],
      rows: [
        {
          flag: "audit-policy-file",
          value: metadataPolicy,
          observed: "how many events a request has that the policy names",
          observe: (server, expected) => eventsOfRequests(logSink, server, 1, expected),
          changed: 1,
          usual: 0,
        },
      ],
    },
    {
      name: "the audit log",
      shared: [policy],
      rows: [
        {
          flag: "audit-log-path",
          value: own("path"),
          observed: "how many events the file has of a request",
          observe: (server, expected) => eventsOfRequests(logSink, server, 1, expected),
          changed: 1,
          usual: 0,
        },
      ],
    },
    {
      name: "the audit log's lines",
      shared: (server) => [policy, logSink.target(`format-${server}`)],
      rows: [
        {
          flag: "audit-log-format",
          value: "legacy",
          observed: "how the lines of the log are written",
          async observe(server) {
            await auditedMap(server);
            const text = () => readFileSync(server.flag("audit-log-path"), "utf8");
            await expect.poll(text).not.toBe("");
            return /^\S+ AUDIT: id=/.test(text());
          },
          changed: true,
          usual: false,
        },
      ],
    },
    {
      name: "the mode of the audit log",
      shared: (server) => [
        policy,
        logSink.target(`mode-${server}`),
        "--audit-log-batch-max-size=400",
        "--audit-log-batch-max-wait=1h",
      ],
      rows: [
        {
          flag: "audit-log-mode",
          value: "batch",
          observed: "whether an event is written at once",
          observe: (server, expected) => eventsOfRequests(logSink, server, 1, expected),
          changed: 0,
          usual: 1,
        },
      ],
    },
    ...gatheringGroups(logSink),
    ...rotationGroups,
    {
      name: "the audit webhook",
      close: () => service.close(),
      shared: [policy, "--audit-webhook-mode=blocking"],
      rows: [
        {
          flag: "audit-webhook-config-file",
          value: service.target("webhook").slice("--audit-webhook-config-file=".length),
          observed: "how many events of a request the service gets",
          observe: (server, expected) => eventsOfRequests(service, server, 1, expected),
          changed: 1,
          usual: 0,
        },
      ],
    },
    {
      name: "the mode of the audit webhook",
      shared: [policy, service.target("webhook"), "--audit-webhook-batch-max-wait=1h"],
      rows: [
        {
          flag: "audit-webhook-mode",
          value: "blocking",
          observed: "whether an event is sent at once",
          observe: (server, expected) => eventsOfRequests(service, server, 1, expected),
          changed: 1,
          usual: 0,
        },
      ],
    },
    {
      name: "the patience of the audit webhook",
      shared: [policy, service.target("webhook"), "--audit-webhook-batch-max-wait=1ms"],
      rows: [
        {
          flag: "audit-webhook-initial-backoff",
          value: "1ms",
          observed: "whether events that are refused are sent again in a moment",
          async observe(server, isRepeated) {
            const name = await auditedMap(server, 0, `again-${server.flag("audit-webhook-initial-backoff")}`);
            return (await countOf(service, server, [name], isRepeated === true ? 2 : 1)) === 2;
          },
          changed: true,
          usual: false,
        },
      ],
    },
    ...gatheringGroups(service),
  ];
}
