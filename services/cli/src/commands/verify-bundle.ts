// `verify BUNDLE`: verifies evidence offline, against the auditor's own policy and nothing else.
import { readFile } from 'node:fs/promises'
import { EXIT_CODES, parseAuditorPolicy, verifyBundle } from '@baton/ledger'
import type {
  AuditorPolicy,
  BundleFinding,
  BundleReport,
  CheckReport,
  ProvenEnd,
} from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import type { ExitCode } from '../exit-codes.ts'
import { counted, milliseconds } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Mark, Output } from '../terminal/output.ts'
import { verdictWords } from './bundle-verdict.ts'

const MARKS: Readonly<Record<CheckReport['result'], Mark>> = {
  ok: 'passed',
  failed: 'failed',
  incomplete: 'unknown',
  skipped: 'unknown',
}
const CHECK_WIDTH = 18
const FINDINGS_SHOWN_MAX = 5
const LATER_SHOWN_MAX = 20

/** Exit code 2 for a file that is no bundle, 3 when anything was changed, 4 when it cannot be said. Reads no database. */
export async function verifyFile(
  { output }: Context,
  { file, policy: policyFile }: { readonly file: string; readonly policy: string | undefined },
): Promise<ExitCode> {
  const bytes = await readBytes(file)
  if (policyFile === undefined) throw POLICY_NEEDED
  const policy = readPolicy(policyFile, await readBytes(policyFile))
  const startedAt = performance.now()
  const report = verifyBundle(bytes, { policy, now: Date.now() / 1_000, thorough: true })
  const verifyMs = performance.now() - startedAt
  if (output.json) output.data(JSON.stringify({ ...report, verifyMs }))
  else print(output, report, { file, verifyMs })
  output.next(verdictWords(report, file).next)
  return EXIT_CODES[report.verdict] as ExitCode
}

interface Verified {
  readonly file: string
  readonly verifyMs: number
}

function print(output: Output, report: BundleReport, { file, verifyMs }: Verified): void {
  const { taskId, records, sealedAt, segments, verdict } = report
  const sealed = sealedAt === null ? 'not sealed yet' : `sealed ${sealedAt}`
  const unreadable = verdict === 'not-a-bundle'
  if (unreadable) output.data(`${visible(file)}: nothing of a bundle can be read\n`)
  else output.data(`Task ${taskId ?? 'several'}, ${counted(records, 'record')}, ${sealed}\n`)
  // Everything else fails as well then, and says no more.
  const checks = unreadable ? report.checks.slice(0, 1) : report.checks
  for (const { id, title, result, note, findings } of checks) {
    const label = id.toLowerCase().replaceAll('_', ' ').padEnd(CHECK_WIDTH)
    const why = result === 'skipped' ? `skipped: ${note ?? ''}` : title
    const detail = note === null || result === 'skipped' ? '' : ` (${note})`
    output.check(MARKS[result], label, visible(`${why}${detail}`))
    for (const finding of findings.slice(0, FINDINGS_SHOWN_MAX)) {
      output.data(`      ${visible(describe(finding))}`)
    }
  }
  const counts = Map.groupBy(segments, ({ status }) => status)
  const texts = [...counts].map(([status, { length }]) => `${length} ${status}`).join(', ')
  const mark = verdict === 'valid' ? 'passed' : verdict === 'tampered' ? 'failed' : 'unknown'
  output.data('')
  output.check('passed', 'texts'.padEnd(CHECK_WIDTH), texts === '' ? 'none' : texts)
  if (report.end !== null) printEnd(output, report.end, taskId)
  for (const open of report.notExcluded) {
    output.check('unknown', 'not excluded'.padEnd(CHECK_WIDTH), open)
  }
  output.check(
    mark,
    'verdict'.padEnd(CHECK_WIDTH),
    `${verdictWords(report, file).sentence} (${milliseconds(verifyMs)})`,
  )
}

/** How far nothing is missing; what came later is said record by record, and is not missing. */
function printEnd(output: Output, end: ProvenEnd, taskId: string | null): void {
  const { until, later, absent } = end
  const line = (mark: Mark, label: string, text: string) =>
    output.check(mark, label.padEnd(CHECK_WIDTH), visible(text))
  const tasks = taskId === null ? 'these tasks' : 'this task'
  line('passed', 'complete', `until ${until}: nothing of ${tasks} is missing`)
  for (const absentId of absent) {
    line('passed', 'absent', `until ${until} there was no record of the task ${absentId}`)
  }
  for (const { origin, seq, recordedAt } of later.slice(0, LATER_SHOWN_MAX)) {
    const others = 'whether others came with it is not said'
    line('unknown', 'later', `${origin} record ${seq}, recorded ${recordedAt}; ${others}`)
  }
  const rest = later.length - LATER_SHOWN_MAX
  if (rest > 0) line('unknown', 'later', `${rest} more records`)
}

function describe({ rule, file, origin, seq, message }: BundleFinding): string {
  const record = seq === null ? '' : ` record ${seq}`
  const place = [file, origin === null ? null : `${origin}${record}`].filter((one) => one !== null)
  return `${rule}: ${[...place, message].join(': ')}`
}

/** Names in a bundle come from outside: nothing of them may steer a terminal. */
const visible = (text: string): string => text.replaceAll(/\p{C}/gu, '?')

function readPolicy(file: string, bytes: Uint8Array): AuditorPolicy {
  const parsed = parseAuditorPolicy(bytes)
  if (parsed.ok) return parsed.policy
  throw permanent('BATON_USAGE', `${file}, line ${parsed.line}: ${parsed.message}`, {
    fix: 'Give a C2SP tlog-policy file, as `baton policy` prints it.',
  })
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EISDIR') {
      throw permanent('BATON_USAGE', `${file} is a folder`, { fix: 'Name a file in it.' })
    }
    if (code === 'EACCES' || code === 'EPERM') {
      throw permanent('BATON_FILE_NOT_ALLOWED', `${file} may not be read`, {
        fix: 'Give yourself the right to read it.',
      })
    }
    throw permanent('BATON_FILE_NOT_FOUND', `there is no file ${file}`, {
      fix: 'Check the path; it is meant from the folder you are in.',
    })
  }
}

const POLICY_NEEDED = permanent('BATON_USAGE', 'a bundle is verified against a policy of yours', {
  fix: `Give --policy FILE. Whoever runs Baton prints it with \`${nextStep('policy')}\`; it must not come with the bundle.`,
})
