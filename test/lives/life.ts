import type { Answer, AskOptions } from "../support/api.ts";
import { Teller } from "./shown.ts";
import { collection, item, type Json, type Subject } from "./subject.ts";

/** What was asked and what the answer said. */
export interface Told {
  readonly step: string;
  readonly status: number;
  readonly lines: readonly string[];
}

export type Ask = (method: string, path: string, options: AskOptions) => Promise<Answer>;

/** The life of one object: requests by their names, and what was told in answer to each. */
export class Life {
  readonly told: Told[] = [];
  readonly collection: string;
  readonly item: string;
  private readonly teller = new Teller();

  constructor(
    readonly subject: Subject,
    private readonly send: Ask,
    /** Which of the requests of {@link Life.sample} are sent. */
    private readonly isAsked: (step: string) => boolean = () => true,
  ) {
    this.collection = collection(subject);
    this.item = item(subject);
  }

  /** A copy of the object as it is declared, to be changed by the caller. */
  object(): Subject["object"] {
    return structuredClone(this.subject.object);
  }

  /** Asks, and keeps what the answer tells under a name. */
  async ask(step: string, method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const answer = await this.quietly(method, path, options);
    this.told.push({ step, status: answer.status, lines: this.teller.tell(answer) });
    return answer;
  }

  /** As {@link Life.ask} for a request that changes nothing, if it is one of those that are sent. */
  async sample(step: string, method: string, path: string, options: AskOptions = {}): Promise<void> {
    if (this.isAsked(step)) await this.ask(step, method, path, options);
  }

  /** Asks without telling. */
  quietly(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const headers = { "user-agent": "life/1", ...options.headers };
    return this.send(method, path, { ...options, headers });
  }

  /** Asks for a patch of the object, or of what `at` says. */
  patch(step: string, type: PatchType, body: unknown, at = this.item): Promise<Answer> {
    return this.ask(step, "PATCH", at, { body, contentType: patchTypes[type] });
  }

  /** As {@link Life.patch} for a patch that changes nothing, if it is one of those that are sent. */
  async samplePatch(step: string, type: PatchType, body: unknown, at = this.item): Promise<void> {
    if (this.isAsked(step)) await this.patch(step, type, body, at);
  }

  /** Puts a new object in the place of whatever is there, and tells of it. */
  async fresh(): Promise<Json> {
    await this.gone();
    const created = await this.quietly("POST", this.collection, { body: this.object() });
    if (created.status !== 201) throw new Error(`${this.item}: ${created.status} ${created.text}`);
    return (await this.ask("fresh", "GET", this.item)).body as Json;
  }

  /** Deletes the object, whatever holds it. */
  async gone(): Promise<void> {
    for (let tries = 0; tries < 200; tries++) {
      const left = await this.quietly("DELETE", `${this.item}?gracePeriodSeconds=0`);
      const isDeleted = left.status === 200 && (left.body as Json)["kind"] === "Status";
      if (isDeleted || left.status === 404) return;
      await this.quietly("PATCH", this.item, {
        body: { metadata: { finalizers: null } },
        contentType: patchTypes.merge,
      });
      if (this.subject.object["kind"] === "Namespace") await this.finalize();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`${this.item} stays`);
  }

  /** Does for a namespace what its controller does at the end. */
  async finalize(): Promise<void> {
    const read = (await this.quietly("GET", this.item)).body as Json;
    await this.quietly("PUT", `${this.item}/finalize`, { body: { ...read, spec: {} } });
  }
}

export const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;
export type PatchType = keyof typeof patchTypes;
