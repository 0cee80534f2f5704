// The last word on a bundle, and what to do about it: the likely mistake first, never a milder verdict.
import { isEndOpen } from '@baton/ledger'
import type { BundleReport } from '@baton/ledger'

export interface VerdictWords {
  readonly sentence: string
  readonly next: string
}

/** What fails in a sound bundle whose verifier holds somebody else's policy. */
const OF_THE_POLICY: ReadonlySet<string> = new Set([
  'EXPORTER_SIGNATURE',
  'SEAL_SIGNATURE',
  'BATCH_SIGNATURE',
])

export function verdictWords(report: BundleReport, file: string): VerdictWords {
  const { verdict, checks } = report
  if (verdict === 'valid' && isEndOpen(report)) return VALID_BUT_FOR_ITS_END
  if (verdict === 'incomplete' && areOnlyDecisions(checks)) return UNPROVEN_DECISIONS
  if (verdict !== 'tampered') return WORDS[verdict](file)
  const failed = checks.filter(({ result }) => result === 'failed').map(({ id }) => id)
  if (failed.includes('SEAL_SIGNATURE') && failed.every((id) => OF_THE_POLICY.has(id))) {
    return OTHER_POLICY
  }
  return failed.includes('CONTAINER') ? CUT_OFF : TAMPERED
}

const areOnlyDecisions = (checks: BundleReport['checks']): boolean =>
  checks.every(({ id, result }) => result !== 'incomplete' || id === 'DECISIONS')

const WORDS: Readonly<Record<Exclude<BundleReport['verdict'], 'tampered'>, Words>> = {
  valid: (file) => ({
    sentence: 'Verified OK: nothing was altered, added or removed',
    next: `to read it: tar -xf ${quoted(file)} index.html, then open it in a browser`,
  }),
  incomplete: () => ({
    sentence: 'Cannot say: nothing is wrong, but not everything that is needed is there',
    next: 'ask for the evidence again once the task has ended and is sealed',
  }),
  clock: () => ({
    sentence:
      'A clock was wrong: nothing was altered, added or removed, and its times do not say when',
    next: 'compare this machine’s clock first; then ask the exporter whose clock was wrong',
  }),
  'not-a-bundle': () => ({
    sentence: 'This is no bundle of evidence',
    next: 'check that this is the file that you were given; a bundle is a .tar that `baton evidence` wrote',
  }),
  unsupported: () => ({
    sentence: 'Cannot say: this Baton does not know the version of the bundle',
    next: 'verify it with the verifier of the Baton that made it',
  }),
}
type Words = (file: string) => VerdictWords

const quoted = (file: string): string => (/^[\w./-]+$/.test(file) ? file : JSON.stringify(file))

const VALID_BUT_FOR_ITS_END: VerdictWords = {
  sentence:
    'Verified as far as it goes: nothing that is here was altered or added, and nothing is missing between',
  next: 'for a proof of the end as well, name the exporter in your policy: a line `# baton-key exporter KEY`',
}
const UNPROVEN_DECISIONS: VerdictWords = {
  sentence:
    'Cannot say who decided: nothing is wrong, but not every decision is proven to be somebody’s',
  next: 'ask the people for their public keys and name each that ever decided in your policy: a line `# baton-person NAME:ROLES:KEY`; what nobody signed stays unproven',
}
const TAMPERED: VerdictWords = {
  sentence: 'NOT verified: something was altered, added or removed',
  next: 'keep the file as it is, and ask for the evidence again',
}
const CUT_OFF: VerdictWords = {
  ...TAMPERED,
  next: 'keep the file as it is; compare its size with the exporter’s, in case it was cut off on its way, and ask for it again',
}
const OTHER_POLICY: VerdictWords = {
  sentence: 'NOT verified: it fits together, and no key of this policy signed it',
  next: 'check with whoever exported it that this is their policy; if it is, the bundle is forged',
}
