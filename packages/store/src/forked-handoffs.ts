// The handoff that fanned out, as records about its fan-out name it.
import { KNOWN } from './ended-outside.ts'
import type { ExpiredHandoff } from './ended-outside.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'

// What a sender fanned out had no execution then, and may fan out itself in its own: the fencing token tells both apart.
const FORKED = `
select ${KNOWN} from fan_out f join lateral (
  select h.*, case when own.fan_out_id = f.id then 0 else coalesce(x.fencing_token, 0) end as fencing_token
  from handoff h left join branch own on own.id = h.branch_id left join execution x on x.handoff_id = h.id
  where h.id = f.handoff_id
) e on true
where f.id = $1`

/** Undefined where it is stored no more. */
export async function findForkedHandoff(
  db: Database,
  fanOutId: string,
): Promise<ExpiredHandoff | undefined> {
  return (await run<ExpiredHandoff & object>(db, 'find_forked_handoff', FORKED, [fanOutId]))[0]
}
