// `review-contract FILE`: the contract review on a text of the user's own.
import { basename } from 'node:path'
import { reviewRequest } from '@baton/contract-review'
import type { ReviewFindings } from '@baton/contract-review'
import { newTraceparent } from '@baton/telemetry'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import type { QueueChoice } from '../instance/queue.ts'
import { BUDGET_USD } from '../main-job/contracts.ts'
import { dollars, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import type { Output } from '../terminal/output.ts'
import type { WholeTask } from './find-task.ts'
import { readInput } from './read-input.ts'
import { describeEnd, runOneTask } from './run-one-task.ts'

interface ReviewContractOptions {
  readonly file: string
  readonly queue: QueueChoice
}

/** A message carries the text once whole and once in quotes; both fit well below its 1 MiB. */
const BYTES_MAX = 200_000
const TIMEOUT_MS = 60_000

export async function reviewContract(
  context: Context,
  { file, queue }: ReviewContractOptions,
): Promise<ExitCode> {
  const text = await readInput(file, BYTES_MAX)
  const name = file === '-' ? 'standard input' : basename(file)
  const request = reviewRequest(text, {
    name,
    budgetUSD: BUDGET_USD,
    traceparent: newTraceparent(),
  })
  const ended = await runOneTask(context, request, { queue, timeoutMs: TIMEOUT_MS })
  print(context.output, ended)
  context.output.next(nextStep(`trace ${short(ended.task.taskId)}`))
  return ended.task.status === 'COMPLETED' ? EXIT.fine : EXIT.failure
}

function print(output: Output, ended: WholeTask): void {
  const { task } = ended
  const findings = task.status === 'COMPLETED' ? (task.result as ReviewFindings) : null
  const end = describeEnd(ended)
  if (output.json) {
    output.data(
      JSON.stringify({
        taskId: task.taskId,
        status: task.status,
        findings,
        costUSD: task.spentMicroUSD / 1_000_000,
        ...(findings === null ? { reason: end.reason, details: end.details } : {}),
      }),
    )
  } else if (findings !== null) {
    output.data(
      `${findings.licence}: ${findings.spdx}, ${findings.level} risk (${findings.riskScore} of 100)`,
    )
    output.data(`\n${findings.summary}\n`)
    output.data(`Flags    ${findings.flags.join(', ') || 'none'}`)
    output.data(`Clauses  ${findings.clauses}`)
    output.data(`Cost     ${dollars(task.spentMicroUSD)}`)
  }
  if (findings === null) output.words(end.text)
}
