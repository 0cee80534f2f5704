// `doctor`: checks the set-up and every promise on the live system, and names what is missing.
import { PROMISES } from '@baton/engine'
import type { PromiseId } from '@baton/engine'
import { LOG_VERDICTS } from '@baton/ledger'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withDatabases } from '../instance/databases.ts'
import { counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Mark, Output } from '../terminal/output.ts'
import { diagnoseBackups } from './diagnose-backups.ts'
import { diagnosePromises } from './diagnose-promises.ts'
import { knownPeople } from '../instance/known-people.ts'
import { diagnoseSetup } from './diagnose-setup.ts'
import type { Diagnosis } from './diagnosis.ts'

const IDS_SHOWN_MAX = 5

/** Exit code 3 when the audit log does not verify, 1 when anything else is broken, 4 when only the log cannot be judged. */
export async function doctor(context: Context): Promise<ExitCode> {
  const { output } = context
  const people = await knownPeople(context)
  const diagnoses = await withDatabases(context, async (opened) => [
    ...(await diagnoseSetup(context, opened)),
    ...(await diagnoseBackups(context, opened, new Date())),
    ...(await diagnosePromises(opened, { settings: context.settings, people }, (text) =>
      output.progress(text),
    )),
  ])
  output.endProgress()
  if (output.json) output.data(JSON.stringify(diagnoses))
  else printDiagnoses(output, diagnoses)
  const broken = diagnoses.filter(({ mark }) => mark === 'failed')
  output.words(`\n${summaryOf(diagnoses)}`)
  output.next(broken.length === 0 ? nextStep('verify') : isLogBroken(broken) ? KEEP_FIRST : MEND)
  return exitCodeOf(diagnoses)
}

/** That nothing is broken is said only where everything was judged. */
export function summaryOf(diagnoses: readonly Pick<Diagnosis, 'mark'>[]): string {
  const numberOf = (wanted: Mark) => diagnoses.filter(({ mark }) => mark === wanted).length
  const [broken, open] = [numberOf('failed'), numberOf('unknown')]
  if (broken > 0) return `${counted(broken, 'rule')} ${broken === 1 ? 'is' : 'are'} broken.`
  if (open === 0) return 'Nothing is broken.'
  return `Nothing is known to be broken; ${counted(open, 'rule')} marked – ${open === 1 ? 'is' : 'are'} not kept here, or cannot be judged.`
}

const MEND = 'mend what is marked ✗ above, then run doctor again'
const KEEP_FIRST =
  'keep a copy of the databases before anybody repairs the log; infra/README.md, “The log does not verify”'

const isLogBroken = (broken: readonly Diagnosis[]): boolean =>
  broken.some(({ about }) => about === 'I10')

/** Exit code 3 where the log does not verify, 1 where anything else is broken, 4 where only the log cannot be judged. */
export function exitCodeOf(diagnoses: readonly Diagnosis[]): ExitCode {
  const broken = diagnoses.filter(({ mark }) => mark === 'failed')
  const verdict = diagnoses.find((one) => one.verdict !== undefined)?.verdict ?? 'verified'
  const ofLog = LOG_VERDICTS[verdict].exitCode
  if (isLogBroken(broken) || ofLog === EXIT.verificationFailed) return EXIT.verificationFailed
  return broken.length === 0 ? ofLog : EXIT.failure
}

/** What holds is one line for each part; what does not, and what was asked to be told, is said below it. */
export function printDiagnoses(output: Output, diagnoses: readonly Diagnosis[]): void {
  for (const [about, group] of Map.groupBy(sorted(diagnoses), (diagnosis) => diagnosis.about)) {
    const heading = isPromise(about) ? PROMISES[about] : (HEADINGS[about] ?? about)
    output.check(worst(group), about, heading)
    for (const diagnosis of group) printDetails(output, diagnosis)
  }
}

const HEADINGS: Readonly<Record<string, string>> = {
  database: 'Durable, and separated by roles',
  queue: 'Safe to rely on',
  services: 'Running and ready',
  outside: 'Answering where Baton calls them',
  keys: 'Everything that was signed can be checked',
  vault: 'What is kept of people can be opened and found',
  certificates: 'Who is who between processes',
  seals: 'Sealed, and decided by people',
  backups: 'Backed up, and restored for trial',
}

const INDENT = ' '.repeat(19)

const SIGNS: Readonly<Record<Mark, string>> = { passed: '✓', failed: '✗', unknown: '–' }

function printDetails(output: Output, { mark, rule, text, ids, isTold }: Diagnosis): void {
  if (mark === 'passed' && isTold !== true) return
  output.line(`${INDENT}${SIGNS[mark]} ${rule}: ${text}`)
  for (const id of ids.slice(0, IDS_SHOWN_MAX)) output.data(`${INDENT}  ${id}`)
  if (ids.length > IDS_SHOWN_MAX) output.data(`${INDENT}  … --json gives up to 100`)
}

const isPromise = (about: string): about is PromiseId => Object.hasOwn(PROMISES, about)

/** Set-up first, then the promises in their order. */
function sorted(diagnoses: readonly Diagnosis[]): readonly Diagnosis[] {
  const order = [...Object.keys(HEADINGS), ...Object.keys(PROMISES)]
  return diagnoses.toSorted((a, b) => order.indexOf(a.about) - order.indexOf(b.about))
}

/** A group in which something could not be checked, but everything else holds, counts as kept. */
function worst(group: readonly Diagnosis[]): Mark {
  if (group.some(({ mark }) => mark === 'failed')) return 'failed'
  return group.every(({ mark }) => mark === 'unknown') ? 'unknown' : 'passed'
}
