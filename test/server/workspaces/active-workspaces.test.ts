import { describe, expect, it } from "vitest";
import { ActiveWorkspaces, type WorkspaceUse } from "../../../src/server/workspaces/active-workspaces.ts";
import type { WorkspaceServer } from "../../../src/server/workspaces/workspace-server.ts";
import { ManualClock } from "../../support/manual-clock.ts";

/** A workspace that is busy as long as it has streams. */
class BusyServer {
  closed = false;
  constructor(public isBusy: boolean) {}
  readonly leads = false;
  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

function opened() {
  const clock = new ManualClock();
  const log = { error: (fields: unknown) => Promise.reject(new Error(JSON.stringify(fields))) };
  const records: unknown[] = [];
  const active = new ActiveWorkspaces(clock, log as never, {
    isWritten: () => Promise.resolve(false),
    wasUsed: (uid, _server, use) => Promise.resolve(void records.push([uid, use])),
  });
  const servers: BusyServer[] = [];
  /** Opens a workspace and leaves it, with a watch or without. */
  const visit = async (uid: string, user: string | undefined, isBusy: boolean): Promise<WorkspaceUse> => {
    const use = await active.use(uid, user, () => {
      const server = new BusyServer(isBusy);
      servers.push(server);
      return Promise.resolve(server as unknown as WorkspaceServer);
    });
    use.end();
    return use;
  };
  return { active, visit, servers, records, clock };
}

describe("workspaces in memory", () => {
  it("are at most 1000 that one user keeps in use, and 2000 in all", async () => {
    const { active, visit, servers } = opened();
    for (let i = 0; i < 1000; i++) await visit(`a-${i}`, "ann", true);
    await expect(visit("a-1000", "ann", true)).rejects.toMatchObject({ reason: "TooManyRequests" });
    // Others aren't concerned, also not in the workspaces of this user, and neither is the user in open ones.
    await visit("a-1", "bob", true);
    await visit("a-2", "ann", true);
    for (let i = 0; i < 999; i++) await visit(`b-${i}`, "bob", true);
    await visit("server", undefined, true);
    await expect(visit("c-0", "carl", true)).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    for (const server of servers.slice(0, 10)) server.isBusy = false;
    await visit("c-0", "carl", true);
    expect(servers.slice(0, 10).every(({ closed }) => closed)).toBe(true);
    await visit("a-1000", "ann", true);
    await active.closeAll();
  });

  it("that nobody uses are closed above 200, the least recently used first", async () => {
    const { active, visit, servers } = opened();
    for (let i = 0; i < 200; i++) await visit(`a-${i}`, "ann", false);
    await visit("a-0", "ann", false);
    for (let i = 0; i < 3; i++) await visit(`b-${i}`, "bob", false);
    expect(servers.flatMap(({ closed }, index) => (closed ? [index] : []))).toEqual([1, 2, 3]);
    await active.closeAll();
    expect(servers.every(({ closed }) => closed)).toBe(true);
  });

  it("record their use when they are closed, and hourly while they are in use, with whether they were written", async () => {
    const { active, visit, records, clock, servers } = opened();
    await visit("unused", "ann", false);
    await visit("watched", "ann", true);
    await clock.advance(10 * 60_000);
    expect(records).toEqual([["unused", { unusedMs: expect.any(Number), isChanged: false }]]);
    active.written("watched");
    await clock.advance(51 * 60_000);
    await clock.advance(61 * 60_000);
    expect(records.slice(1)).toEqual([
      ["watched", { unusedMs: 0, isChanged: true }],
      ["watched", { unusedMs: 0, isChanged: false }],
    ]);
    servers[1]!.isBusy = false;
    await clock.advance(60_000);
    expect(records).toHaveLength(4);
    await active.closeAll();
  });
});
