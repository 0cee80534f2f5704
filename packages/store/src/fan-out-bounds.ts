// How far a task fans out: fan-outs within one another, and branches that go on at once (I12).
import { columns, int4, nullable, uuid } from '@baton/postgres'
import { permanent } from '@baton/runtime'
import { run } from './database.ts'
import type { Database } from './database.ts'

/** How far a task may fan out (I12). */
export interface FanOutBounds {
  /** Fan-outs within one another; 1 where a branch may not fan out itself. */
  readonly depthMax: number
  /** Branches of one task that have not ended. */
  readonly openMax: number
}

const PLACES = columns({
  fanOutId: uuid,
  taskId: uuid,
  branchId: nullable(uuid),
  branchCount: int4,
})

const MEASURE = `
with recursive asked as (
  select * from ${PLACES.unnest('a')}
), up as (
  select fan_out_id, branch_id, 1 as depth from asked
  union all
  select up.fan_out_id, f.branch_id, up.depth + 1 from up join branch b on b.id = up.branch_id join fan_out f on f.id = b.fan_out_id
)
select a.fan_out_id as "fanOutId", (select max(up.depth) from up where up.fan_out_id = a.fan_out_id) as depth,
  (select count(*) from fan_out f join branch b on b.fan_out_id = f.id
    where f.task_id = a.task_id and f.ended_at is null and b.outcome is null)
  + (select sum(o.branch_count) from asked o where o.task_id = a.task_id) as open
from asked a`

interface Measured {
  readonly fanOutId: string
  readonly depth: number
  /** With those that it begins. */
  readonly open: number
}

interface Begun {
  readonly fanOutId: string
  readonly taskId: string
  /** The branch it stands in. */
  readonly branchId: string | null
  readonly branchCount: number
  readonly bounds: FanOutBounds
}

/** Throws where a fan-out would be deeper, or its task wider, than may be. The transaction has locked the tasks. */
export async function requireBounds(
  transaction: Database,
  fanOuts: readonly Begun[],
): Promise<void> {
  const values = PLACES.values(fanOuts)
  const measured = await run<Measured & object>(transaction, 'measure_fan_outs', MEASURE, values)
  const boundsOf = new Map(fanOuts.map(({ fanOutId, bounds }) => [fanOutId, bounds]))
  for (const { fanOutId, depth, open } of measured) {
    const { depthMax = depth, openMax = open } = boundsOf.get(fanOutId) ?? {}
    if (depth > depthMax) throw tooDeep(depth, depthMax)
    if (open > openMax) throw tooManyOpen(open, openMax)
  }
}

const tooDeep = (depth: number, depthMax: number) =>
  permanent(
    'BATON_FAN_OUT_TOO_DEEP',
    `this fan-out would stand in ${depth - 1} others, and ${depthMax} may stand within one another`,
    { fix: 'Finish the work in this branch, or raise BATON_FAN_OUT_DEPTH_MAX.' },
  )

const tooManyOpen = (open: number, openMax: number) =>
  permanent(
    'BATON_BRANCHES_OPEN',
    `${open} branches of the task would go on at once, and ${openMax} may`,
    {
      fix: 'Hand on to fewer at once, or join some before more begin; or raise BATON_BRANCHES_OPEN_MAX.',
    },
  )
