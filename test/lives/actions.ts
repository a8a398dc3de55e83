import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import type { Answer } from "../support/api.ts";
import type { Ask, Told } from "./life.ts";
import { Teller } from "./shown.ts";
import type { Json, Release } from "./subject.ts";

/** Requests with bodies of one sort, about an object that there is first or about nothing; see `actions.yaml`. */
export interface Action {
  readonly name: string;
  readonly in?: string;
  readonly on?: Json & { readonly metadata: { readonly name: string } };
  readonly at: string;
  readonly bodies: readonly Json[];
}

export function actions(release: Release): Action[] {
  const all = parse(readFileSync(path.join(import.meta.dirname, "actions.yaml"), "utf8")) as Action[];
  if (release === "1.26") return all;
  return all.map((one) => ({
    ...one,
    at: one.at.replace("/authentication.k8s.io/v1alpha1/", "/authentication.k8s.io/v1/"),
  }));
}

/** Sends each body; tells of the answers, and of the object after each. */
export async function act({ in: collection, on, at, bodies }: Action, ask: Ask): Promise<readonly Told[]> {
  const told: Told[] = [];
  const teller = new Teller();
  const send = (method: string, to: string, body?: Json): Promise<Answer> =>
    ask(method, to, { ...(body && { body }), headers: { "user-agent": "life/1" } });
  const note = (step: string, answer: Answer): void => {
    told.push({ step, status: answer.status, lines: teller.tell(answer) });
  };
  const item = `/${collection}/${on?.metadata.name}`;
  if (on !== undefined) {
    await send("DELETE", `${item}?gracePeriodSeconds=0`);
    await send("POST", `/${collection}`, on);
    note("the object", await send("GET", item));
  }
  for (const [index, body] of bodies.entries()) {
    const step = `${index}: ${JSON.stringify(body)}`;
    note(step, await send("POST", at.startsWith("/") ? at : `${item}/${at}`, body));
    if (on !== undefined) note(`the object after ${index}`, await send("GET", item));
  }
  return told;
}
