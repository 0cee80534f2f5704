// What must hold between dead letters, their decisions and what executes. The rules are named in the pipeline.
import type { Database } from './database.ts'
import { ids } from './invariant-ids.ts'

/** I2: a dead letter that waits for nothing, or a quarantined handoff that nobody waits for. */
const findMisplacedDeadLetters = (db: Database): Promise<readonly string[]> =>
  ids(
    db,
    'find_misplaced_dead_letters',
    `select h.id from dead_letter d join handoff h on h.id = d.handoff_id
     where (d.resolved_at is null and h.state <> 'DEAD_LETTERED')
       or (d.resolution <> 'DISCARDED' and h.state = 'DEAD_LETTERED')`,
  )

/** I6: a release that is not of this handoff and these bytes, or that outlived an ending without effect. */
const findUnboundReleases = (db: Database): Promise<readonly string[]> =>
  ids(
    db,
    'find_unbound_releases',
    `select h.id from handoff h left join release r on r.id = h.release_id
     where h.release_id is not null
       and (r.id is null or r.handoff_id <> h.id or r.body_sha256 <> h.body_sha256
         or (h.ended_at is not null and h.state not in ('COMPLETED', 'PARTIAL')))`,
  )

// Other bytes than the quarantined ones were judged for themselves.
const RUNS_AS_QUARANTINED = `h.state in ('EXECUTING', 'COMPLETED') and h.body_sha256 = d.message_sha256`

/** I6: executes what was quarantined although nobody, or not two others than its sender, let it go on. */
const findUnreviewedExecutions = (db: Database): Promise<readonly string[]> =>
  ids(
    db,
    'find_unreviewed_executions',
    `select h.id from dead_letter d join handoff h on h.id = d.handoff_id
     left join release r on r.id = h.release_id
     where ${RUNS_AS_QUARANTINED}
       and (d.resolved_at is null or d.resolution = 'DISCARDED'
         or (d.resolution = 'RELEASED' and d.reason = 'SAFETY_VIOLATION'
           and (r.id is null or cardinality(r.reviewers) < 2
             or coalesce(h.sent_by = any(r.reviewers), false))))`,
  )

export const reviewInvariantReads = (db: Database) => ({
  findMisplacedDeadLetters: () => findMisplacedDeadLetters(db),
  findUnboundReleases: () => findUnboundReleases(db),
  findUnreviewedExecutions: () => findUnreviewedExecutions(db),
})
