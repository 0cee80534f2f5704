// Which tasks are held, by the signed bytes of the whole log: the same wherever holds are told.
import { listHolds } from '@baton/audit'
import type { Core } from './core.ts'

export const tellHolds = (
  { reader, cold, batchKeys, settings, holdFinder: finder, ...core }: Core,
  after?: string,
): ReturnType<typeof listHolds> => {
  const { BATON_AUDIT_SEAL_AGE_MAX_MS: sealAgeMaxMs } = settings
  return listHolds(
    { reader, cold, batchKeys, covered: core.covered(), sealAgeMaxMs, finder },
    after,
  )
}
