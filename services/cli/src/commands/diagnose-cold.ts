// The cold store as the archiver found it when it read it again: whole, and how long ago that was.
import { readArchivePositions, readColdWatch, readFirstColdFaults } from '@baton/audit'
import type { OpenedDatabases } from '../instance/databases.ts'
import { counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { failed, passed, unknown } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'

const RULE = 'the cold store is read again and is whole'
const DAY_MS = 86_400_000
/** A pass takes a day at most. */
const PASS_AGE_MAX_MS = 2 * DAY_MS
const IDS_MAX = 100

/** What it knows was found by the archiver: `verify` reads the store itself. */
export async function diagnoseCold({ audit }: OpenedDatabases): Promise<Diagnosis> {
  const positions = [...(await readArchivePositions(audit.pool)).values()]
  const { faults, isFull } = await readFirstColdFaults(audit.pool)
  if (faults.length > 0) {
    return failed('I10', RULE, {
      text: `${counted(faults.length, 'bundle')}${isFull ? ' or more' : ''} missing or changed; ${nextStep('audit tiers')} names them, ${nextStep('audit mend-cold')} mends what the database still has`,
      ids: faults.slice(0, IDS_MAX).map(({ rule, message }) => `${message} (${rule})`),
    })
  }
  if (positions.every(({ size, tail }) => size === 0 && tail === 0)) {
    return passed('I10', RULE, 'nothing archived yet')
  }
  const lastPass = (await readColdWatch(audit.pool))?.lastPass ?? null
  if (lastPass === null) return unknown('I10', RULE, 'not yet read again to the end')
  const read = `${counted(lastPass.bundles, 'bundle')} read again until ${lastPass.endedAt}`
  const isOld = Date.now() - Date.parse(lastPass.endedAt) > PASS_AGE_MAX_MS
  return isOld ? unknown('I10', RULE, `${read}; start the archiver`) : passed('I10', RULE, read)
}
