import type { Server } from "../../../src/server/server.ts";
import { engineOf, Api, type TestServer } from "../../support/api.ts";
import type { Engine } from "../../../src/resources/engine/engine.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { startByFlags } from "../../support/server-here.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A server that was started by flags, in this process. */
export interface FlaggedServer {
  readonly server: Server;
  readonly engine: Engine;
  readonly admin: Api;
  /** Folder of `--data-dir`, unless the flags name another one. */
  readonly folder: string;
  /** The value of a flag; empty without one. */
  flag(name: string): string;
  /** Moves the server's time; only in groups that ask for it. */
  readonly clock: ManualClock | undefined;
  /** A client with a bearer token, or without credentials. */
  as(token: string | undefined): Api;
  asCertificate(pair: { readonly certificate: string; readonly key: string }): Api;
  close(): Promise<void>;
}

/** A flag, a value, and what is observed of a server that has it. */
export interface FlagRow {
  readonly flag: string;
  readonly value: string;
  /** The value in the test's title, where it differs from run to run and isn't a file. */
  readonly shownValue?: string;
  readonly observed: string;
  /** The requirement that the row shows, for the title. */
  readonly requirement?: string;
  /**
   * What a server shows; asked once of a server with the value and once of one without.
   *
   * @param expected what it should show: what comes late is waited for.
   */
  observe(server: FlaggedServer, expected: unknown): unknown;
  readonly changed: unknown;
  /** What a server without the flag shows. */
  readonly usual: unknown;
}

/** Flags that don't interfere: one server has them all, and another one none of them. */
export interface FlagGroup {
  readonly name: string;
  /** Flags that both servers have, or such flags for each of them. */
  readonly shared?: readonly string[] | ((server: "changed" | "usual") => readonly string[]);
  readonly rows: readonly FlagRow[];
  /** Whether time is moved by the rows. */
  readonly manualClock?: boolean;
  /** Ends what the rows work with. */
  close?(): Promise<void> | void;
}

/** A flag that a test elsewhere shows on a running server. */
export interface ShownElsewhere {
  readonly flag: string;
  readonly value: string;
  readonly observed: string;
  /** Path of the file below `test/`, and the title of a test in it. */
  readonly file: string;
  readonly title: string;
  /** The code by which the file sets the flag or its option, where it doesn't name the flag. */
  readonly code?: string;
}

/** Starts a server by flags. Unless they say otherwise it listens on a free port and keeps its objects in memory. */
export async function startFlagged(words: readonly string[], manualClock = false): Promise<FlaggedServer> {
  const folder = temporaryFolder();
  const usual = [
    "--secure-port=0",
    "--storage-backend=memory",
    `--data-dir=${folder.path}`,
    "--log-level=silent",
  ];
  const clock = manualClock ? new ManualClock() : undefined;
  const changes = clock === undefined ? {} : { clock };
  const { server, flags } = await startByFlags([...usual, ...words], () => changes).catch(
    (error: unknown) => {
      folder.remove();
      throw error;
    },
  );
  const apis: Api[] = [];
  const track = (api: Api): Api => {
    apis.push(api);
    return api;
  };
  const { url = "", caCertificate } = server;
  const as = (token: string | undefined) =>
    track(new Api(url, caCertificate, token === undefined ? undefined : `Bearer ${token}`));
  return {
    server,
    folder: folder.path,
    flag: (name) => flags.text(name),
    engine: engineOf({ server } as TestServer),
    admin: as(server.adminToken),
    clock,
    as,
    asCertificate: ({ certificate, key }) =>
      track(new Api(url, caCertificate, undefined, { cert: certificate, key })),
    async close() {
      for (const api of apis) api.close();
      const closed = server.close();
      await clock?.advance(60_000);
      await closed;
      folder.remove();
    },
  };
}
