// `audit drill`: rebuilds a random past task as if a regulator had asked, against ten seconds.
import { withAuditor } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { counted, dollars, milliseconds, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Mark } from '../terminal/output.ts'

interface DrillReport {
  readonly seed: number
  readonly taskId: string
  readonly records: number
  readonly coldRecords: number
  readonly traceMs: number
  readonly verifyMs: number
  readonly totalMs: number
  readonly limitMs: number
  readonly traceVerified: boolean
  readonly verdict: 'valid' | 'incomplete' | 'clock' | 'tampered' | 'unsupported'
  readonly spentMicroUSD: number
  readonly result: 'passed' | 'too slow' | 'failed'
}

const PROOF_MARKS: Readonly<Record<DrillReport['verdict'], Mark>> = {
  valid: 'passed',
  incomplete: 'unknown',
  clock: 'unknown',
  tampered: 'failed',
  unsupported: 'failed',
}

/** Exit code 1 above the limit, 3 where the task does not verify. */
export async function drill(context: Context, seed: number | undefined): Promise<ExitCode> {
  const { output } = context
  const body = seed === undefined ? {} : { seed }
  const report = await withAuditor(context, 'evidence', (auditor) =>
    auditor.json<DrillReport>('/v1/drills', { body }),
  )
  if (output.json) output.data(JSON.stringify(report))
  const { taskId, records, coldRecords, traceMs, verifyMs, totalMs, limitMs, verdict, result } =
    report
  const limit = `limit ${limitMs / 1_000} s`
  output.check('passed', 'task', `${taskId}, chosen by seed ${report.seed}`)
  const from = coldRecords === 0 ? '' : `, ${coldRecords} of them out of the cold store,`
  const trace = `${counted(records, 'record')}${from} in ${milliseconds(traceMs)}, ${dollars(report.spentMicroUSD)} spent`
  output.check(report.traceVerified ? 'passed' : 'failed', 'trace', trace)
  const proof = `${verdict} in ${milliseconds(verifyMs)}`
  output.check(PROOF_MARKS[verdict], 'proof', proof)
  output.check('passed', 'recorded', 'as VERIFY_RUN in the task’s own chain')
  output.check(
    result === 'passed' ? 'passed' : 'failed',
    'drill',
    `${milliseconds(totalMs)} (${limit})`,
  )
  output.next(nextStep(`evidence ${short(taskId)}`))
  if (result === 'failed') return EXIT.verificationFailed
  return result === 'passed' ? EXIT.fine : EXIT.failure
}
