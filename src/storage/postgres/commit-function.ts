/** The function of the database that commits a batch. */

/** The expression for the newest revision of the store. */
export function latestOf(schema: string): string {
  return `(select b.revision from "${schema}".batches b where b.revision is not null order by b.revision desc limit 1)`;
}

/** Assigns the revisions of the writes to `v_at`, 0 to those that fail, and the numbers of their first failed conditions to `v_failed`. */
function assignment(schema: string, isGrouped: boolean): string {
  const current = (key: string) =>
    `coalesce((select e.revision from "${schema}".entries e where e.key = ${key} and e.until is null), 0)`;
  const isMet = `${current("w.key")} = w.expected and f.failed is null`;
  const writes = isGrouped
    ? `select w.n, w.grp, f.failed, bool_and(${isMet}) over (partition by w.grp) as ok
            from unnest(p_keys, p_expected, p_groups) with ordinality as w(key, expected, grp, n)`
    : `select w.n, f.failed, ${isMet} as ok
            from unnest(p_keys, p_expected) with ordinality as w(key, expected, n)`;
  return `select array_agg(case when s.ok then v_base + s.place else 0 end order by s.n), array_agg(s.failed order by s.n)
        into v_at, v_failed
        from (
          select r.n, r.failed, r.ok, sum(case when r.ok then 1 else 0 end) over (order by ${isGrouped ? "r.grp" : "r.n"}) as place
          from (
          ${writes}
            left join (
              select c.write, min(c.n) as failed
              from unnest(p_writes, p_condition_keys, p_condition_revisions)
                with ordinality as c(write, key, expected, n)
              where ${current("c.key")} <> c.expected
              group by c.write
            ) f on f.write = w.n
          ) r
        ) s;`;
}

/**
 * Returns the definition of a function that commits a batch in one statement. The writes have distinct keys, none of which a later write
 * of another group of the batch has as a condition. The row of `line` is locked before anything is read, and each statement of the function
 * sees what was committed before it began; so batches are committed in the order of their revisions.
 *
 * In `commit_1` each write takes the next revision if it succeeds. In `commit_2`, of stores of version 2, the writes have groups with ascending
 * numbers, the transactions. A group succeeds if all its writes do. It takes as many revisions as it has writes, and all of them get the
 * last one: so the number of changes in the log shows whether some are missing.
 *
 * The function returns a row with number 0 and the last revision before the batch, and a row for each write: its revision, 0 if its group
 * failed; the number of its first failed condition; and the current or, if requested, the previous value.
 */
export function commitFunction(schema: string, name: "commit_1" | "commit_2"): string {
  const isGrouped = name === "commit_2";
  return `
    create or replace function "${schema}".${name}(
      p_id uuid, p_lock_ms integer, p_keys bytea[], p_expected bigint[], p_revision_at integer[], p_headers bytea[],
      p_bodies bytea[], p_wanted boolean[], p_writes integer[], p_condition_keys bytea[], p_condition_revisions bigint[]
      ${isGrouped ? ", p_groups integer[]" : ""})
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
      ${assignment(schema, isGrouped)}
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
            where w.at > 0 and w.wanted and p.until = w.at${isGrouped ? " and p.key = w.key" : ""}
        ) e on true
        order by w.n;
    end
    $function$;`;
}
