import { setTimeout } from "node:timers/promises";
import type { Answer, Api as ServerApi } from "../support/api.ts";
import type { KilledClient } from "./writer.ts";

type Api = Pick<ServerApi, "get" | "post" | "put" | "delete">;

/** The value of each object by name; absent objects are missing. */
type State = Readonly<Record<string, string>>;

/** A write without an answer. */
interface Pending {
  readonly workspace: string;
  readonly before: State;
  readonly after: State;
}

const workspaces = "/apis/tenancy.platform.io/v1alpha1/workspaces";
const namespace = "/api/v1/namespaces/default/configmaps";
/** Number of objects, and of writes after which a new branch replaces the older one of two. */
const objects = 4;
const writesPerBranch = 10;
const retryMs = 50;

/**
 * A client that is the only writer of a few objects of a workspace and of two branches of it. It overwrites and deletes the objects on both
 * sides, and makes and deletes branches.
 */
export class BranchWriter implements KilledClient {
  acknowledged = 0;
  unanswered = 0;
  unansweredButDone = 0;
  private readonly names: readonly string[];
  private counter = 0;
  private branches = 0;
  /** The state of each workspace that must be there; the base is the first one. */
  private readonly states = new Map<string, State>();
  private pending: Pending | undefined;
  /** Workspaces that may exist, but must not be used. */
  private readonly abandoned = new Set<string>();

  constructor(private readonly base: string) {
    this.names = Array.from({ length: objects }, (_, index) => `object-${index}`);
  }

  async writeUntilUnanswered(api: Api, onAcknowledged?: () => void): Promise<void> {
    try {
      for (;;) {
        await this.step(api);
        onAcknowledged?.();
      }
    } catch (error) {
      if (error instanceof WrongAnswerError) throw error;
      // The process was killed: the write may have taken effect.
      this.unanswered++;
    }
  }

  private async step(api: Api): Promise<void> {
    const { states, base } = this;
    this.counter++;
    if (!states.has(base)) return this.create(api, base, undefined);
    if (this.counter % writesPerBranch === 0) {
      if (states.size > 2) await this.end(api, [...states.keys()][1]!);
      return this.create(api, `${base}-branch-${this.branches++}`, states.get(base));
    }
    const all = [...states.keys()];
    await this.write(api, all[this.counter % all.length]!);
  }

  /** Creates the base, or a branch of it with the base's state. */
  private async create(api: Api, name: string, state: State | undefined): Promise<void> {
    const from = state === undefined ? undefined : { workspace: this.base };
    this.abandoned.add(name);
    const answer = await api.post(workspaces, { metadata: { name }, spec: { from } });
    // The base may exist after an attempt without an answer.
    const isThere = name === this.base && answer.status === 409;
    if (!isThere) this.expect(answer, 201);
    this.abandoned.delete(name);
    this.acknowledged++;
    this.states.set(name, state ?? {});
  }

  private async end(api: Api, name: string): Promise<void> {
    this.states.delete(name);
    this.abandoned.add(name);
    this.expect(await api.delete(`${workspaces}/${name}`), 200);
    this.acknowledged++;
  }

  private async write(api: Api, workspace: string): Promise<void> {
    const before = this.states.get(workspace)!;
    const name = this.names[Math.floor(this.counter / 3) % objects]!;
    const { [name]: value, ...rest } = before;
    const deletes = value !== undefined && this.counter % 4 === 0;
    const data = { value: `${workspace} ${this.counter}` };
    const after = deletes ? rest : { ...rest, [name]: data.value };
    this.pending = { workspace, before, after };
    const collection = `/clusters/${workspace}${namespace}`;
    const body = { metadata: { name }, data };
    if (deletes) this.expect(await api.delete(`${collection}/${name}`), 200);
    else if (value === undefined) this.expect(await api.post(collection, body), 201);
    else this.expect(await api.put(`${collection}/${name}`, body), 200);
    this.pending = undefined;
    this.states.set(workspace, after);
    this.acknowledged++;
  }

  private expect(answer: Answer, status: number): void {
    if (answer.status !== status)
      throw new WrongAnswerError(
        `a write of ${this.base} was answered with ${answer.status}: ${answer.text}`,
      );
  }

  async compare(api: Api): Promise<void> {
    const { pending } = this;
    this.pending = undefined;
    for (const [workspace, state] of this.states) {
      const actual = await this.stateOf(api, workspace);
      if (isSame(actual, state)) continue;
      const isDone = pending?.workspace === workspace && isSame(actual, pending.after);
      if (!isDone)
        throw new Error(
          `${workspace}: acknowledged was ${JSON.stringify(state)}, without an answer ` +
            `${JSON.stringify(pending)}, stored is ${JSON.stringify(actual)}`,
        );
      this.unansweredButDone++;
      this.states.set(workspace, actual);
    }
    for (const name of this.abandoned) if (name !== this.base) await this.removed(api, name);
    this.abandoned.clear();
  }

  private async stateOf(api: Api, workspace: string): Promise<State> {
    const { status, body, text } = await api.get(`/clusters/${workspace}${namespace}`);
    if (status !== 200) throw new Error(`the list of ${workspace} was answered with ${status}: ${text}`);
    const items = body.items as readonly { metadata: { name: string }; data?: { value?: string } }[];
    const own = items.filter(({ metadata }) => this.names.includes(metadata.name));
    return Object.fromEntries(own.map(({ metadata, data }) => [metadata.name, data?.value ?? ""]));
  }

  /** Waits until a workspace that isn't used any more has disappeared. */
  private async removed(api: Api, name: string): Promise<void> {
    while ((await api.delete(`${workspaces}/${name}`)).status !== 404) await setTimeout(retryMs);
  }
}

/** A server answered otherwise than with the success of a write. */
class WrongAnswerError extends Error {}

function isSame(a: State, b: State): boolean {
  const sorted = (state: State) => JSON.stringify(Object.entries(state).toSorted());
  return sorted(a) === sorted(b);
}
