// What the auditor found while it made a bundle, beside what the bundle itself shows: which rule, and what it comes to.
import { FINDING_RULES, LOG_VERDICTS, verdictOf } from '@baton/ledger'
import type { FindingRule } from '@baton/ledger'
import type { ExitCode } from '../exit-codes.ts'
import type { Output } from '../terminal/output.ts'

interface EvidenceFinding {
  readonly text: string
  readonly consequence: string
  /** By the table of findings. */
  readonly exitCode: ExitCode
}

/** Reads the header `baton-finding`: the rule, where, and what. A rule of a later auditor counts as an alteration. */
export function readFinding(header: unknown): EvidenceFinding | undefined {
  if (typeof header !== 'string') return undefined
  const rule = header.slice(0, header.indexOf(':'))
  const isKnown = (name: string): name is FindingRule => Object.hasOwn(FINDING_RULES, name)
  const verdict = isKnown(rule) ? verdictOf([rule]) : 'altered'
  return {
    text: header,
    consequence: isKnown(rule) ? FINDING_RULES[rule].consequence : LOG_VERDICTS[verdict].sentence,
    exitCode: LOG_VERDICTS[verdict].exitCode,
  }
}

/** For output as JSON. */
export const told = (finding: EvidenceFinding | undefined) =>
  finding === undefined ? {} : { finding: finding.text }

/** Prints it, and gives the worse of both exit codes: altered before what cannot be said. */
export function tellFinding(
  output: Output,
  finding: EvidenceFinding | undefined,
  exitCode: ExitCode,
): ExitCode {
  if (finding === undefined) return exitCode
  output.check(finding.exitCode === 3 ? 'failed' : 'unknown', 'map of tasks', finding.text)
  output.words(
    `${finding.consequence}. The bundle is whole without it; its end rests on the exporter.`,
  )
  return [3, 4].find((code) => code === exitCode || code === finding.exitCode) as ExitCode
}
