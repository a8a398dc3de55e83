import { randomUUID } from "node:crypto";
import { decodeStamp, encodeStamp, type RequestedStamp, stampToWrite } from "../stamp.ts";
import { StoreDamagedError, StoreUnavailableError } from "../store.ts";
import { commitFunction, latestOf } from "./commit-function.ts";
import { type Row, type Session, sqlStateOf } from "./session.ts";

/**
 * Versions of the tables and functions. A later version keeps the functions of earlier ones, so that servers can be replaced one by one. A
 * store begins with version 1; see {@link enableTransactions} for version 2.
 */
const firstVersion = 1;
const transactionsVersion = 2;
/** Timeout of the change to version 2, which builds two indexes, in milliseconds. */
const upgradeTimeoutMs = 600_000;
/** Part of the timeout of a statement for which the change to version 2 waits for locks of other sessions. */
const lockShare = 0.8;

const undefinedTable = "42P01";
const undefinedSchema = "3F000";
const insufficientPrivilege = "42501";

/** Creates the tables of version 1. `line` has one row; see decision 21 for the tables. */
function tables(schema: string): string {
  return `
    create table "${schema}".line (
      id integer primary key check (id = 1),
      version integer not null,
      floor bigint not null,
      stamp bytea
    );
    create table "${schema}".entries (
      key bytea not null,
      revision bigint not null,
      until bigint,
      revision_at integer not null,
      header bytea not null,
      body bytea not null,
      primary key (key, revision)
    );
    create unique index entries_current on "${schema}".entries (key) where until is null;
    create unique index entries_revision on "${schema}".entries (revision);
    create unique index entries_until on "${schema}".entries (until) where until is not null;
    create table "${schema}".batches (
      id uuid primary key,
      revision bigint,
      revisions bigint[],
      made timestamptz not null default now()
    );
    create unique index batches_revision on "${schema}".batches (revision) where revision is not null;
    create table "${schema}".shared (
      name text primary key,
      value bytea not null
    );
    insert into "${schema}".line (id, version, floor) values (1, ${firstVersion}, 1);
    insert into "${schema}".batches (id, revision, revisions) values ('${randomUUID()}', 1, '{}');`;
}

/**
 * Moves the store to a revision above the given one, and its floor with it, so that no revision up to there can be read or followed. For
 * stores that lost their newest writes, whose revisions would otherwise be assigned again.
 */
function skipFunction(schema: string): string {
  return `
    create or replace function "${schema}".skip_1(p_id uuid, p_seen bigint) returns bigint language plpgsql as $function$
    declare
      v_revision bigint;
    begin
      perform 1 from "${schema}".line l where l.id = 1 for update;
      v_revision := greatest(${latestOf(schema)}, p_seen) + 1;
      insert into "${schema}".batches (id, revision, revisions) values (p_id, v_revision, '{}');
      update "${schema}".line set floor = v_revision where id = 1;
      return v_revision;
    end
    $function$;`;
}

/**
 * Creates the schema, tables and functions of a store if they don't exist.
 *
 * @throws {StoreDamagedError} if a later version of the program made them, or something else is in the schema.
 * @throws {StoreUnavailableError} if the user may not create them.
 */
export async function prepareSchema(session: Session, schema: string, timeoutMs: number): Promise<void> {
  const version = await versionOf(session, schema, timeoutMs);
  if (version === undefined) return createSchema(session, schema, timeoutMs);
  if (version > transactionsVersion)
    throw new StoreDamagedError(
      `the schema ${schema} of the database has version ${version}, this program supports up to ${transactionsVersion}: ` +
        "use the program version that wrote it, or choose another schema",
    );
}

async function versionOf(session: Session, schema: string, timeoutMs: number): Promise<number | undefined> {
  try {
    const [row] = await session.query({ text: `select version from "${schema}".line` }, timeoutMs);
    return row?.[0] as number | undefined;
  } catch (error) {
    const state = sqlStateOf(error);
    if (state === undefinedTable || state === undefinedSchema) return undefined;
    throw error;
  }
}

