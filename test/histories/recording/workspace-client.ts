import type { Answer, Operation } from "../history.ts";
import type { Connection, Reply } from "./http.ts";
import type { Recorder, Sender } from "./recorder.ts";

const path = "/apis/tenancy.platform.io/v1alpha1/workspaces";

interface WorkspaceBody {
  readonly status: { readonly bases: readonly { readonly resourceVersion: string }[] };
}

interface ListBody {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

/** Creates and deletes branches. */
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

function answerOf({ status, text }: Reply): Answer {
  if (status >= 300) return { outcome: "refused", refusal: "other", status };
  const [base] = (JSON.parse(text) as WorkspaceBody).status.bases;
  return { outcome: "branched", revision: Number(base!.resourceVersion) };
}
