// `up`: starts everything, runs the main job, says how it went, and stays up until it is interrupted.
import { createSender, parseSigningKeys } from '@baton/sdk'
import { createPool, readServerFacts } from '@baton/store'
import type { Pool } from '@baton/store'
import { ROOT } from '../context.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { openAuditReader } from '../instance/audit-reader.ts'
import { chooseTls, openInstance } from '../instance/instance.ts'
import type { Instance } from '../instance/instance.ts'
import type { QueueChoice } from '../instance/queue.ts'
import { collectContracts } from '../main-job/contracts.ts'
import type { MainJobInput } from '../main-job/contracts.ts'
import { measureRun } from '../main-job/measure-run.ts'
import type { RunFigures } from '../main-job/measure-run.ts'
import { printReport } from '../main-job/report.ts'
import { runReviews } from '../main-job/run-reviews.ts'
import { findProblems, summarise } from '../main-job/summary.ts'
import { count, short } from '../terminal/figures.ts'
import { COMMAND, nextStep } from '../terminal/next-steps.ts'

interface UpOptions {
  /** Ends when the main job is done. */
  readonly once: boolean
  /** So many licences are reviewed at most. */
  readonly reviews: number
  readonly queue: QueueChoice
  /** Whether the instance is on TLS from now on; undefined leaves it as it is. */
  readonly tls: boolean | undefined
}

/** Tasks under way at once: the services stay busy and no handoff waits in line for long. */
const UNDER_WAY_MAX = 10

export async function up(
  given: Context,
  { once, reviews, queue, tls }: UpOptions,
): Promise<ExitCode> {
  const context = await chooseTls(given, tls)
  const collecting = collectContracts(ROOT, reviews)
  collecting.catch(() => undefined)
  const instance = await openInstance(context, { queue })
  try {
    const input = await collecting
    const exitCode = await runMainJob(context, instance, input)
    if (!once && !instance.runsByItself) await stayUp(context, instance)
    return exitCode
  } finally {
    await instance.stop()
  }
}

async function runMainJob(
  context: Context,
  instance: Instance,
  input: MainJobInput,
): Promise<ExitCode> {
  const { output } = context
  const { urls } = instance.databases
  output.step('passed', 'contracts', `${count(input.taskIds.length)} to review`)
  const pool = createPool({ url: urls.gateway, applicationName: 'baton-cli', connectionsMax: 4 })
  const audit = openAuditReader(instance.databases, context.settings)
  try {
    const reviewed = reviewAll({ context, instance, input, pool })
    await Promise.race([reviewed, instance.failed])
    const figures = await measureRun({
      pool,
      audit,
      taskIds: input.taskIds,
      onProgress: (records) =>
        output.progress(`verifying the audit log: ${count(records)} records`),
    })
    return await conclude({ context, instance, input, pool }, figures)
  } finally {
    await Promise.all([pool.end(), audit.close()])
  }
}

interface Run {
  readonly context: Context
  readonly instance: Instance
  readonly input: MainJobInput
  readonly pool: Pool
}

async function reviewAll({ context, instance, input, pool }: Run): Promise<void> {
  const { output, interrupt } = context
  const { urls, secrets } = instance.databases
  const sender = createSender({
    databaseUrl: urls.delivery,
    operator: 'operator',
    keyRing: parseSigningKeys(secrets.BATON_SIGNING_KEYS),
    connectionsMax: 2,
  })
  const total = count(input.taskIds.length)
  try {
    await runReviews(input.requests(), {
      sender,
      pool,
      underWayMax: UNDER_WAY_MAX,
      interrupt,
      onProgress: (ended, sent) =>
        output.progress(
          `reviewed ${count(ended)} of ${total} contracts, ${count(sent - ended)} under way`,
        ),
    })
  } finally {
    output.endProgress()
    await sender.close()
  }
}

async function conclude(run: Run, figures: RunFigures): Promise<ExitCode> {
  const { context, instance, input, pool } = run
  const { output } = context
  output.endProgress()
  const problems = findProblems(figures, input)
  if (!output.json) printReport(output, figures, input)
  for (const problem of problems) output.step('failed', 'not as promised', problem)
  const { version } = await readServerFacts(pool)
  const summary = summarise(figures, problems, {
    queue: instance.queue,
    database: `${instance.databases.description} ${version}`,
    elapsedMs: performance.now(),
  })
  if (output.json) output.data(JSON.stringify(summary))
  output.words(`\nThe main job took ${(summary.elapsedMs / 1000).toFixed(1)} s.`)
  const traced = figures.outcomes.find(({ status }) => status === 'COMPLETED')?.taskId ?? ''
  output.next(
    problems.length === 0
      ? `${nextStep(`trace ${short(traced)}`)}   ·   ${COMMAND} dlq ls   ·   ${COMMAND} verify`
      : nextStep('doctor'),
  )
  return problems.length === 0 ? EXIT.fine : EXIT.failure
}

async function stayUp({ output, interrupt }: Context, instance: Instance): Promise<void> {
  output.words(`\nBaton is up: gateway ${instance.gatewayUrl}. Ctrl-C stops it.`)
  const interrupted = new Promise<void>((resolve) => {
    if (interrupt.aborted) resolve()
    interrupt.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.race([interrupted, instance.failed])
  output.words('Stopping: work under way is finished first.')
}
