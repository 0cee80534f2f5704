// `evidence`: writes everything that proves one task to a file that verifies without Baton.
import { writeFile } from 'node:fs/promises'
import { permanent } from '@baton/runtime'
import { withAuditor } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withReadingGateway } from '../gateway-client.ts'
import { count, milliseconds, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Mark } from '../terminal/output.ts'
import { readFinding, tellFinding, told } from './evidence-finding.ts'
import { findTask } from './find-task.ts'

export interface EvidenceOptions {
  readonly task: string
  readonly out?: string | undefined
  readonly withPayloads: boolean
  readonly policyOut?: string | undefined
}

export type Verdict = 'valid' | 'incomplete' | 'clock' | 'tampered'

export const EXIT_OF: Readonly<Record<Verdict, ExitCode>> = {
  valid: EXIT.fine,
  incomplete: EXIT.incomplete,
  clock: EXIT.incomplete,
  tampered: EXIT.verificationFailed,
}
export const MARK_OF: Readonly<Record<Verdict, Mark>> = {
  valid: 'passed',
  incomplete: 'unknown',
  clock: 'unknown',
  tampered: 'failed',
}
const SENTENCES: Readonly<Record<Verdict, string>> = {
  valid: 'verifies: nothing is missing or altered',
  incomplete: 'incomplete: the task has not ended, or is not sealed and witnessed yet',
  clock: 'a clock is or was wrong: nothing is missing or altered, and the times do not say when',
  tampered: 'does NOT verify: the log is not what was recorded',
}

/** Exit code 3 where the log was tampered with, 4 where something is still missing; the file is written all the same. */
export async function evidence(context: Context, options: EvidenceOptions): Promise<ExitCode> {
  const { output } = context
  return withAuditor(context, 'evidence', async (auditor) => {
    const { taskId, receipts } = await describeTask(context, options.task)
    const startedAt = performance.now()
    const { withPayloads: withTexts } = options
    const { bytes: bundle, headers } = await auditor.ask(`/v1/evidence/${taskId}`, {
      body: { receipts },
      headers: withTexts ? auditor.withTexts() : {},
    })
    const exportMs = performance.now() - startedAt
    const verdict = verdictOf(headers['baton-verdict'])
    const finding = readFinding(headers['baton-finding'])
    const file = options.out ?? `evidence-${short(taskId)}.tar`
    await writeOut(file, bundle)
    const { policyOut } = options
    if (policyOut !== undefined) {
      await writeOut(policyOut, (await auditor.ask('/v1/policy')).bytes)
    }
    const policyFile = policyOut ?? 'auditor.policy'
    if (output.json) {
      const bytes = bundle.length
      output.data(
        JSON.stringify({ taskId, file, bytes, verdict, ...told(finding), withTexts, exportMs }),
      )
    }
    output.check('passed', 'task', taskId)
    output.check(
      'passed',
      'file',
      `${file}, ${count(bundle.length)} bytes in ${milliseconds(exportMs)}`,
    )
    output.check('passed', 'texts', TEXTS[withTexts ? 'shown' : 'withheld'])
    output.check('passed', 'recorded', 'the export stands in the task’s own chain')
    output.check(MARK_OF[verdict], 'verdict', SENTENCES[verdict])
    const exitCode = tellFinding(output, finding, EXIT_OF[verdict])
    if (policyOut === undefined) {
      output.words(
        `\nWhoever verifies it needs your policy: ${nextStep(`policy --out ${policyFile}`)}`,
      )
    }
    output.words(
      'Give the policy by another way than the bundle: who can change both proves nothing.',
    )
    output.next(nextStep(`verify ${file} --policy ${policyFile}`))
    return exitCode
  })
}

const TEXTS = {
  shown: 'what was said is in it: handle it as you handle the messages',
  withheld: 'left out; --with-payloads puts in what was said',
} as const

// Receipts first: every record that one of them names must then be in the log. They stand in the operational database,
// which is not at hand where only the auditor is named.
async function describeTask(context: Context, task: string) {
  const { BATON_AUDIT_URL: auditor, BATON_GATEWAY_URL: gateway } = context.settings
  if (auditor !== undefined && gateway === undefined) return { taskId: task, receipts: [] }
  return withReadingGateway(context, async (client) => {
    const taskId = await findTask(client, task)
    const path = `/v2/tasks/${taskId}/receipts`
    return { taskId, ...(await client.get<{ receipts: readonly object[] }>(path)) }
  })
}

export const verdictOf = (text: unknown): Verdict =>
  text === 'valid' || text === 'tampered' || text === 'clock' ? text : 'incomplete'

export async function writeOut(file: string, data: string | Uint8Array): Promise<void> {
  try {
    await writeFile(file, data, { mode: 0o600 })
  } catch (cause) {
    throw permanent('BATON_FILE_NOT_WRITTEN', `${file} cannot be written`, {
      cause,
      fix: 'Name another file with --out.',
    })
  }
}
