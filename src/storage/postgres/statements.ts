import { latestOf } from "./commit-function.ts";

/** Number of versions at which one statement that reads the log ends, with the revision of the last one. */
const logVersions = 2000;
/** Maximum size of the bodies of one statement, in bytes; the first value may be larger. */
export const portionBytes = 4 * 1024 * 1024;

/** Columns of an entry. */
const entry = "e.key, e.revision, e.revision_at, e.header, e.body";

/** Texts of the statements of a store, with the schema inserted. The names under which sessions keep them begin with `plinth_`. */
export type Statements = ReturnType<typeof statementsOf>;

/** @param schema name of the store's schema, for which `isSchemaName` is true. */
export function statementsOf(schema: string) {
  const named: Named = (name, text) => ({ name: `plinth_2_${schema}_${name}`, text });
  return {
    ...readStatements(schema, named),
    ...writeStatements(schema, named),
    ...checkStatements(schema),
    sharedValue: { text: `select s.value from "${schema}".shared s where s.name = $1` },
    addShared: {
      text: `insert into "${schema}".shared (name, value) values ($1, $2::bytea) on conflict (name) do nothing`,
    },
    replaceShared: {
      text: `update "${schema}".shared set value = $2::bytea where name = $1 and value = $3::bytea`,
    },
  };
}

type Named = (name: string, text: string) => { readonly name: string; readonly text: string };

function readStatements(schema: string, named: Named) {
  const latest = latestOf(schema);
  const head = `${latest} as latest, l.floor`;
  return {
    /** Keys and the revisions that the reader already has: their values aren't sent again. */
    get: named(
      "get",
      `select ${head}, e.key, e.revision, e.revision_at, case when e.revision = k.known then null else e.header end,
         case when e.revision = k.known then null else e.body end
       from "${schema}".line l left join (
         unnest($1::bytea[], $2::bigint[]) as k(key, known)
         join "${schema}".entries e on e.key = k.key and e.until is null
       ) on true where l.id = 1`,
    ),
    getAt: named(
      "get_at",
      `select ${head}, ${entry} from "${schema}".line l left join "${schema}".entries e
         on e.key = $1::bytea and e.revision <= $2::bigint and (e.until is null or e.until > $2::bigint)
       where l.id = 1`,
    ),
    /** Keys from $1 to below $2, at most $3, as long as those before have less than $4 bytes. */
    range: named("range", page(schema, head, "e.until is null")),
    /** As `range`, at revision $5. */
    rangeAt: named(
      "range_at",
      page(schema, head, "e.revision <= $5::bigint and (e.until is null or e.until > $5::bigint)"),
    ),
    count: named(
      "count",
      `select ${head}, (select count(*) from "${schema}".entries e
         where e.key >= $1::bytea and e.key < $2::bytea and e.until is null)
       from "${schema}".line l where l.id = 1`,
    ),
    countAt: named(
      "count_at",
      `select ${head}, (select count(*) from "${schema}".entries e where e.key >= $1::bytea and e.key < $2::bytea
         and e.revision <= $3::bigint and (e.until is null or e.until > $3::bigint))
       from "${schema}".line l where l.id = 1`,
    ),
    /** The newest batch. */
    newest: named(
      "newest",
      `select b.revision, l.floor, b.id::text from "${schema}".line l, lateral (
         select b.revision, b.id from "${schema}".batches b where b.revision is not null order by b.revision desc limit 1
       ) b where l.id = 1`,
    ),
    /** Changes after revision $1 up to $2, unless the batch $3 with revision $4, which the reader has seen, is missing. */
    log: named("log", log(schema, latest, "")),
    /** As `log`, of keys from $5 to below $6. */
    logOfPrefix: named("log_of_prefix", log(schema, latest, " and e.key >= $5::bytea and e.key < $6::bytea")),
  };
}

