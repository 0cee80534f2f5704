// Where a candidate of the scanner decided otherwise than the one that judges; the newest are kept, none with a text of a message.
import { columns, int4, text, uuid } from '@baton/postgres'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

export interface ShadowDifference {
  readonly handoffId: string
  readonly taskId: string
  readonly tenant: string
  readonly candidateVersion: number
  readonly candidateRuleset: string
  readonly activeRuleset: string
  readonly activeDecision: string
  readonly candidateDecision: string
  /** Ids of rules, each once, with spaces between them. */
  readonly activeRules: string
  readonly candidateRules: string
}

const DIFFERENCES = columns({
  handoffId: uuid,
  taskId: uuid,
  tenant: text,
  candidateVersion: int4,
  candidateRuleset: text,
  activeRuleset: text,
  activeDecision: text,
  candidateDecision: text,
  activeRules: text,
  candidateRules: text,
})

/** So many are kept in all, whichever candidates they are of. */
const KEPT_MAX = 10_000

const ADD = `
with forgotten as (
  delete from shadow_difference where ctid = any(array(
    select ctid from shadow_difference order by compared_at desc offset ${KEPT_MAX}))
)
insert into shadow_difference (handoff_id, task_id, tenant, candidate_version, candidate_ruleset, active_ruleset, active_decision,
  candidate_decision, active_rules, candidate_rules)
select * from ${DIFFERENCES.unnest('i')} on conflict do nothing`

/** Adds those that are not there yet, and forgets the oldest beyond what is kept. */
export async function addShadowDifferences(
  db: Database,
  differences: readonly ShadowDifference[],
): Promise<void> {
  await run(db, 'add_shadow_differences', ADD, DIFFERENCES.values(differences))
}

const LISTED = tables
  .selectFrom('shadow_difference')
  .select([
    'handoff_id as handoffId',
    'task_id as taskId',
    'tenant',
    'candidate_version as candidateVersion',
    'candidate_ruleset as candidateRuleset',
    'active_ruleset as activeRuleset',
    'active_decision as activeDecision',
    'candidate_decision as candidateDecision',
    'active_rules as activeRules',
    'candidate_rules as candidateRules',
    'compared_at as comparedAt',
  ])
  .orderBy('compared_at', 'desc')

export interface ListedDifference extends ShadowDifference {
  readonly comparedAt: Date
}

interface DifferenceFilter {
  /** From this moment on; all that are kept by default. */
  readonly since?: Date | undefined
  readonly limit: number
}

/** The newest first. */
export function listShadowDifferences(
  db: Database,
  { since = new Date(0), limit }: DifferenceFilter,
): Promise<ListedDifference[]> {
  return run(db, 'list_shadow_differences', LISTED.where('compared_at', '>=', since).limit(limit))
}
