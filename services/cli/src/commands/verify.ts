// `verify`: recomputes the audit log from its stored bytes and says, check by check, what that proves.
import { presenceOf, readTrace, verifyChains } from '@baton/audit'
import type { TaskTrace, VerifyReport } from '@baton/audit'
import { LOG_VERDICTS } from '@baton/ledger'
import { listTasks } from '@baton/store'
import type { Pool } from '@baton/store'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withDatabases } from '../instance/databases.ts'
import { count, counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Mark, Output } from '../terminal/output.ts'
import { knownPeople } from '../instance/known-people.ts'
import { compareReceipts } from './compare-receipts.ts'
import type { ComparedReceipts } from './compare-receipts.ts'
import { notJudgedNote, taskDecisions } from './decision-checks.ts'
import type { TaskCheck } from './decision-checks.ts'
import { rotationTable, summariseRotations } from './describe-rotations.ts'
import { taskNotFound, taskUnproven, wholeTaskId } from './find-task.ts'
import { taskChecks, taskVerdict } from './task-verification.ts'
import { checksOf, describeFinding, isAlone, markOf } from './verification-checks.ts'

const FINDINGS_SHOWN_MAX = 20
const EXIT_OF = {
  passed: EXIT.fine,
  failed: EXIT.verificationFailed,
  unknown: EXIT.incomplete,
} as const satisfies Record<Mark, ExitCode>

/** Exit code 3 when anything was changed or lost, 4 when it cannot be said. */
export async function verify(
  context: Context,
  task: string | undefined,
  { full = false }: { readonly full?: boolean } = {},
): Promise<ExitCode> {
  const people = await knownPeople(context)
  return withDatabases(context, async ({ pool, audit }) => {
    if (task !== undefined) {
      const found = await readTrace(audit.pool, await wholeTaskId(task, listIn(pool)), {
        covered: await audit.covered(),
        cold: audit.cold,
      })
      const presence = presenceOf(found)
      if (presence === 'absent') throw taskNotFound(task)
      if (presence === 'unproven') throw taskUnproven(task)
      return printTask(context.output, found, taskDecisions(found, people))
    }
    const { vault, batchKeys } = audit
    const seals = await audit.seals()
    const report = await verifyChains({
      pool: audit.pool,
      vault,
      batchKeys,
      people,
      seals,
      cold: audit.cold,
      full,
      onProgress: (records) => context.output.progress(`${count(records)} records`),
    })
    context.output.endProgress()
    return printReport(context.output, await compareReceipts(report, { pool, audit }))
  })
}

const listIn = (pool: Pool) => (idPrefix: string) => listTasks(pool, { idPrefix, limit: 2 })

function printReport(output: Output, { report, ...receipts }: ComparedReceipts): ExitCode {
  const mark = markOf(report.verdict)
  if (output.json) output.data(JSON.stringify(report))
  for (const { name, mark: own, text } of checksOf(report)) output.check(own, name, text)
  if (report.findingsByRule.RECEIPT === undefined)
    output.check(receipts.mark, 'receipts', receipts.text)
  for (const finding of report.findings.slice(0, FINDINGS_SHOWN_MAX)) {
    output.words(`    ${describeFinding(finding)}`)
  }
  const more = report.findingsTotal - FINDINGS_SHOWN_MAX
  if (more > 0) output.words(`    … and ${count(more)} more; --json gives the first thousand`)
  printRotations(output, report)
  output.check(mark, 'verdict', verdictText(report))
  output.next(isAlone(report) ? NEXT_ALONE : NEXT[report.verdict])
  return LOG_VERDICTS[report.verdict].exitCode
}

/** As well proven as the log that they stand in. */
function printRotations(output: Output, report: VerifyReport): void {
  const summary = summariseRotations(report)
  if (summary === undefined || output.json) return
  output.check(report.findingsTotal === 0 ? 'passed' : 'unknown', 'rotations', summary)
  for (const line of rotationTable(report).split('\n')) output.data(`    ${line}`)
}

function verdictText(report: VerifyReport): string {
  const { verdict, records } = report
  const { sentence } = LOG_VERDICTS[verdict]
  if (isAlone(report)) return ALONE
  if (verdict !== 'verified') return sentence
  if (records === 0) return `${sentence}: the log is empty`
  const open = notJudgedNote(report.decisions)
  return `${sentence}: ${counted(records, 'record')}; nothing was altered, added or removed${open}`
}

const ALONE = 'Incomplete: consistent in itself, and compared with nothing outside the database'

const NEXT_ALONE =
  'name what was kept outside, as the sealer has it: BATON_SEAL_PUBLIC_KEY, and BATON_SEAL_ANCHOR_FILE, BATON_SEAL_S3_BUCKET or BATON_SEAL_POLICY_FILE'

const KEEP = 'keep a copy of the database before anybody repairs it'

const NEXT: Readonly<Record<VerifyReport['verdict'], string>> = {
  verified: nextStep('tasks'),
  altered: KEEP,
  lost: KEEP,
  clock:
    'set the clock right; appends go on by themselves, and times are right again once it has passed the last one',
  incomplete: `find what is named above, then ${nextStep('verify')}`,
}

function printTask(output: Output, found: TaskTrace, decisions: readonly TaskCheck[]): ExitCode {
  if (output.json) output.data(JSON.stringify(found))
  for (const { name, mark, text } of [...taskChecks(found), ...decisions])
    output.check(mark, name, text)
  const [verdict, words] = taskVerdict(found, decisions)
  output.check(verdict, 'verdict', words)
  output.next(
    verdict === 'failed' ? nextStep('verify') : `${nextStep('verify')} proves the whole log`,
  )
  return EXIT_OF[verdict]
}
