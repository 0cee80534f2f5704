// What a superuser takes away before tampering, and puts back so that the schema shows nothing of it.
import type { Pool } from '@baton/audit'

export interface LogGuards {
  /** Switches off the triggers of these tables, and takes away the check of record hashes: anything can be written. */
  lift(tables: readonly string[]): Promise<void>
  /** Lets `look` see the schema as the migrations made it, whatever was written meanwhile. */
  inPlace<Result>(look: () => Promise<Result>): Promise<Result>
}

const CHECK = 'record_hash_fits'

const putBack = (table: string): string => `do $$
declare
  own record;
begin
  for own in select t.tgname, case when t.tgisinternal then '' else 'always' end as mode from pg_trigger t
    where t.tgrelid = 'audit.${table}'::regclass
  loop
    execute format('alter table audit.${table} enable %s trigger %I', own.mode, own.tgname);
  end loop;
end $$`

// Rows that break the check are there already, so it is only said to be validated.
const CHECK_AGAIN = `alter table audit.record add constraint ${CHECK}
    check (record_hash = sha256('\\x00'::bytea || body)) not valid;
  update pg_constraint set convalidated = true where conname = '${CHECK}'`

export function createLogGuards(superuser: Pool): LogGuards {
  let lifted: readonly string[] = []
  const sql = (text: string) => superuser.query({ text })
  const takeAway = async () => {
    for (const table of lifted) await sql(`alter table audit.${table} disable trigger all`)
    await sql(`alter table audit.record drop constraint ${CHECK}`)
  }
  return {
    async lift(tables) {
      lifted = tables
      await takeAway()
    },
    async inPlace(look) {
      if (lifted.length === 0) return look()
      for (const table of lifted) await sql(putBack(table))
      await sql(CHECK_AGAIN)
      try {
        return await look()
      } finally {
        await takeAway()
      }
    },
  }
}