function writeStatements(schema: string, named: Named) {
  const latest = latestOf(schema);
  return {
    commit: {
      text: `select * from "${schema}".commit_1($1::uuid, $2::integer, $3::bytea[], $4::bigint[], $5::integer[], $6::bytea[],
        $7::bytea[], $8::boolean[], $9::integer[], $10::bytea[], $11::bigint[])`,
    },
    /** As `commit`, with the number of each write's transaction; for stores of version 2. */
    commitGroups: {
      text: `select * from "${schema}".commit_2($1::uuid, $2::integer, $3::bytea[], $4::bigint[], $5::integer[], $6::bytea[],
        $7::bytea[], $8::boolean[], $9::integer[], $10::bytea[], $11::bigint[], $12::integer[])`,
    },
    /** Makes sure that a batch without an answer is never committed, unless it is already; waits for the end of its transaction. */
    abandon: { text: `insert into "${schema}".batches (id) values ($1::uuid) on conflict (id) do nothing` },
    outcome: {
      text: `select b.revision, b.revisions::text from "${schema}".batches b where b.id = $1::uuid`,
    },
    skip: { text: `select "${schema}".skip_1($1::uuid, $2::bigint)` },
    floor: named("floor", `select l.floor from "${schema}".line l where l.id = 1`),
    raiseFloor: {
      text: `update "${schema}".line l set floor = $1::bigint
        where l.id = 1 and l.floor < $1::bigint and $1::bigint <= ${latest}`,
    },
    dropEntries: {
      text: `with dropped as (delete from "${schema}".entries where ctid = any(array(
          select ctid from "${schema}".entries where until <= $1::bigint order by until limit 5000)) returning 1)
        select count(*) from dropped`,
    },
    dropBatches: {
      text: `delete from "${schema}".batches where revision < $1::bigint
        or (revision is null and made < now() - interval '1 hour')`,
    },
    size: {
      text: `select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = '${schema}' and c.relkind = 'r'`,
    },
  };
}

function checkStatements(schema: string) {
  const latest = latestOf(schema);
  return {
    missingRevisions: {
      text: `select (${latest} - l.floor) - (select count(*) from (
          select e.revision, e.key from "${schema}".entries e where e.revision > l.floor
          union select e.until, e.key from "${schema}".entries e where e.until > l.floor) changes), l.floor
        from "${schema}".line l where l.id = 1`,
    },
    overlaps: {
      text: `select s.key, s.revision from (
          select e.key, e.revision, e.until, lead(e.revision) over (partition by e.key order by e.revision) as next
          from "${schema}".entries e) s
        where s.until <= s.revision or (s.next is not null and (s.until is null or s.until > s.next)) limit 100`,
    },
  };
}

function page(schema: string, head: string, condition: string): string {
  return `select ${head}, e.key, e.revision, e.revision_at, e.header, e.body, e.matches
    from "${schema}".line l left join lateral (
      select c.*, count(*) over () as matches, row_number() over (order by c.key) as n,
        sum(octet_length(c.body)) over (order by c.key rows between unbounded preceding and 1 preceding) as before
      from (
        select ${entry} from "${schema}".entries e where e.key >= $1::bytea and e.key < $2::bytea and ${condition}
        order by e.key limit $3::bigint + 1
      ) c
    ) e on e.n <= $3::bigint and coalesce(e.before, 0) < $4::bigint
    where l.id = 1 order by e.key`;
}

/** The part of the log ends with a revision that was assigned, so it has whole transactions. */
function log(schema: string, latest: string, filter: string): string {
  const columns = "e.revision, e.until, e.key, e.revision_at, e.header, e.body";
  return `with head as materialized (
      select ${latest} as latest, l.floor,
        l.floor > $4::bigint or exists (select 1 from "${schema}".batches b where b.id = $3::uuid) as known,
        (select b.id::text from "${schema}".batches b where b.revision is not null order by b.revision desc limit 1) as newest
      from "${schema}".line l where l.id = 1
    ), bound as materialized (
      select h.*, least(h.latest, $2::bigint, (
        select min(t.at) from (
          select c.at, row_number() over (order by c.at) as n, sum(c.size) over (order by c.at) as total from (
            (select e.revision as at, octet_length(e.body) as size from "${schema}".entries e
              where e.revision > $1::bigint and e.revision <= $2::bigint${filter}
              order by e.revision limit ${logVersions})
            union all
            (select e.until, octet_length(e.body) from "${schema}".entries e
              where e.until > $1::bigint and e.until <= $2::bigint${filter}
              order by e.until limit ${logVersions})
          ) c
        ) t where t.total >= ${portionBytes} or t.n = ${logVersions})) as reached
      from head h
    )
    select b.latest, b.floor, b.known, b.newest, b.reached, ${columns} from bound b left join lateral (
      select ${columns} from "${schema}".entries e where e.revision > $1::bigint and e.revision <= b.reached${filter}
      union all
      select ${columns} from "${schema}".entries e
      where e.until > $1::bigint and e.until <= b.reached and e.revision <= $1::bigint${filter}
    ) e on true`;
}
