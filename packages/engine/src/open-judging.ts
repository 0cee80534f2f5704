// By what else than the scanner an installation's settings have handoffs judged, and what a process says of that when it begins.
import { facts } from '@baton/ledger'
import type { OperationDetail, People } from '@baton/ledger'
import type { Settings, Tls } from '@baton/runtime'
import type { JudgeParts } from './judge-delivery.ts'
import { openClassifier } from './open-classifier.ts'
import { exemptionFacts, openExemptions } from './open-exemptions.ts'
import type { CLASSIFIER_SETTINGS, JUDGING_SETTINGS } from './settings.ts'

export type Judging = Required<Pick<JudgeParts, 'classifier' | 'exemptions' | 'rejectFlagged'>>

/** Throws BATON_PLAINTEXT_REFUSED and BATON_EXEMPTIONS_INVALID. */
export const openJudging = (
  settings: Settings<typeof CLASSIFIER_SETTINGS & typeof JUDGING_SETTINGS>,
  { people, tls }: { readonly people: People; readonly tls: Tls },
): Judging => ({
  classifier: openClassifier(settings, tls),
  exemptions: openExemptions(settings.BATON_EXEMPTIONS, people),
  rejectFlagged: (settings.BATON_REJECT_FLAGGED ?? '')
    .split(',')
    .flatMap((type) => type.trim() || []),
})

/** What the record of a process's settings says of it. */
export const judgingFacts = ({
  classifier,
  exemptions = [],
  rejectFlagged = [],
}: Judging): readonly OperationDetail[] => [
  ...facts('CLASSIFIER', classifier === undefined ? [] : [classifier.name]),
  ...facts('REJECTS_FLAGGED', rejectFlagged.length === 0 ? [] : [rejectFlagged.join(',')]),
  ...exemptionFacts(exemptions),
]
