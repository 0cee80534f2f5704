// `up`: starts everything, runs the main job, says how it went, and stays up until it is interrupted.
import pRetry from 'p-retry'
import { BatonError, kindOf } from '@baton/runtime'
import { createSender, parseSigningKeys } from '@baton/sdk'
import { createPool, readServerFacts } from '@baton/store'
import type { Pool } from '@baton/store'
import { installedIn } from '../root.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { openAuditReader } from '../instance/audit-reader.ts'
import { chooseTls, openLastingInstance } from '../instance/instance.ts'
import type { LastingInstance } from '../instance/instance.ts'
import type { QueueChoice } from '../instance/queue.ts'
import { collectContracts } from '../main-job/contracts.ts'
import type { MainJobInput } from '../main-job/contracts.ts'
import { measureRun } from '../main-job/measure-run.ts'
import type { RunFigures } from '../main-job/measure-run.ts'
import { printReport } from '../main-job/report.ts'
import { runReviews } from '../main-job/run-reviews.ts'
import { findProblems, summarise } from '../main-job/summary.ts'
import { describeError } from '../terminal/describe-error.ts'
import { count, short } from '../terminal/figures.ts'
import { COMMAND, nextStep } from '../terminal/next-steps.ts'
import { interrupted } from './follow.ts'

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
  const collecting = collectContracts(installedIn(), reviews)
  collecting.catch(() => undefined)
  const instance = await openLastingInstance(context, { queue })
  try {
    const run = { context, instance, input: await collecting, once }
    if (once) return await runMainJob(run)
    const exitCode = await runMainJob(run).catch((error: unknown) => withoutMainJob(context, error))
    if (!instance.runsByItself) await stayUp(context, instance)
    return instance.left().length === 0 ? exitCode : EXIT.failure
  } finally {
    await instance.stop()
  }
}

/** Who stays up goes on where the main job cannot: others use what runs. */
function withoutMainJob({ output, interrupt }: Context, error: unknown): ExitCode {
  if (interrupt.aborted || kindOf(error) !== 'transient') throw error
  output.words(describeError(error).text)
  return EXIT.failure
}

/** Without these no task ends. */
const NEEDED = ['auditor', 'receiver', 'relay', 'sealer', 'Postgres', 'Redis']

interface Job {
  readonly context: Context
  readonly instance: LastingInstance
  readonly input: MainJobInput
  readonly once: boolean
}

type Run = Job & { readonly pool: Pool }

async function runMainJob(job: Job): Promise<ExitCode> {
  const { context, instance, input } = job
  const { output } = context
  const { urls } = instance.databases
  output.step('passed', 'contracts', `${count(input.taskIds.length)} to review`)
  const pool = createPool({ url: urls.gateway, applicationName: 'baton-cli', connectionsMax: 4 })
  const audit = openAuditReader(instance.databases, context.settings)
  const run = { ...job, pool }
  const work = async () => {
    await reviewAll(run)
    const onProgress = (records: number) =>
      output.progress(`verifying the audit log: ${count(records)} records`)
    const figures = await untilAnswered(run, () =>
      measureRun({ pool, audit, taskIds: input.taskIds, onProgress }),
    )
    return untilAnswered(run, () => conclude(run, figures))
  }
  try {
    const needed = instance.whenLeft((name) => NEEDED.includes(name))
    return await Promise.race([work(), needed, instance.lost])
  } finally {
    await Promise.all([pool.end(), audit.close()])
  }
}

const AGAIN_MS = 2_000
const TRIES_MAX = 30

/** Reads again where a database is away meanwhile: a minute long with --once, else until it is back. */
function untilAnswered<Result>(
  { context, once }: Job,
  read: () => Promise<Result>,
): Promise<Result> {
  const { interrupt } = context
  return pRetry(read, {
    retries: once ? TRIES_MAX : Infinity,
    minTimeout: AGAIN_MS,
    factor: 1,
    signal: interrupt,
    shouldRetry: ({ error }) => error instanceof BatonError && error.kind === 'transient',
  }).catch((error: unknown) => {
    throw interrupt.aborted ? interrupted() : error
  })
}

async function reviewAll({ context, instance, input, pool, once }: Run): Promise<void> {
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
      onStalled(error) {
        if (once) throw error
        output.words(`${describeError(error).text}\n  It goes on by itself as soon as it can.`)
      },
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
  const problems = [
    ...findProblems(figures, input),
    ...instance.left().map((name) => `the ${name} keeps ending and was left`),
  ]
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

async function stayUp({ output, interrupt }: Context, instance: LastingInstance): Promise<void> {
  output.words(`\nBaton is up: gateway ${instance.gatewayUrl}. Ctrl-C stops it.`)
  const interruption = new Promise<void>((resolve) => {
    if (interrupt.aborted) resolve()
    interrupt.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.race([interruption, instance.lost])
  output.words('Stopping: work under way is finished first.')
}
