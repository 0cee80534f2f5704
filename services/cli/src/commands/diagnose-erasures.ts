// Whether what was erased is still gone: texts, payloads and keys, as after a restore that nobody replayed.
import { findUndoneErasures, listErasures } from '@baton/audit'
import { findUnreflected } from '@baton/store'
import type { OpenedDatabases } from '../instance/databases.ts'
import { counted } from '../terminal/figures.ts'
import { failed, passed } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'

const RULE = 'what was erased is gone from every store'
const IDS_MAX = 100

/** Names erasures, and handoffs whose text is there although their erasure is complete. Reads only. */
export async function diagnoseErasures({ pool, audit }: OpenedDatabases): Promise<Diagnosis> {
  const completed = await listErasures(audit.pool, ['COMPLETED'])
  const undone = await findUndoneErasures(audit.pool, audit.vault)
  const texts = await findUnreflected(
    pool,
    completed.flatMap(({ handoffIds }) => handoffIds),
  )
  if (undone.length + texts.length === 0) {
    return passed('I11', RULE, counted(completed.length, 'erasure'))
  }
  return failed('I11', RULE, {
    text: `${counted(undone.length, 'erasure')} and ${counted(texts.length, 'handoff')} came back; run: erase --replay`,
    ids: [...undone, ...texts].slice(0, IDS_MAX),
  })
}
