// Processes of a kind that judge by another scanner than before say so in the audit log, before the first verdict of it.
import { fact, taskOfSettings } from '@baton/ledger'
import { findRecordedRuleset, inTransaction, recordChangedRuleset } from '@baton/store'
import type { Database, Pool, ToldRuleset } from '@baton/store'
import { operationEvent } from './record-operation.ts'
import type { OpenedArtefact } from './signed-artefact.ts'

export interface JudgesBy {
  /** The kind of process, for example `receiver`. */
  readonly process: string
  readonly rulesetVersion: string
  /** Whose model it is; undefined for that of the package. */
  readonly artefact: Pick<OpenedArtefact, 'version' | 'sha256' | 'signedBy'> | undefined
}

/** Records it where the log has another one; `not_rising` where a higher artefact was active here, or another one of its version. */
export const recordRuleset = (pool: Pool, judgesBy: JudgesBy): Promise<ToldRuleset> =>
  inTransaction(pool, async (db) => {
    const told = await tell(db, judgesBy)
    // Others of its kind were waited for: now it follows what they said.
    return told === 'other' ? tell(db, judgesBy) : told
  })

async function tell(db: Database, { process, rulesetVersion, artefact }: JudgesBy) {
  const before = await findRecordedRuleset(db, process)
  const details = [
    ...(before === undefined ? [] : [fact('FROM', before.ruleset)]),
    fact('TO', rulesetVersion),
    ...(artefact === undefined
      ? []
      : [
          fact('ARTEFACT_VERSION', String(artefact.version)),
          fact('ARTEFACT_SHA256', artefact.sha256),
          fact('SIGNED_BY', artefact.signedBy),
        ]),
  ]
  const about = { taskId: taskOfSettings(process) }
  const event = { event: 'RULESET_ACTIVATED', subject: process, details, about } as const
  const record = operationEvent({ actor: process, by: process, right: 'settings', ...event })
  return recordChangedRuleset(db, process, record)
}