async function createSchema(session: Session, schema: string, timeoutMs: number): Promise<void> {
  await changeSchema(session, schema, timeoutMs, async (run) => {
    if ((await versionOfLocked(session, schema, timeoutMs)) !== undefined) return;
    const [existing] = await run(`select 1 from pg_namespace where nspname = '${schema}'`);
    if (existing === undefined) await run(`create schema "${schema}"`);
    await run(`${tables(schema)}${commitFunction(schema, "commit_1")}${skipFunction(schema)}`);
  });
}

/**
 * Changes a store to version 2, in which several entries may have the same revision, unless that has happened already. Writes of all
 * servers wait meanwhile, about two seconds for a million entries. Servers of earlier versions can't open the store afterwards, and those that
 * run stop following its log at the first transaction: to them it lacks revisions, because a transaction takes as many as it has writes.
 *
 * @throws {StoreTimeoutError} another session has a lock on the tables.
 * @throws {StoreUnavailableError} if the user doesn't own the tables.
 */
export async function enableTransactions(session: Session, schema: string, timeoutMs: number): Promise<void> {
  if (((await versionOf(session, schema, timeoutMs)) ?? 0) >= transactionsVersion) return;
  await changeSchema(session, schema, timeoutMs, async (run) => {
    await run(`set local lock_timeout = ${Math.ceil(timeoutMs * lockShare)}`);
    // The lock of the writers comes first, as in their own transactions.
    const [row] = await run(`select l.version from "${schema}".line l where l.id = 1 for update`);
    if (((row?.[0] as number | undefined) ?? 0) >= transactionsVersion) return;
    const text = `
      create index entries_revisions on "${schema}".entries (revision);
      create index entries_untils on "${schema}".entries (until) where until is not null;
      drop index "${schema}".entries_revision, "${schema}".entries_until;
      ${commitFunction(schema, "commit_2")}
      update "${schema}".line set version = ${transactionsVersion} where id = 1;`;
    await session.query({ text }, upgradeTimeoutMs);
  });
}

/** Runs statements in one transaction; those of servers that change the schema together run one after the other. */
async function changeSchema(
  session: Session,
  schema: string,
  timeoutMs: number,
  change: (run: (text: string) => Promise<readonly Row[]>) => Promise<void>,
): Promise<void> {
  const run = (text: string) => session.query({ text }, timeoutMs);
  await run("begin");
  try {
    await run(`select pg_advisory_xact_lock(hashtext('plinth'), hashtext('${schema}'))`);
    await change(run);
    await run("commit");
  } catch (error) {
    if (session.isOpen) await run("rollback");
    if (sqlStateOf(error) === insufficientPrivilege)
      throw new StoreUnavailableError(
        `${(error as Error).message}. To create the schema as an administrator: CREATE SCHEMA "${schema}" AUTHORIZATION <user>`,
        { cause: error },
      );
    throw error;
  }
}

/** As {@link versionOf}, without an error for a missing table, which would end the transaction. */
async function versionOfLocked(
  session: Session,
  schema: string,
  timeoutMs: number,
): Promise<number | undefined> {
  const [row] = await session.query(
    { text: `select to_regclass('"${schema}".line') is not null` },
    timeoutMs,
  );
  return row?.[0] === true ? versionOf(session, schema, timeoutMs) : undefined;
}

/**
 * Writes the stamp of a store that has none or one of an older format.
 *
 * @throws {StoreStampError} if the store has another stamp.
 */
export async function claimStamp(
  session: Session,
  schema: string,
  requested: RequestedStamp,
  timeoutMs: number,
): Promise<void> {
  const telltales = [...requested.telltales];
  const labels: string[] = [];
  for (const [key, label] of telltales) {
    const text = `select 1 from "${schema}".entries where key = $1 and until is null`;
    const [row] = await session.query({ text, values: [Buffer.from(key)] }, timeoutMs);
    if (row !== undefined) labels.push(label);
  }
  for (;;) {
    const [row] = await session.query({ text: `select stamp from "${schema}".line where id = 1` }, timeoutMs);
    const existing = row?.[0] as Buffer | null;
    const missing = stampToWrite(requested, decodeStamp(existing ?? undefined), labels);
    if (missing === undefined) return;
    const text = `update "${schema}".line set stamp = $1 where id = 1 and stamp is not distinct from $2 returning 1`;
    const [written] = await session.query({ text, values: [encodeStamp(missing), existing] }, timeoutMs);
    if (written !== undefined) return;
  }
}
