import { expect } from "vitest";
import type { Answer } from "../../support/api.ts";

export const PODS = "/api/v1/namespaces/default/pods";

/** The least that a pod must say, and what a test adds to its spec. */
export const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "c", image: "example.com/image:1" }], ...spec },
});

/** Expects a rejection by admission: 403 that names the object and the reason. */
export async function rejected(answer: Promise<Answer>, why: string): Promise<void> {
  const { status, body } = await answer;
  expect([status, body.reason, body.message]).toEqual([403, "Forbidden", expect.stringContaining(why)]);
  expect(body.message).toMatch(/is forbidden: /);
}
