// `verify BUNDLE`: verifies evidence offline, against the auditor's own policy and nothing else.
import { readFile } from 'node:fs/promises'
import { EXIT_CODES, parseAuditorPolicy, verifyBundle } from '@baton/ledger'
import type { AuditorPolicy, BundleFinding, BundleReport, CheckReport } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import type { ExitCode } from '../exit-codes.ts'
import { counted, milliseconds } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Mark, Output } from '../terminal/output.ts'

const MARKS: Readonly<Record<CheckReport['result'], Mark>> = {
  ok: 'passed',
  failed: 'failed',
  incomplete: 'unknown',
  skipped: 'unknown',
}
const VERDICTS: Readonly<Record<BundleReport['verdict'], string>> = {
  valid: 'Verified OK: nothing was altered, added or removed',
  tampered: 'NOT verified: something was altered, added or removed',
  incomplete: 'Cannot say: nothing is wrong, but not everything that is needed is there',
  unsupported: 'Cannot say: this Baton does not know the version of the bundle',
}
const NEXT: Readonly<Record<BundleReport['verdict'], string>> = {
  valid: 'open index.html of the bundle to read it',
  tampered: 'keep the file as it is, and ask for the evidence again',
  incomplete: 'ask for the evidence again once the task has ended and is sealed',
  unsupported: 'verify it with the verifier of the Baton that made it',
}
const CHECK_WIDTH = 18
const FINDINGS_SHOWN_MAX = 5

/** Exit code 3 when anything was changed, 4 when something is missing. Reads no database. */
export async function verifyFile(
  { output }: Context,
  { file, policy: policyFile }: { readonly file: string; readonly policy: string | undefined },
): Promise<ExitCode> {
  if (policyFile === undefined) throw POLICY_NEEDED
  const policy = readPolicy(policyFile, await readBytes(policyFile))
  const bytes = await readBytes(file)
  const startedAt = performance.now()
  const report = verifyBundle(bytes, { policy, now: Date.now() / 1_000, thorough: true })
  const verifyMs = performance.now() - startedAt
  if (output.json) output.data(JSON.stringify({ ...report, verifyMs }))
  else print(output, report, verifyMs)
  output.next(NEXT[report.verdict])
  return EXIT_CODES[report.verdict] as ExitCode
}

function print(output: Output, report: BundleReport, verifyMs: number): void {
  const { taskId, records, sealedAt, checks, segments, verdict } = report
  const sealed = sealedAt === null ? 'not sealed yet' : `sealed ${sealedAt}`
  output.data(`Task ${taskId ?? 'none: whole chains'}, ${counted(records, 'record')}, ${sealed}\n`)
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
  output.check(
    mark,
    'verdict'.padEnd(CHECK_WIDTH),
    `${VERDICTS[verdict]} (${milliseconds(verifyMs)})`,
  )
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
    throw permanent('BATON_FILE_NOT_FOUND', `${file} cannot be read`, {
      cause,
      fix: 'The path is meant from the folder you are in.',
    })
  }
}

const POLICY_NEEDED = permanent('BATON_USAGE', 'a bundle is verified against a policy of yours', {
  fix: `Give --policy FILE. Whoever runs Baton prints it with \`${nextStep('policy')}\`; it must not come with the bundle.`,
})
