import type { PlantedDefect as Planted } from "../../support/planted-program.ts";

/** A defect that is planted into the product or the simulated cluster, to measure whether simulations find it. */
export interface PlantedDefect extends Planted {
  /** The laws of which at least one must be violated. */
  readonly laws: readonly string[];
  /** The store in which the defect is; etcd by default. */
  readonly engine?: "etcd" | "memory";
}

const writes = "acknowledged writes are stored";
const lists = "lists equal the state";
const current = "reads are current";
const watches = "watches are complete";
const recover = "servers recover";
const quotas = "quotas hold";
const fixedPoint = "controllers reach the fixed point";
const versions = "one update of a version succeeds";
const starts = "starts fail only while the cluster is unreachable";
const exceptions = "no unexpected exception";

/** Defects of the product: former ones, and those that its code guards against. */
export const productDefects: readonly PlantedDefect[] = [
  {
    name: "DELETED events are lost after a compaction",
    laws: [watches],
    patches: [
      {
        file: "src/storage/etcd/event-watch.ts",
        find: "      const change = storeEvent(key, event, sink);",
        replace:
          "      upTo = kv.modRevision;\n" +
          "      const isComplete = event.previous !== undefined || !(event.deleted || kv.version > 1);\n" +
          "      const change = isComplete ? storeEvent(key, event, sink) : undefined;",
      },
    ],
  },
  {
    name: "writes are acknowledged although the cluster is full",
    laws: [writes],
    patches: [
      {
        file: "src/storage/etcd/writer.ts",
        find: "      if (!unanswered && !(error instanceof StoreFullError)) throw error;",
        replace:
          "      if (!unanswered && !(error instanceof StoreFullError)) throw error;\n" +
          "      if (error instanceof StoreFullError) {\n" +
          "        const { kvs } = await this.connection.range({ key: this.keyspace.marker });\n" +
          "        return { revision: kvs[0]!.modRevision + 1, succeeded: true, results: [], doubtful: false };\n" +
          "      }",
      },
    ],
  },
  {
    name: "terminating pods are removed by a status write",
    laws: ["terminating pods remain until their node agent removes them"],
    patches: [
      {
        file: "src/resources/writes/update-strategy.ts",
        find: " || (live.deletionGracePeriodSeconds ?? 0) > 0",
        replace: "",
      },
    ],
  },
  {
    name: "concurrent creates exceed a quota",
    laws: [quotas],
    patches: [
      {
        file: "src/admission/plugins/resource-quota/resource-quota.ts",
        find: "      request.effects.addCondition(condition);\n",
        replace: "",
      },
    ],
  },
  {
    name: "lists are empty while the cluster is away",
    laws: [lists],
    patches: [
      {
        file: "src/storage/etcd/etcd-store.ts",
        find: "      const part = await this.rangePart(prefix, after, at, Math.min(maxKeys, limit - entries.length));",
        replace:
          "      const part: RangePart = await this.rangePart(prefix, after, at, Math.min(maxKeys, limit - entries.length)).catch(() => ({ revision: this.feed.position, kvs: [], more: false }));",
      },
    ],
  },
  {
    name: "a first load that failed is not repeated",
    laws: [recover, watches, fixedPoint],
    patches: [
      {
        file: "src/resources/followers/follower.ts",
        find: "        this.retry = this.clock.setTimer(() => this.reload(), retryMs);\n",
        replace: "",
      },
    ],
  },
  {
    name: "servers are ready before roles are aggregated",
    laws: ["roles are aggregated before a server is ready"],
    patches: [
      {
        file: "src/controllers/bootstrap/default-objects.ts",
        find: "rules: rulesOf(expected)",
        replace: "rules: rulesOf(expected).slice(0, 0)",
      },
    ],
  },
  {
    name: "a write without an answer is judged by its value",
    laws: [versions, quotas, writes],
    patches: [
      {
        file: "src/storage/etcd/writer.ts",
        find: "    const at = await this.revisionOfToken(token, sent, state);",
        replace:
          "    const isEqual = sent.every(({ value }, n) => value !== undefined && state[n] !== undefined && Buffer.from(state[n].value).equals(value));\n" +
          "    const at = isEqual ? state[0]!.modRevision : undefined;",
      },
    ],
  },
  {
    name: "any value found after a write without an answer is taken for its result",
    laws: [writes],
    patches: [
      {
        file: "src/storage/etcd/writer.ts",
        find: "        if (kvs[0] !== undefined && token.equals(kvs[0].value)) return revision;",
        replace: "        if (kvs[0] !== undefined) return revision;",
      },
    ],
  },
  {
    name: "the age of history is measured by the wall clock",
    laws: ["history is retained"],
    patches: [
      {
        file: "src/storage/time-marks.ts",
        find: "  return () => startMs + clock.monotonicNow();",
        replace: "  return () => clock.now() + 0 * startMs;",
      },
    ],
  },
  {
    name: "watches skip the changes before a compaction",
    laws: [watches],
    patches: [
      {
        file: "src/storage/etcd/live-feed.ts",
        find: "if (newest > feed.position) feed.skipTo(reached);",
        replace: "if (newest > feed.position) feed.moveTo(reached);",
      },
    ],
  },
  {
    name: "events are delivered in reverse order",
    laws: [watches],
    patches: [
      {
        file: "src/storage/etcd/event-watch.ts",
        find: "      batch.push(change);",
        replace: "      batch.unshift(change);",
      },
    ],
  },
  {
    name: "events are delivered twice when a watch is opened again",
    laws: [watches],
    patches: [
      {
        file: "src/storage/etcd/event-watch.ts",
        find: "startRevision: after + 1 }",
        replace: "startRevision: Math.max(1, after - 3) }",
      },
      { file: "src/storage/feed.ts", find: "    if (upTo <= this.position) return;\n", replace: "" },
      {
        file: "src/storage/feed.ts",
        find: 'if (this.state === "closed" || upTo <= this.delivered) return;',
        replace: 'if (this.state === "closed") return;',
      },
      {
        file: "src/storage/feed.ts",
        find: "      first === undefined || first.revision > this.delivered\n",
        replace: "      first === undefined || batch.length > 0\n",
      },
    ],
  },
  {
    name: "bookmarks are ahead of events",
    laws: [watches],
    patches: [
      {
        file: "src/http/verbs/watch-stream.ts",
        find: "this.sentRevision ?? 0)) this.bookmark(position);",
        replace: "this.sentRevision ?? 0)) this.bookmark((position + 1) as Revision);",
      },
    ],
  },
  {
    name: "two servers lead at a time",
    laws: ["one server leads"],
    patches: [
      {
        file: "src/controllers/leader-election.ts",
        find: "this.seen.atMs + Math.max((leaseDurationSeconds ?? 0) * 1000, this.times.leaseMs)",
        replace: "this.seen.atMs + 0 * Math.max(leaseDurationSeconds ?? 0, 3000) + 3000",
      },
    ],
  },
  {
    name: "authorization doesn't wait for the newest roles and bindings",
    laws: ["grants hold at once"],
    patches: [
      {
        file: "src/resources/followers/follower.ts",
        find: "  sync(): MaybePromise<void> {\n",
        replace:
          "  sync(): MaybePromise<void> {\n    if (this.subscription !== undefined) return undefined;\n",
      },
    ],
  },
  {
    name: "no admission plugin is called while default objects are delayed",
    laws: [quotas],
    patches: [
      {
        file: "src/server/engine/api-engine.ts",
        find: "      admit: admission.chain,\n",
        replace:
          "    admit: new Proxy(admission.chain, {\n" +
          "      get(chain, name) {\n" +
          "        const one = parts.life.bootstrapped ? chain : new AdmissionChain([]);\n" +
          "        const member = Reflect.get(one, name);\n" +
          "        return typeof member === 'function' ? member.bind(one) : member;\n" +
          "      },\n" +
          "    }),\n",
      },
    ],
  },
  {
    name: "objects of former releases are read as new ones",
    laws: [exceptions, recover, lists, writes],
    patches: [
      {
        file: "src/resources/objects/stored.ts",
        find: 'return text.endsWith("]]") ?',
        replace: "return text.length > 0 ?",
      },
    ],
  },
  {
    name: "a store without a stamp is refused",
    laws: [starts],
    patches: [
      {
        file: "src/storage/stamp.ts",
        find: "existing === undefined ? [...new Set(telltaleLabels)]",
        replace: 'existing === undefined ? telltaleLabels.map(() => "former")',
      },
    ],
  },
  {
    name: "an update with an old resource version is stored",
    laws: [versions],
    patches: [
      {
        file: "src/resources/writes/guaranteed-update.ts",
        find: 'if (resourceVersion !== "" && resourceVersion !== String(entry.revision))',
        replace: 'if (resourceVersion !== "" && Number(resourceVersion) > entry.revision)',
      },
    ],
  },
  {
    name: "memory: history is dropped early",
    engine: "memory",
    laws: ["history is retained"],
    patches: [
      {
        file: "src/storage/memory/memory-store.ts",
        find: "await this.compact(this.now() - retentionMs);",
        replace: "await this.compact(this.now() - retentionMs / 2);",
      },
    ],
  },
  {
    name: "nothing can be read after a compaction beyond the last write",
    laws: [recover, watches, starts],
    patches: [
      {
        file: "src/storage/etcd/claim.ts",
        find: "  if (modRevision >= compacted) return",
        replace: "  if (modRevision >= 0 * compacted) return",
      },
    ],
  },
];

