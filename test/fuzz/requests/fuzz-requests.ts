import { vocabularies } from "../../../src/vocabulary/vocabularies.ts";
import type { Vocabulary } from "../../../src/vocabulary/vocabulary.ts";
import { Api } from "../../support/api.ts";
import { Dice } from "../../support/dice.ts";
import { responseFault } from "./check-response.ts";
import { FuzzClient } from "./client.ts";
import { objectNamespaces, RequestGenerator } from "./generate.ts";
import { lineOf, type FuzzRequest } from "./request.ts";
import type { Patch } from "../../support/patched-modules.ts";
import { ServerUnderTest } from "./server-under-test.ts";
import { WorstInputs, type WorstInput } from "./worst-inputs.ts";

/** Options of {@link fuzzRequests}. */
export interface RequestFuzzOptions {
  readonly seed: number;
  readonly vocabulary: "platform" | "kubernetes";
  /** Whether to continue, given the number of requests so far. */
  readonly goOn: (requests: number) => boolean;
  /** If present, all requests have many entries in a list or map whose name contains this text. */
  readonly focus?: string;
  /** A change of the server, for a test that the search finds a defect. */
  readonly patch?: Patch;
  readonly onWindow?: (report: RequestFuzzReport) => void;
}

/** The result of a run. */
export interface RequestFuzzReport {
  readonly requests: number;
  readonly seconds: number;
  /** Number of responses by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Wrong responses, exceptions and logged errors, each once. */
  readonly defects: readonly string[];
  /** The requests with the longest turns, when they are repeated alone. */
  readonly worst: readonly WorstInput[];
  /** Used heap of the server after garbage collection at the end of each window, in bytes. */
  readonly heapBytes: readonly number[];
}

/** Requests under way at the same time. */
const concurrency = 4;
/** Requests between two repetitions of the slow ones. */
const roundSize = 400;
/** The same for requests with a focus, which are all large. */
const focusedRoundSize = 3;
/** Rounds between two measurements of memory; before each, the objects are deleted. */
const roundsPerWindow = 12;
const maxDefects = 20;

/** Sends random requests of random users to a server, and checks the responses, the turns of its event loop, and its memory. */
export async function fuzzRequests(options: RequestFuzzOptions): Promise<RequestFuzzReport> {
  const worst = new WorstInputs();
  const defects = new Set<string>();
  const server = await ServerUnderTest.start({
    vocabulary: options.vocabulary,
    users: [
      { name: "limited", groups: ["readers"] },
      { name: "nobody", groups: [] },
    ],
    ...(options.patch && { patch: options.patch }),
    onTurn: (turn) => worst.addTurn(turn),
    onDefect: (text) => void defects.add(text),
  });
  const run = new Run(server, options, worst, defects);
  try {
    return await run.run();
  } finally {
    run.close();
    await server.stop();
  }
}

class Run {
  private readonly client: FuzzClient;
  private readonly admin: Api;
  private readonly statuses = new Map<number, number>();
  private readonly heapBytes: number[] = [];
  private readonly start = performance.now();
  private readonly vocabulary: Vocabulary;
  /** The administrator, users, a wrong token, the service account, and no token. */
  private readonly tokens = ["", "limited", "nobody", "wrong", "wrong", undefined];
  private requests = 0;

  constructor(
    private readonly server: ServerUnderTest,
    private readonly options: RequestFuzzOptions,
    private readonly worst: WorstInputs,
    private readonly defects: Set<string>,
  ) {
    this.client = new FuzzClient(server.url, server.ca);
    this.vocabulary = vocabularies.find(({ name }) => name === options.vocabulary)!;
    this.admin = new Api(server.url, server.ca, `Bearer ${server.adminToken}`);
  }

  close(): void {
    this.client.close();
    this.admin.close();
  }

  async run(): Promise<RequestFuzzReport> {
    const { seed, goOn, focus, onWindow } = this.options;
    this.tokens[0] = this.server.adminToken;
    await this.prepare();
    const generator = new RequestGenerator(new Dice(seed), this.vocabulary, this.tokens, focus);
    for (let round = 1; this.defects.size < maxDefects && goOn(this.requests); round++) {
      await this.sendRound(generator);
      await this.worst.repeat((request) => this.longestTurnOf(request));
      if (round % roundsPerWindow !== 0) continue;
      await this.deleteObjects();
      this.heapBytes.push(await this.server.heapBytes());
      onWindow?.(this.report());
    }
    return this.report();
  }

