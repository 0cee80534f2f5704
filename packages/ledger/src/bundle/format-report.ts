// A report as lines for people: what was checked, what was found where, and what it comes to.
import { isEndOpen } from './not-excluded.ts'
import type { BundleFinding, BundleReport, CheckResult, ProvenEnd } from './report.ts'

const MARKS: Readonly<Record<CheckResult, string>> = {
  ok: 'ok      ',
  failed: 'FAILED  ',
  incomplete: 'MISSING ',
  skipped: 'skipped ',
}

const SENTENCES: Readonly<Record<BundleReport['verdict'], string>> = {
  valid: 'VALID: nothing was changed, added or taken away.',
  tampered: 'TAMPERED: something was changed, added or taken away.',
  incomplete: 'INCOMPLETE: nothing is wrong, but not everything that is needed is there.',
  clock:
    'CLOCK: nothing was changed, added or taken away; a clock was wrong, so its times do not say when.',
  'not-a-bundle': 'NOT A BUNDLE: this file is something else.',
  unsupported: 'UNSUPPORTED: this verifier does not know the version of the bundle.',
}

const VALID_BUT_FOR_ITS_END =
  'VALID as far as it goes: nothing that is here was changed or added, and nothing is missing between.'

/** What a process ends with for each verdict. */
export const EXIT_CODES: Readonly<Record<BundleReport['verdict'], number>> = {
  valid: 0,
  tampered: 3,
  incomplete: 4,
  clock: 4,
  'not-a-bundle': 2,
  unsupported: 4,
}

/** Names in a bundle come from outside: nothing of them may steer a terminal. */
const safe = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?')

export function formatReport(report: BundleReport): string {
  if (report.verdict === 'not-a-bundle') return `${SENTENCES['not-a-bundle']}\n`
  const { taskId, records, sealedAt, checks, segments, verdict } = report
  const lines = [
    `task     ${taskId ?? 'several, as their records say'}`,
    `records  ${records}`,
    `sealed   ${sealedAt ?? 'not yet'}`,
    '',
  ]
  for (const { result, title, note, findings } of checks) {
    lines.push(`${MARKS[result]} ${title}${note === null ? '' : ` (${note})`}`)
    for (const finding of findings) lines.push(`           ${formatFinding(finding)}`)
  }
  const counts = new Map<string, number>()
  for (const { status } of segments) counts.set(status, (counts.get(status) ?? 0) + 1)
  const texts = [...counts].map(([status, count]) => `${count} ${status}`).join(', ')
  lines.push('', `texts    ${texts === '' ? 'none' : texts}`, '')
  lines.push(verdict === 'valid' && isEndOpen(report) ? VALID_BUT_FOR_ITS_END : SENTENCES[verdict])
  if (report.end !== null) lines.push(...endLines(report.end, taskId === null))
  for (const open of report.notExcluded) lines.push(`NOT EXCLUDED: ${open}`)
  return `${lines.map(safe).join('\n')}\n`
}

const LATER_SHOWN_MAX = 100

/** How far nothing is missing, and each record that came after that. */
function endLines({ until, later, absent }: ProvenEnd, areSeveral: boolean): string[] {
  const shown = later.slice(0, LATER_SHOWN_MAX).map(({ origin, seq, recordedAt }) => {
    return `LATER: ${origin} record ${seq}, recorded ${recordedAt}; whether others came with it is not said`
  })
  const rest = later.length - shown.length
  return [
    `COMPLETE until ${until}: nothing of ${areSeveral ? 'these tasks' : 'this task'} is missing.`,
    ...absent.map((taskId) => `ABSENT until ${until}: there was no record of the task ${taskId}.`),
    ...shown,
    ...(rest === 0 ? [] : [`LATER: ${rest} more records`]),
  ]
}

function formatFinding({ rule, file, origin, seq, message }: BundleFinding): string {
  const record = seq === null ? '' : ` record ${seq}`
  const place = [file, origin === null ? null : `${origin}${record}`].filter(
    (part) => part !== null,
  )
  return `${rule}: ${[...place, message].join(': ')}`
}