/** Defects of an etcd cluster, of the classes that its own tests of robustness look for. */
export const clusterDefects: readonly PlantedDefect[] = [
  {
    name: "etcd: a member that was frozen skips events",
    laws: [watches, recover, "grants hold at once", lists],
    patches: [
      {
        file: "test/simulator/etcd/simulated-cluster.ts",
        find: '    if (this.closed || this.sending || cluster.states[member] === "frozen") return;',
        replace:
          '    if (this.closed || this.sending) return;\n    if (cluster.states[member] === "frozen") return void (this.next = cluster.data.revision + 1);',
      },
    ],
  },
  {
    name: "etcd: a write is lost when a member stops (no fsync)",
    laws: ["revisions", lists, current, writes],
    patches: [
      {
        file: "test/simulator/etcd/simulated-cluster.ts",
        find: "    this.states[member] = state;\n",
        replace: '    this.states[member] = state;\n    if (state === "down") this.data.loseLast();\n',
      },
      {
        file: "test/simulator/etcd/revisions.ts",
        find: "  private isRetained(",
        replace:
          "  loseLast(): void {\n    for (const versions of this.keys.values()) if (versions.length > 1 && versions.at(-1)!.kv.modRevision === this.current) versions.pop();\n    this.log.delete(this.current--);\n  }\n\n  private isRetained(",
      },
    ],
  },
  {
    name: "etcd: a member answers reads from the past",
    laws: [current, lists],
    patches: [
      {
        file: "test/simulator/etcd/simulated-cluster.ts",
        find: "(data) => data.range(request));",
        replace:
          "(data) => data.range(this.index !== 1 || request.revision ? request : { ...request, revision: Math.max(1, data.compactRevision, data.revision - 2) }));",
      },
    ],
  },
  {
    name: "etcd: a compaction loses keys",
    laws: [lists, current, recover, writes],
    patches: [
      {
        file: "test/simulator/etcd/revisions.ts",
        find: "versions.slice(versions[first]!.deleted ? first + 1 : first);",
        replace: "versions.slice(versions[first]!.deleted || first > 0 ? first + 1 : first);",
      },
    ],
  },
  {
    name: "etcd: a watch after a compacted revision skips to the present",
    laws: [watches],
    patches: [
      {
        file: "test/simulator/etcd/simulated-cluster.ts",
        find: "    if (this.next <= cluster.data.compactRevision) return this.cancel(cluster.data.compactRevision);\n",
        replace:
          "    if (this.next <= cluster.data.compactRevision) this.next = cluster.data.compactRevision + 1;\n",
      },
    ],
  },
];
