// `audit export`: the tasks of an agent, a person or a time as one bundle of evidence, which verifies as a bundle of one task does.
import { permanent } from '@baton/runtime'
import { withAuditor } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import type { ExitCode } from '../exit-codes.ts'
import { count, counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { EXIT_OF, MARK_OF, verdictOf, writeOut } from './evidence.ts'
import type { Verdict } from './evidence.ts'
import { readFinding, tellFinding, told } from './evidence-finding.ts'
import { nameTask } from './find-task.ts'
import { readHits } from './search.ts'
import type { SearchCriteria } from './search.ts'

interface ExportOptions {
  readonly criteria: SearchCriteria
  readonly out: string
  readonly withPayloads: boolean
}

const HITS_MAX = 100_000
const TASKS_MAX = 1_000

const SENTENCES: Readonly<Record<Verdict, string>> = {
  valid: 'verifies: nothing of these tasks is missing or altered',
  incomplete: 'incomplete: a task has not ended, or is not sealed and witnessed yet',
  clock: 'a clock is or was wrong: nothing is missing or altered, and the times do not say when',
  tampered: 'does NOT verify: the log is not what was recorded',
}

/** Exit code 3 where the log was tampered with, 4 where something is still missing; the file is written all the same. */
export async function exportTasks(context: Context, options: ExportOptions): Promise<ExitCode> {
  const { output } = context
  const { out, withPayloads: withTexts } = options
  const { taskId: named } = options.criteria
  const whole = named === undefined ? {} : { taskId: await nameTask(context, named) }
  const criteria = { ...options.criteria, ...whole }
  return withAuditor(context, 'evidence', async (auditor) => {
    const asked = { criteria, limit: HITS_MAX, cursor: undefined, exported: {} }
    const { hits, cursor } = await readHits(auditor, asked, (text) => output.progress(text))
    output.endProgress()
    const taskIds = [...new Set(hits.map(({ taskId }) => taskId))].toSorted()
    if (taskIds.length === 0) throw NOTHING_FOUND
    if (taskIds.length > TASKS_MAX || cursor !== null) throw tooMany(taskIds.length)
    const { bytes, headers } = await auditor.ask('/v1/evidence', {
      body: { taskIds },
      headers: withTexts ? auditor.withTexts() : {},
    })
    await writeOut(out, bytes)
    const verdict = verdictOf(headers['baton-verdict'])
    const finding = readFinding(headers['baton-finding'])
    const size = bytes.length
    const summary = { file: out, bytes: size, taskIds, verdict, ...told(finding) }
    if (output.json) output.data(JSON.stringify(summary))
    output.check(
      'passed',
      'tasks',
      `${counted(taskIds.length, 'task')} of ${counted(hits.length, 'record')} found`,
    )
    output.check('passed', 'file', `${out}, ${count(size)} bytes`)
    output.check('passed', 'texts', withTexts ? 'in the bundle' : 'withheld')
    output.check('passed', 'recorded', 'the export stands in the chain of each task')
    output.check(MARK_OF[verdict], 'verdict', SENTENCES[verdict])
    const exitCode = tellFinding(output, finding, EXIT_OF[verdict])
    output.words('\nThe bundle proves its tasks. That no other task was meant, it does not.')
    output.next(nextStep(`verify ${out} --policy auditor.policy`))
    return exitCode
  })
}

const NOTHING_FOUND = permanent('BATON_TASK_NOT_FOUND', 'no record fits', {
  fix: `\`${nextStep('audit search')}\` shows what there is; names are compared as a whole.`,
})

const tooMany = (found: number) =>
  permanent(
    'BATON_USAGE',
    `${count(found)} tasks or more fit, and one bundle holds ${count(TASKS_MAX)}`,
    {
      fix: 'Narrow the time with --since and --until, and write several.',
    },
  )
