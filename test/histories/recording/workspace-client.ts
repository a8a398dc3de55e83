import type { Answer, ObservedObject, Operation } from "../history.ts";
import type { Connection, Reply } from "./http.ts";
import { observe, pathOf, resourceOf, type ApiObject } from "./objects.ts";
import type { Recorder, Sender } from "./recorder.ts";
import { operationOf, transactions, type TogetherRequest } from "./transaction-body.ts";

const group = "/apis/tenancy.platform.io/v1alpha1";
const path = `${group}/workspaces`;

interface WorkspaceBody {
  readonly status: { readonly bases: readonly { readonly resourceVersion: string }[] };
}

interface ListBody {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** Creates, changes, moves, merges and deletes branches. */
export class WorkspaceClient {
  /** @param sender names the workspace of which branches are made; none means the objects outside of workspaces. */
  constructor(
    private readonly sender: Sender,
    private readonly connection: Connection,
    private readonly recorder: Recorder,
  ) {}

  /** Creates a branch of the latest state. */
  branch(name: string): Promise<Operation> {
    const { workspace } = this.sender;
    return this.recorder.record(this.sender, { verb: "branch", name }, async () => {
      const body = { metadata: { name }, spec: { from: workspace === undefined ? {} : { workspace } } };
      const reply = await this.connection.send("POST", path, body);
      if (reply !== undefined && reply.status < 500) return answerOf(reply);
      // It may have been created.
      const stored = await this.connection.send("GET", `${path}/${name}`);
      return stored?.status === 200 ? answerOf(stored) : undefined;
    });
  }

  /**
   * Creates a branch of the latest state that is used by this client alone, so what happens in it isn't recorded.
   *
   * @returns the revision of the state; undefined if it may not have been created.
   */
  async begin(name: string): Promise<number | undefined> {
    const { workspace } = this.sender;
    const body = { metadata: { name }, spec: { from: workspace === undefined ? {} : { workspace } } };
    return startOf(await this.connection.send("POST", path, body));
  }

  /** Writes objects in a branch, which isn't recorded. Returns whether all were written. */
  async writeIn(branch: string, requests: readonly TogetherRequest[]): Promise<boolean> {
    const body = { spec: { operations: requests.map(operationOf) } };
    const reply = await this.connection.send("POST", `/clusters/${branch}${transactions}`, body);
    return reply !== undefined && reply.status < 300;
  }

  /** Records what a branch shows under a prefix in which it has no changes: a list of its base at the revision of the branch. */
  async listBase(branch: string, revision: number, prefix: string): Promise<void> {
    const request = { verb: "list", prefix, state: { kind: "exact", revision } } as const;
    await this.recorder.record(this.sender, request, async () => {
      const reply = await this.connection.send("GET", `/clusters/${branch}${pathOf(prefix)}`);
      if (reply?.status !== 200) return undefined;
      const { items } = JSON.parse(reply.text) as { items: ApiObject[] };
      const objects = items.map((item) => observe(resourceOf(prefix), item));
      return { outcome: "page", revision, objects, more: false };
    });
  }

  /**
   * Moves a branch to the latest state of its base.
   *
   * @returns the revision of the state; undefined if it may not have been moved.
   */
  async rebase(branch: string): Promise<number | undefined> {
    const reply = await this.connection.send("POST", `${group}/workspacerebases`, {
      spec: { workspace: branch },
    });
    if (reply === undefined || reply.status >= 300) return undefined;
    return startOf(await this.connection.send("GET", `${path}/${branch}`));
  }

  /** Merges a branch with these changes into its base, recorded as a transaction of them. */
  merge(branch: string, requests: readonly TogetherRequest[]): Promise<Operation[]> {
    return this.recorder.recordTogether(this.sender, requests, async () => {
      const reply = await this.connection.send("POST", `${group}/workspacemerges`, {
        spec: { workspace: branch },
      });
      if (reply === undefined || (reply.status >= 500 && reply.status !== 507)) return undefined;
      const { status } = reply;
      // A merge whose answer was lost may come later than the next one, and conflicts with it.
      if (status >= 300) return requests.map(() => ({ outcome: "refused", refusal: "other", status }));
      const merged = (JSON.parse(reply.text) as MergeBody).status;
      return this.mergedObjects(requests, Number(merged.resourceVersion));
    });
  }

  /** Reads objects after their merge; undefined if a read isn't answered. Nobody else writes them. */
  private async mergedObjects(
    requests: readonly TogetherRequest[],
    revision: number,
  ): Promise<Answer[] | undefined> {
    const { workspace } = this.sender;
    const root = workspace === undefined ? "" : `/clusters/${workspace}`;
    const answers: Answer[] = [];
    for (const { key } of requests) {
      const reply = await this.connection.send("GET", root + pathOf(key));
      if (reply === undefined || reply.status >= 500) return undefined;
      const object: ObservedObject | undefined =
        reply.status === 200 ? observe(resourceOf(key), JSON.parse(reply.text) as ApiObject) : undefined;
      // Without the object, or with an older one, the answer contradicts what everybody else sees.
      const missing = { key, uid: "", token: "", digest: "" };
      answers.push({ outcome: "object", object: { ...(object ?? missing), revision } });
    }
    return answers;
  }

  /** Deletes a workspace, which isn't recorded. Returns whether it has disappeared. */
  async remove(name: string): Promise<boolean> {
    return (await this.connection.send("DELETE", `${path}/${name}`))?.status === 404;
  }

  /** Returns the names of all workspaces; undefined without an answer. */
  async names(): Promise<string[] | undefined> {
    const reply = await this.connection.send("GET", path);
    if (reply?.status !== 200) return undefined;
    return (JSON.parse(reply.text) as ListBody).items.map(({ metadata }) => metadata.name);
  }
}

interface MergeBody {
  readonly status: { readonly resourceVersion: string };
}

/** Returns the revision of the state with which the workspace of a reply begins. */
function startOf(reply: Reply | undefined): number | undefined {
  if (reply === undefined || reply.status >= 300) return undefined;
  return Number((JSON.parse(reply.text) as WorkspaceBody).status.bases[0]!.resourceVersion);
}

function answerOf({ status, text }: Reply): Answer {
  if (status >= 300) return { outcome: "refused", refusal: "other", status };
  const [base] = (JSON.parse(text) as WorkspaceBody).status.bases;
  return { outcome: "branched", revision: Number(base!.resourceVersion) };
}