  private report(): RequestFuzzReport {
    const { requests, statuses, heapBytes } = this;
    const seconds = (performance.now() - this.start) / 1000;
    return { requests, seconds, statuses, defects: [...this.defects], worst: this.worst.list, heapBytes };
  }

  /** Creates the namespace, the rights of the limited user, and a token of a service account. */
  private async prepare(): Promise<void> {
    const { groupSuffix } = this.vocabulary;
    await this.createNamespace();
    const rbac = `/apis/rbac.authorization.${groupSuffix}/v1/namespaces/default/rolebindings`;
    await this.admin.post(rbac, {
      metadata: { name: "readers" },
      roleRef: { apiGroup: `rbac.authorization.${groupSuffix}`, kind: "ClusterRole", name: "view" },
      subjects: [{ apiGroup: `rbac.authorization.${groupSuffix}`, kind: "Group", name: "readers" }],
    });
    const account = "/api/v1/namespaces/default/serviceaccounts";
    await this.admin.post(account, { metadata: { name: "fuzz" } });
    const { body } = await this.admin.post(`${account}/fuzz/token`, {
      spec: { audiences: [], expirationSeconds: 86_400 },
    });
    this.tokens[4] = (body as { status?: { token?: string } }).status?.token ?? "wrong";
  }

  private async createNamespace(): Promise<void> {
    await this.admin.post("/api/v1/namespaces", { metadata: { name: "fuzz" } });
  }

  private async sendRound(generator: RequestGenerator): Promise<void> {
    let left = this.options.focus === undefined ? roundSize : focusedRoundSize;
    const work = async () => {
      while (left-- > 0) await this.send(generator.next());
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  }

  private async send(request: FuzzRequest): Promise<void> {
    this.requests++;
    const end = this.worst.record(request);
    try {
      const response = await this.client.send(request);
      const { status = 0 } = response;
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      const fault = responseFault(request, response);
      if (fault !== undefined) this.addDefect(`${lineOf(request)}\n    ${fault}`);
    } catch (error) {
      this.addDefect(`${lineOf(request)}\n    ${String(error)}`);
    } finally {
      end();
    }
  }

  private addDefect(text: string): void {
    if (this.defects.size < maxDefects) this.defects.add(text);
  }

  private async longestTurnOf(request: FuzzRequest): Promise<number> {
    await this.server.longestTurnMs();
    await this.send(request);
    return this.server.longestTurnMs();
  }

  /** Deletes what the requests created, so that memory doesn't grow with the number of objects. */
  private async deleteObjects(): Promise<void> {
    const { body } = await this.admin.get("/apis");
    const groups = (body as { groups: { preferredVersion: { groupVersion: string } }[] }).groups;
    const versions = [
      "/api/v1",
      ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
    ];
    for (const version of versions) {
      const { body: list } = await this.admin.get(version);
      const { resources = [] } = list as {
        resources?: { name: string; namespaced: boolean; verbs: string[] }[];
      };
      for (const { name, namespaced, verbs } of resources) {
        if (!namespaced || !verbs.includes("deletecollection")) continue;
        for (const namespace of objectNamespaces)
          await this.deleteAll(`${version}/namespaces/${namespace}/${name}`);
      }
    }
    await this.prepare();
  }

  private async deleteAll(collection: string): Promise<void> {
    await this.admin.ask("DELETE", `${collection}?gracePeriodSeconds=0`);
    const { body } = await this.admin.get(collection);
    const { items = [] } = (body ?? {}) as { items?: { metadata: { name: string; finalizers?: unknown } }[] };
    for (const { metadata } of items) {
      if (metadata.finalizers === undefined) continue;
      const path = `${collection}/${encodeURIComponent(metadata.name)}`;
      await this.admin.patch(path, { metadata: { finalizers: null } });
    }
  }
}
