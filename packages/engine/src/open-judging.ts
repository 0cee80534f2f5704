// By what else than the scanner an installation's settings have handoffs judged, and what a process says of that when it begins.
import { facts } from '@baton/ledger'
import type { OperationDetail } from '@baton/ledger'
import type { Settings, Tls } from '@baton/runtime'
import type { JudgingBeside } from './judge-delivery.ts'
import { openClassifier } from './open-classifier.ts'
import type { CLASSIFIER_SETTINGS, JUDGING_SETTINGS } from './settings.ts'

export type Judging = Required<Pick<JudgingBeside, 'classifier' | 'rejectFlagged'>>

/** Throws BATON_PLAINTEXT_REFUSED. */
export const openJudging = (
  settings: Settings<typeof CLASSIFIER_SETTINGS & typeof JUDGING_SETTINGS>,
  tls: Tls,
): Judging => ({
  classifier: openClassifier(settings, tls),
  rejectFlagged: (settings.BATON_REJECT_FLAGGED ?? '')
    .split(',')
    .flatMap((type) => type.trim() || []),
})

/** What the record of a process's settings says of it; which exemptions a file holds is told of whenever it changes. */
export const judgingFacts = (
  { classifier, rejectFlagged = [] }: Judging,
  { BATON_EXEMPTIONS: path }: Pick<Settings<typeof JUDGING_SETTINGS>, 'BATON_EXEMPTIONS'>,
): readonly OperationDetail[] => [
  ...facts('CLASSIFIER', classifier === undefined ? [] : [classifier.name]),
  ...facts('REJECTS_FLAGGED', rejectFlagged.length === 0 ? [] : [rejectFlagged.join(',')]),
  ...facts('EXEMPTIONS_FILE', path === undefined ? [] : [path]),
]
