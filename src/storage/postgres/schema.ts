import { randomUUID } from "node:crypto";
import { decodeStamp, encodeStamp, type RequestedStamp, stampToWrite } from "../stamp.ts";
import { StoreDamagedError, StoreUnavailableError } from "../store.ts";
import type { Session } from "./session.ts";
import { sqlStateOf } from "./session.ts";

/** Version of the tables and functions. A later version keeps the functions of earlier ones, so that servers can be replaced one by one. */
const schemaVersion = 1;

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
    insert into "${schema}".line (id, version, floor) values (1, ${schemaVersion}, 1);
    insert into "${schema}".batches (id, revision, revisions) values ('${randomUUID()}', 1, '{}');`;
}

/** The expression for the newest revision of the store. */
export function latestOf(schema: string): string {
  return `(select b.revision from "${schema}".batches b where b.revision is not null order by b.revision desc limit 1)`;
}

/**
 * Commits a batch in one statement. The writes have distinct keys, none of which a later write of the batch has as a condition. The row
 * of \`line\` is locked before anything is read, and each statement of the function sees what was committed before it began; so
 * batches are committed in the order of their revisions.
 *
 * It returns a row with number 0 and the last revision before the batch, and a row for each write: its revision, 0 if it failed; the
 * number of its first failed condition; and the current or, if requested, the previous value.
 */
function commitFunction(schema: string): string {
  const current = (key: string) =>
    `coalesce((select e.revision from "${schema}".entries e where e.key = ${key} and e.until is null), 0)`;
  return `
    create or replace function "${schema}".commit_1(
      p_id uuid, p_lock_ms integer, p_keys bytea[], p_expected bigint[], p_revision_at integer[], p_headers bytea[],
      p_bodies bytea[], p_wanted boolean[], p_writes integer[], p_condition_keys bytea[], p_condition_revisions bigint[])
    returns table (n bigint, at bigint, failed bigint, revision bigint, revision_at integer, header bytea, body bytea)
    language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
    as $function$
    #variable_conflict use_column
    declare
      v_base bigint;
      v_last bigint;
      v_at bigint[];
      v_failed bigint[];
    begin
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'the transaction isolation must be read committed';
      end if;
      if current_setting('synchronous_commit') = 'off' then
        perform set_config('synchronous_commit', 'on', true);
      end if;
      perform set_config('lock_timeout', p_lock_ms::text, true);
      perform 1 from "${schema}".line l where l.id = 1 for update;
      v_base := ${latestOf(schema)};
      select array_agg(case when s.ok then v_base + s.place else 0 end order by s.n), array_agg(s.failed order by s.n)
        into v_at, v_failed
        from (
          select r.n, r.failed, r.ok, sum(case when r.ok then 1 else 0 end) over (order by r.n) as place
          from (
            select w.n, f.failed, ${current("w.key")} = w.expected and f.failed is null as ok
            from unnest(p_keys, p_expected) with ordinality as w(key, expected, n)
            left join (
              select c.write, min(c.n) as failed
              from unnest(p_writes, p_condition_keys, p_condition_revisions)
                with ordinality as c(write, key, expected, n)
              where ${current("c.key")} <> c.expected
              group by c.write
            ) f on f.write = w.n
          ) r
        ) s;
      select max(a.at) into v_last from unnest(v_at) as a(at);
      if v_last > 0 then
        update "${schema}".entries e set until = w.at
          from unnest(p_keys, p_expected, v_at) as w(key, expected, at)
          where w.at > 0 and w.expected > 0 and e.key = w.key and e.until is null;
        insert into "${schema}".entries (key, revision, revision_at, header, body)
          select w.key, w.at, w.revision_at, w.header, w.body
          from unnest(p_keys, v_at, p_revision_at, p_headers, p_bodies) as w(key, at, revision_at, header, body)
          where w.at > 0 and w.body is not null;
        insert into "${schema}".batches (id, revision, revisions) values (p_id, v_last, v_at);
      end if;
      return query select 0::bigint, v_base, null::bigint, null::bigint, null::integer, null::bytea, null::bytea;
      return query
        select w.n, w.at, w.failed, e.revision, e.revision_at, e.header, e.body
        from unnest(p_keys, v_at, v_failed, p_wanted) with ordinality as w(key, at, failed, wanted, n)
        left join lateral (
          select c.revision, c.revision_at, c.header, c.body from "${schema}".entries c
            where w.at = 0 and c.key = w.key and c.until is null
          union all
          select p.revision, p.revision_at, p.header, p.body from "${schema}".entries p
            where w.at > 0 and w.wanted and p.until = w.at
        ) e on true
        order by w.n;
    end
    $function$;`;
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
  if (version > schemaVersion)
    throw new StoreDamagedError(
      `the schema ${schema} of the database has version ${version}, this program supports up to ${schemaVersion}: ` +
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
  const run = (text: string) => session.query({ text }, timeoutMs);
  await run("begin");
  try {
    // Servers that start together take turns.
    await run(`select pg_advisory_xact_lock(hashtext('plinth'), hashtext('${schema}'))`);
    if ((await versionOfLocked(session, schema, timeoutMs)) === undefined) {
      const [existing] = await run(`select 1 from pg_namespace where nspname = '${schema}'`);
      if (existing === undefined) await run(`create schema "${schema}"`);
      await run(`${tables(schema)}${commitFunction(schema)}${skipFunction(schema)}`);
    }
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
